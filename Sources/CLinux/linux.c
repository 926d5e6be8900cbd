#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <unistd.h>

const int linux_O_PATH = O_PATH, linux_O_TMPFILE = O_TMPFILE, linux_O_NOATIME = O_NOATIME, linux_O_DIRECT = O_DIRECT;
const int linux_AT_EMPTY_PATH = AT_EMPTY_PATH;
const int linux_SEEK_DATA = SEEK_DATA, linux_SEEK_HOLE = SEEK_HOLE;
const long linux_UTIME_NOW = UTIME_NOW, linux_UTIME_OMIT = UTIME_OMIT;
const unsigned linux_RENAME_NOREPLACE = RENAME_NOREPLACE, linux_RENAME_EXCHANGE = RENAME_EXCHANGE;
const unsigned linux_RENAME_WHITEOUT = RENAME_WHITEOUT;
const int linux_CLONE_FS = CLONE_FS;
const short linux_POSIX_SPAWN_SETSID = POSIX_SPAWN_SETSID;

static struct timespec time_of(struct statx_timestamp t) {
    return (struct timespec){.tv_sec = t.tv_sec, .tv_nsec = t.tv_nsec};
}

int linux_statx(int directory, const char *name, int flags, struct linux_stat *result) {
    struct statx x;
    if (statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x) != 0) return -1;
    *result = (struct linux_stat){
        .inode = x.stx_ino, .size = x.stx_size, .blocks = x.stx_blocks,
        .mode = x.stx_mode, .links = x.stx_nlink, .user = x.stx_uid, .group = x.stx_gid, .block_size = x.stx_blksize,
        .device_major = x.stx_dev_major, .device_minor = x.stx_dev_minor,
        .special_major = x.stx_rdev_major, .special_minor = x.stx_rdev_minor,
        .accessed = time_of(x.stx_atime), .modified = time_of(x.stx_mtime), .changed = time_of(x.stx_ctime),
        .born = time_of(x.stx_btime), .has_born = (x.stx_mask & STATX_BTIME) != 0,
    };
    return 0;
}

int linux_protection(int directory, const char *name) {
    struct statx x;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, 0, &x) != 0) return -1;
    return (x.stx_attributes & STATX_ATTR_IMMUTABLE ? 1 : 0) | (x.stx_attributes & STATX_ATTR_APPEND ? 2 : 0);
}

int linux_openat(int directory, const char *name, int flags, mode_t mode) {
    return openat(directory, name, flags, mode);
}

int linux_open_beneath(int directory, const char *name, int flags, mode_t mode) {
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC | O_NOFOLLOW), .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int file = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    // A seccomp filter may not know it.
    if (file >= 0 || (errno != ENOSYS && errno != EPERM) || strchr(name, '/') != NULL) return file;
    return openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
}

int linux_renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
    return renameat2(from, name, to, new_name, flags);
}

ssize_t linux_copy_file_range(int from, off_t *from_offset, int to, off_t *to_offset, size_t length) {
    return copy_file_range(from, from_offset, to, to_offset, length, 0);
}

ssize_t linux_append(int file, const void *bytes, size_t length) {
    struct iovec part = {(void *)bytes, length};
    return pwritev2(file, &part, 1, 0, RWF_APPEND);
}
int linux_fallocate(int file, int mode, off_t offset, off_t length) { return fallocate(file, mode, offset, length); }

ssize_t linux_getdents(int directory, void *buffer, size_t size) {
    return syscall(SYS_getdents64, directory, buffer, size);
}

// From <linux/mount.h>, which cannot be included together with <sys/mount.h>.
struct tree_attributes { uint64_t set, clear, propagation, user_namespace; };
enum { tree_times = 0x70, tree_no_times = 0x10, tree_strict_times = 0x20, tree_no_directory_times = 0x80 };
enum { tree_clone = 1, tree_recursive = 0x8000, tree_private = 1 << 18 };
const int linux_tree_times_never = tree_no_times, linux_tree_times_relative = 0;
const int linux_tree_times_strict = tree_strict_times;

int linux_clone_tree(int directory, int times, int spares_directories) {
    int tree = (int)syscall(428, directory, "", tree_clone | O_CLOEXEC | AT_EMPTY_PATH | tree_recursive);   // open_tree
    if (tree < 0) return -1;
    struct tree_attributes attributes = {.propagation = tree_private};
    if (times >= 0) {
        attributes.clear |= tree_times;
        attributes.set |= (uint64_t)times;
    }
    if (spares_directories >= 0) attributes.clear |= tree_no_directory_times;
    if (spares_directories > 0) attributes.set |= tree_no_directory_times;
    int flags = AT_EMPTY_PATH | tree_recursive;
    if (syscall(442, tree, "", flags, &attributes, sizeof attributes) == 0) {   // mount_setattr
        // The root of the tree, opened for reading like the directory's own descriptor.
        int root = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int error = errno;
        close(tree);
        errno = error;
        return root;
    }
    int error = errno;
    close(tree);
    errno = error;
    return -1;
}

int64_t linux_allocated(int file, off_t offset, off_t length, int unshared) {
    enum { most = 64 };
    union {
        struct fiemap map;
        char bytes[sizeof(struct fiemap) + most * sizeof(struct fiemap_extent)];
    } request;
    int64_t found = 0;
    uint64_t position = (uint64_t)offset, end = position + (uint64_t)length;
    while (position < end) {
        memset(&request, 0, sizeof request.map);
        request.map.fm_start = position;
        request.map.fm_length = end - position;
        request.map.fm_extent_count = most;
        if (ioctl(file, FS_IOC_FIEMAP, &request.map) != 0) return -1;
        if (request.map.fm_mapped_extents == 0) break;
        uint64_t before = position;
        for (unsigned i = 0; i < request.map.fm_mapped_extents; i++) {
            const struct fiemap_extent *extent = &request.map.fm_extents[i];
            uint64_t first = extent->fe_logical > position ? extent->fe_logical : position;
            uint64_t last = extent->fe_logical + extent->fe_length < end ? extent->fe_logical + extent->fe_length : end;
            if (last > first && !(unshared && extent->fe_flags & FIEMAP_EXTENT_SHARED))
                found += (int64_t)(last - first);
            if (last > position) position = last;
            if (extent->fe_flags & FIEMAP_EXTENT_LAST) return found;
        }
        if (position == before) break;
    }
    return found;
}

const int linux_FALLOC_FL_KEEP_SIZE = FALLOC_FL_KEEP_SIZE, linux_FALLOC_FL_PUNCH_HOLE = FALLOC_FL_PUNCH_HOLE;
const int linux_FALLOC_FL_ZERO_RANGE = FALLOC_FL_ZERO_RANGE;

int linux_unshare(int flags) { return unshare(flags); }
void linux_spread_directories(int directory) {
    int flags = 0;
    if (ioctl(directory, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags |= FS_TOPDIR_FL;
    ioctl(directory, FS_IOC_SETFLAGS, &flags);
}
int linux_clone_file(int to, int from) { return ioctl(to, FICLONE, from); }
enum linux_ordering linux_ordering_of(int file) {
    struct statfs s;
    if (fstatfs(file, &s) != 0) return linux_ordering_wait;
    if (s.f_type == TMPFS_MAGIC || s.f_type == RAMFS_MAGIC) return linux_ordering_none;
    if (s.f_type == BTRFS_SUPER_MAGIC) return linux_ordering_single;
    return s.f_type == EXT4_SUPER_MAGIC ? linux_ordering_journal : linux_ordering_wait;
}
int linux_type_keeps_modes(uint32_t type, int is_read_only) {
    switch (type) {
    case MSDOS_SUPER_MAGIC: case EXFAT_SUPER_MAGIC: case 0x5346544e /* ntfs */: case 0x7366746e /* ntfs3 */:
    case 0x65735546 /* fuseblk: ntfs-3g */: case SMB_SUPER_MAGIC: case CIFS_SUPER_MAGIC: case SMB2_SUPER_MAGIC:
    case 0x786f4256 /* vboxsf */: case V9FS_MAGIC: case 0x4244 /* hfs */: case ISOFS_SUPER_MAGIC: return 0;
    case 0x482b /* hfsplus */: return !is_read_only;
    default: return 1;
    }
}
int linux_keeps_modes(int file) {
    struct statfs s;
    return fstatfs(file, &s) != 0 || linux_type_keeps_modes((uint32_t)s.f_type, (s.f_flags & 1 /* ST_RDONLY */) != 0);
}
int linux_synchronize_all(int file) { return syncfs(file); }
int linux_start_writing(int file) { return sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }
int linux_await_writing(int file) {
    int flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(file, 0, 0, flags);
}
// The kernel sends SIGIO when another program opens a file with a lease, and by default SIGIO ends the process.
static void ignore_broken_leases(void) {
    struct sigaction action;
    if (sigaction(SIGIO, NULL, &action) == 0 && action.sa_handler == SIG_DFL) signal(SIGIO, SIG_IGN);
}
int linux_set_lease(int file, int type) {
    if (type != F_UNLCK) ignore_broken_leases();
    return fcntl(file, F_SETLEASE, type);
}
int linux_ioctl(int file, unsigned long request, void *argument) { return ioctl(file, request, argument); }

int linux_mknodat(int directory, const char *name, mode_t mode, unsigned major, unsigned minor) {
    return mknodat(directory, name, mode, makedev(major, minor));
}

uint64_t linux_makedev(unsigned major, unsigned minor) { return makedev(major, minor); }
void linux_raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    rlim_t most = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
    if (limit.rlim_cur >= most) return;
    limit.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &limit);
}
int linux_gettid(void) { return (int)syscall(SYS_gettid); }
int linux_fuse_control(void) {
    int context = fsopen("fusectl", FSOPEN_CLOEXEC);
    if (context < 0) return -1;
    int root = -1;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        root = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    int error = errno;
    close(context);
    errno = error;
    return root;
}

int linux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }
int linux_flock(int file, int operation) { return flock(file, operation); }
int linux_fcntl(int file, int command, long argument) { return fcntl(file, command, argument); }

ssize_t linux_fgetxattr(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size);
}
ssize_t linux_flistxattr(int file, char *list, size_t size) { return flistxattr(file, list, size); }
int linux_fsetxattr(int file, const char *name, const void *value, size_t size, int flags) {
    return fsetxattr(file, name, value, size, flags);
}
int linux_fremovexattr(int file, const char *name) { return fremovexattr(file, name); }
ssize_t linux_lgetxattr(const char *path, const char *name, void *value, size_t size) {
    return lgetxattr(path, name, value, size);
}
ssize_t linux_llistxattr(const char *path, char *list, size_t size) { return llistxattr(path, list, size); }
int linux_lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return lsetxattr(path, name, value, size, flags);
}
ssize_t linux_getxattr(const char *path, int follows, const char *name, void *value, size_t size) {
    return follows ? getxattr(path, name, value, size) : lgetxattr(path, name, value, size);
}
ssize_t linux_listxattr(const char *path, int follows, char *list, size_t size) {
    return follows ? listxattr(path, list, size) : llistxattr(path, list, size);
}
int linux_setxattr(const char *path, int follows, const char *name, const void *value, size_t size, int flags) {
    return follows ? setxattr(path, name, value, size, flags) : lsetxattr(path, name, value, size, flags);
}
int linux_removexattr(const char *path, int follows, const char *name) {
    return follows ? removexattr(path, name) : lremovexattr(path, name);
}

int linux_lremovexattr(const char *path, const char *name) { return lremovexattr(path, name); }

// setxattrat(2), which the C library may lack; before Linux 6.13 through /proc.
int linux_setxattrat(int directory, const char *name, const char *attribute, const void *value, size_t size) {
    static _Atomic int is_missing;
    struct { uint64_t value; uint32_t size, flags; } arguments = {(uint64_t)(uintptr_t)value, (uint32_t)size, 0};
    if (!is_missing) {
        long result = syscall(463, directory, name, AT_SYMLINK_NOFOLLOW, attribute, &arguments, sizeof arguments);
        if (result == 0 || (errno != ENOSYS && errno != EPERM)) return (int)result;
        // A seccomp filter may answer EPERM for an unknown call, and so may the file: the other way decides.
        if (errno == ENOSYS) is_missing = 1;
    }
    char path[32 + NAME_MAX + 64];
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return lsetxattr(path, attribute, value, size, 0);
}

int linux_may_append_in_memory(int file) {
    struct statfs s;
    if (fstatfs(file, &s) != 0) return 0;
    return s.f_type == EXT4_SUPER_MAGIC || s.f_type == TMPFS_MAGIC || s.f_type == XFS_SUPER_MAGIC;
}
void *linux_map_shared(int file, size_t length) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
void linux_populate(void *memory, size_t length) { madvise(memory, length, 23 /* MADV_POPULATE_WRITE */); }
void linux_unmap(void *memory, size_t length) { munmap(memory, length); }
void linux_store_release(void *place, uint32_t value) {
    // Not aligned: if the write is torn, the record's checksum shows it.
    atomic_thread_fence(memory_order_release);
    memcpy(place, &value, sizeof value);
}

int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int linux_epoll_add(int epoll, int file, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = tag}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event);
}

int linux_epoll_wait(int epoll, uint64_t *tags) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, -1);
    for (int index = 0; index < count; index++) tags[index] = events[index].data.u64;
    return count;
}

int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC); }
int linux_eventfd_signal(int file) { return eventfd_write(file, 1); }
int linux_probe_thread(int process, int thread) { return (int)syscall(SYS_tgkill, process, thread, 0); }

void linux_syslog(int priority, const char *text) { syslog(LOG_DAEMON | priority, "%s", text); }

int linux_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
int linux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int linux_spawn_chdir(void *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

void linux_limit_arenas(int arenas) { mallopt(M_ARENA_MAX, arenas); }
void linux_return_memory(void) { malloc_trim(0); }
void linux_be_batch(void) {
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
}
void linux_be_aside(const char *name) {
    prctl(PR_SET_NAME, name);
    linux_be_batch();
    // The kernel ignores processors that do not exist or that the process may not use.
    unsigned long all[1024 / sizeof(long)];
    memset(all, 0xff, sizeof all);
    syscall(SYS_sched_setaffinity, 0, sizeof all, all);
}

void linux_open_standard_streams(void) {
    // open(2) returns the lowest free number.
    for (int stream = 0; stream <= 2; stream++) {
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF && open("/dev/null", O_RDWR) != stream) return;
    }
}
