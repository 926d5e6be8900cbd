// The GNU and Linux calls that Swift's Glibc module does not show. Declarations only: glibc defines them all.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);
static const int16_t VFS_POSIX_SPAWN_SETSID = 0x80;

extern int posix_openpt(int flags);
extern int grantpt(int fd);
extern int unlockpt(int fd);
extern int ptsname_r(int fd, char *buffer, size_t length);

extern int renameat2(int oldDirectory, const char *, int newDirectory, const char *, unsigned int flags);
static const unsigned int VFS_RENAME_NOREPLACE = 1, VFS_RENAME_EXCHANGE = 2;

extern ssize_t copy_file_range(int from, int64_t *fromOffset, int to, int64_t *toOffset, size_t, unsigned int flags);
extern int fallocate(int fd, int mode, off_t offset, off_t length);
static const int VFS_SEEK_DATA = 3, VFS_SEEK_HOLE = 4;
static const int VFS_O_TMPFILE = 020200000, VFS_O_DIRECT = 040000;

extern int pipe2(int descriptors[2], int flags);
extern int umount2(const char *, int flags);
static const int VFS_MNT_FORCE = 1, VFS_MNT_DETACH = 2;
static const unsigned long VFS_FICLONE = 0x40049409;

// With the kernel's own calls a thread takes other rights for itself alone.
#include <sys/syscall.h>
extern long vfs_call3(long number, long, long, long) __asm__("syscall");
static const long VFS_CAPGET = SYS_capget, VFS_CAPSET = SYS_capset;
static const long VFS_SETGROUPS = SYS_setgroups, VFS_SETRESUID = SYS_setresuid, VFS_SETRESGID = SYS_setresgid;

extern int pidfd_open(pid_t, unsigned int flags);

extern int setxattr(const char *, const char *name, const void *value, size_t, int flags);
extern int lsetxattr(const char *, const char *name, const void *value, size_t, int flags);
extern int fsetxattr(int fd, const char *name, const void *value, size_t, int flags);
extern ssize_t getxattr(const char *, const char *name, void *value, size_t);
extern ssize_t lgetxattr(const char *, const char *name, void *value, size_t);
extern ssize_t listxattr(const char *, char *list, size_t);
extern int removexattr(const char *, const char *name);

// Swift confuses the call with the structure of the same name.
extern int vfs_flock(int fd, int operation) __asm__("flock");
