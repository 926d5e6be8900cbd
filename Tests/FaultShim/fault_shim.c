// System calls that lie to the daemon, preloaded by tests that have to find out. VERSIONSFS_FAULT says which:
//
//     lost-sync   fsync(2) and fdatasync(2) succeed without doing anything
//     lost-link   linkat(2) succeeds without making a link: what was to be kept is not
//     late-reply  an answer waits on its way to the kernel: the next one that reports success and has the length that
//                 the suffix of a file's name says, VERSIONSFS_LATE_REPLY.LENGTH. The shim renames the file to
//                 VERSIONSFS_LATE_REPLY.held, and waits for a lock on it.
//
// Only a process called `versionsfs` is lied to. And an end at any moment: a thread that has called `fault_shim_arm` is
// killed, with its process, at one of its next calls that change something.

#define _GNU_SOURCE
#include "fault_shim.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int has_fault(const char *name) {
    const char *fault = getenv("VERSIONSFS_FAULT");
    return fault && strcmp(fault, name) == 0 && strcmp(program_invocation_short_name, "versionsfs") == 0;
}

// syscall(2) of the C library: ours is only looked through.
static long call(long number, long a, long b, long c, long d, long e, long f) {
    static long (*_Atomic real)(long, ...);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return real(number, a, b, c, d, e, f);
}

// Calls of this thread until the end; 0: there is none.
static __thread long rest;
static __thread int comes_behind;

void fault_shim_arm(long calls, int behind) {
    rest = calls;
    comes_behind = behind;
}

static void end(void) { call(SYS_kill, call(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0); }

// Makes a call that changes something, or ends the process before it or behind it.
static long change(long number, long a, long b, long c, long d, long e, long f) {
    int is_last = rest > 0 && --rest == 0;
    if (is_last && !comes_behind) end();
    long result = call(number, a, b, c, d, e, f);
    int error = errno;
    if (is_last) end();
    errno = error;
    return result;
}

int fsync(int file) { return has_fault("lost-sync") ? 0 : (int)call(SYS_fsync, file, 0, 0, 0, 0, 0); }

int fdatasync(int file) { return has_fault("lost-sync") ? 0 : (int)call(SYS_fdatasync, file, 0, 0, 0, 0, 0); }

int linkat(int from, const char *source, int to, const char *target, int flags) {
    if (has_fault("lost-link")) return 0;
    return (int)change(SYS_linkat, from, (long)source, to, (long)target, flags, 0);
}

int renameat(int from, const char *source, int to, const char *target) {
    return (int)change(SYS_renameat, from, (long)source, to, (long)target, 0, 0);
}

int renameat2(int from, const char *source, int to, const char *target, unsigned flags) {
    return (int)change(SYS_renameat2, from, (long)source, to, (long)target, flags, 0);
}

int unlinkat(int directory, const char *name, int flags) {
    return (int)change(SYS_unlinkat, directory, (long)name, flags, 0, 0, 0);
}

int mkdirat(int directory, const char *name, mode_t mode) {
    return (int)change(SYS_mkdirat, directory, (long)name, mode, 0, 0, 0);
}

int ftruncate(int file, off_t size) { return (int)change(SYS_ftruncate, file, size, 0, 0, 0, 0); }

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return change(SYS_pwrite64, file, (long)bytes, (long)count, offset, 0, 0);
}

ssize_t copy_file_range(int from, off_t *source, int to, off_t *target, size_t count, unsigned flags) {
    return change(SYS_copy_file_range, from, (long)source, to, (long)target, (long)count, flags);
}

int fsetxattr(int file, const char *name, const void *value, size_t size, int flags) {
    return (int)change(SYS_fsetxattr, file, (long)name, (long)value, (long)size, flags, 0);
}

int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return (int)change(SYS_lsetxattr, (long)path, (long)name, (long)value, (long)size, flags, 0);
}

int fremovexattr(int file, const char *name) { return (int)change(SYS_fremovexattr, file, (long)name, 0, 0, 0, 0); }

int openat(int directory, const char *name, int flags, ...) {
    va_list rest_of;
    va_start(rest_of, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest_of, mode_t) : 0;
    va_end(rest_of);
    long number = SYS_openat;
    if (flags & (O_CREAT | O_TRUNC)) return (int)change(number, directory, (long)name, flags, mode, 0, 0);
    return (int)call(number, directory, (long)name, flags, mode, 0, 0);
}

int ioctl(int file, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    if (request == FICLONE) return (int)change(SYS_ioctl, file, (long)request, argument, 0, 0, 0);
    return (int)call(SYS_ioctl, file, (long)request, argument, 0, 0, 0);
}

// What the C library has no name for: setxattrat(2).
long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long words[6];
    for (int index = 0; index < 6; index++) words[index] = va_arg(arguments, long);
    va_end(arguments);
    if (number == 463) return change(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

// Holds an answer back if a test wants that. One without a node is no success: the name is missing.
static void hold(const struct iovec *vector, int count) {
    struct { uint32_t length; int32_t error; uint64_t unique; } header;
    uint64_t node = 1;
    const char *place = getenv("VERSIONSFS_LATE_REPLY");
    if (!place || count < 1 || vector[0].iov_len < sizeof header) return;
    memcpy(&header, vector[0].iov_base, sizeof header);
    if (header.error || !header.unique) return;
    if (vector[0].iov_len >= sizeof header + sizeof node) {
        memcpy(&node, (char *)vector[0].iov_base + sizeof header, sizeof node);
    } else if (count > 1 && vector[1].iov_len >= sizeof node) {
        memcpy(&node, vector[1].iov_base, sizeof node);
    }
    char wanted[PATH_MAX], held[PATH_MAX];
    snprintf(wanted, sizeof wanted, "%s.%u", place, header.length);
    snprintf(held, sizeof held, "%s.held", place);
    if (!node || call(SYS_rename, (long)wanted, (long)held, 0, 0, 0, 0) != 0) return;
    int file = (int)call(SYS_open, (long)held, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    flock(file, LOCK_EX);
    call(SYS_close, file, 0, 0, 0, 0, 0);
}

ssize_t writev(int file, const struct iovec *vector, int count) {
    if (has_fault("late-reply")) hold(vector, count);
    return call(SYS_writev, file, (long)vector, count, 0, 0, 0);
}
