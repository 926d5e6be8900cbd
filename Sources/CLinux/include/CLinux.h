// Linux calls and constants that Swift's Glibc module lacks: variadic functions, and names that need _GNU_SOURCE. Every
// function returns the call's result and sets errno like it, and makes no decisions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

// The result of statx(2) without its padding.
struct linux_stat {
    uint64_t inode, size, blocks;
    uint32_t mode, links, user, group, block_size;
    uint32_t device_major, device_minor, special_major, special_minor;
    struct timespec accessed, modified, changed, born;
    int has_born;
};

extern const int linux_O_PATH, linux_O_TMPFILE, linux_O_NOATIME, linux_O_DIRECT;
extern const int linux_AT_EMPTY_PATH;
extern const int linux_SEEK_DATA, linux_SEEK_HOLE;
extern const long linux_UTIME_NOW, linux_UTIME_OMIT;
extern const unsigned linux_RENAME_NOREPLACE, linux_RENAME_EXCHANGE, linux_RENAME_WHITEOUT;
extern const int linux_CLONE_FS;
extern const short linux_POSIX_SPAWN_SETSID;

int linux_statx(int directory, const char *name, int flags, struct linux_stat *result);
int linux_protection(int directory, const char *name);   // chattr(1): 0, or of 1 (+i) and 2 (+a)
int linux_openat(int directory, const char *name, int flags, mode_t mode);
// openat2(2): no symlink on the way, and never out of the directory. For one name, open(2) without it does the same.
int linux_open_beneath(int directory, const char *name, int flags, mode_t mode);
int linux_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags);
ssize_t linux_copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t length);
int linux_fallocate(int file, int mode, off_t offset, off_t length);
extern const int linux_FALLOC_FL_KEEP_SIZE, linux_FALLOC_FL_PUNCH_HOLE, linux_FALLOC_FL_ZERO_RANGE;
int64_t linux_allocated(int file, off_t offset, off_t length, int unshared);   // FIEMAP: bytes that have (own) blocks
ssize_t linux_append(int file, const void *bytes, size_t length);   // in one step with finding the end: RWF_APPEND
ssize_t linux_getdents(int directory, void *buffer, size_t size);
int linux_unshare(int flags);
// A directory's tree, through a separate mount without a name; -1 keeps a setting.
extern const int linux_tree_times_never, linux_tree_times_relative, linux_tree_times_strict;
int linux_clone_tree(int directory, int times, int spares_directories);
void linux_spread_directories(int directory);           // ext4: what is made in it need not lie beside it
int linux_clone_file(int to, int from);              // FICLONE
// The means to make a copy's data durable before the next change of its original (docs/decisions/0003).
enum linux_ordering { linux_ordering_wait, linux_ordering_journal, linux_ordering_none, linux_ordering_single };
enum linux_ordering linux_ordering_of(int file);     // ext4: its journal; in memory: nothing; btrfs: one file
int linux_type_keeps_modes(uint32_t type, int is_read_only);
int linux_keeps_modes(int file);                     // not where all files have the mount's mode and owner
int linux_synchronize_all(int file);                 // syncfs(2): everything on its file system
int linux_start_writing(int file);                   // of all dirty pages: allocates their blocks, does not wait
int linux_await_writing(int file);                   // the same, and waits until they are written
int linux_set_lease(int file, int type);             // F_SETLEASE: F_RDLCK, F_UNLCK; ignores SIGIO
int linux_ioctl(int file, unsigned long request, void *argument);
int linux_mknodat(int directory, const char *name, mode_t mode, unsigned major, unsigned minor);
uint64_t linux_makedev(unsigned major, unsigned minor);
int linux_gettid(void);
void linux_be_batch(void);                             // the calling thread: SCHED_BATCH
void linux_be_aside(const char *name);                  // the same, with that name, and on every processor
void linux_limit_arenas(int arenas);                   // of malloc(3)
void linux_return_memory(void);                        // of malloc(3): unused memory, to the kernel
void linux_raise_descriptors(void);                     // the soft limit of open files, to 65536 where allowed
int linux_pidfd_open(int process);
int linux_fuse_control(void);                            // fusectl's root directory, mounted nowhere; needs root
int linux_flock(int file, int operation);
int linux_fcntl(int file, int command, long argument);

// Extended attributes, of a descriptor or of a name in a directory (never following a symlink).
ssize_t linux_fgetxattr(int file, const char *name, void *value, size_t size);
ssize_t linux_flistxattr(int file, char *list, size_t size);
int linux_fsetxattr(int file, const char *name, const void *value, size_t size, int flags);
int linux_fremovexattr(int file, const char *name);
ssize_t linux_lgetxattr(const char *path, const char *name, void *value, size_t size);
ssize_t linux_llistxattr(const char *path, char *list, size_t size);
int linux_lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags);
int linux_lremovexattr(const char *path, const char *name);
// The same, following a symlink or not.
ssize_t linux_getxattr(const char *path, int follows, const char *name, void *value, size_t size);
ssize_t linux_listxattr(const char *path, int follows, char *list, size_t size);
int linux_setxattr(const char *path, int follows, const char *name, const void *value, size_t size, int flags);
int linux_removexattr(const char *path, int follows, const char *name);

// Declared here, because their headers would bring a second `struct stat` into Swift's view.
int umount2(const char *target, int flags);
ssize_t getxattr(const char *path, const char *name, void *value, size_t size);
int setxattr(const char *path, const char *name, const void *value, size_t size, int flags);

void linux_syslog(int priority, const char *text);   // as LOG_DAEMON

void linux_open_standard_streams(void);                                  // /dev/null for closed ones of 0 to 2
int linux_memfd_create(const char *name);                                // closed on exec
int linux_pipe(int ends[2]);                                             // closed on exec
int linux_spawn_chdir(void *actions, const char *path);                  // a posix_spawn_file_actions_t

// The same for a name in a directory, never following a symlink.
int linux_setxattrat(int directory, const char *name, const char *attribute, const void *value, size_t size);

// Files that are written through memory.
int linux_may_append_in_memory(int file);                                // what is allocated can always be written
void *linux_map_shared(int file, size_t length);                         // from its beginning; null: see errno
void linux_populate(void *memory, size_t length);                        // has its pages at hand, to be written to
void linux_unmap(void *memory, size_t length);
void linux_store_release(void *place, uint32_t value);                   // behind everything stored before

// Events.
int linux_epoll_create(void);                                            // closed on exec
int linux_epoll_add(int epoll, int file, uint64_t tag);                  // watches for reading
int linux_epoll_wait(int epoll, uint64_t *tags);                         // at least one event; at most 64 tags
int linux_eventfd(void);                                                 // closed on exec
int linux_eventfd_signal(int file);
int linux_probe_thread(int process, int thread);                         // tgkill(2) with no signal: 0, EPERM or ESRCH
