// System calls that lie to the daemon, preloaded by tests that have to find out. VERSIONSFS_FAULT says which:
//
//     lost-sync   fsync(2) and fdatasync(2) succeed without doing anything
//     lost-link   linkat(2) succeeds without making a link: what was to be kept is not
//
// Only a process called `versionsfs` is lied to.

#define _GNU_SOURCE
#include "fault_shim.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int has_fault(const char *name) {
    const char *fault = getenv("VERSIONSFS_FAULT");
    return fault && strcmp(fault, name) == 0 && strcmp(program_invocation_short_name, "versionsfs") == 0;
}

int fsync(int file) { return has_fault("lost-sync") ? 0 : (int)syscall(SYS_fsync, file); }

int fdatasync(int file) { return has_fault("lost-sync") ? 0 : (int)syscall(SYS_fdatasync, file); }

int linkat(int from, const char *source, int to, const char *target, int flags) {
    if (has_fault("lost-link")) return 0;
    return (int)syscall(SYS_linkat, from, source, to, target, flags);
}
