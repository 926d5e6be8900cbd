/* System calls that Swift's Glibc module does not have. Each returns what the call returns, with errno set. */
#pragma once
#include <stdint.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor that becomes readable when the process ends: pidfd_open(2). */
static inline int linux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/* 0 or EPERM if the thread belongs to the process, ESRCH if not: tgkill(2) with no signal. */
static inline int linux_probe_thread(int process, int thread) {
    return (int)syscall(SYS_tgkill, process, thread, 0);
}

/* epoll_create1(2), closed on exec. */
static inline int linux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

/* Watches a descriptor for reading; `tag` comes back from linux_epoll_wait. */
static inline int linux_epoll_add(int epoll, int descriptor, uint64_t tag) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = tag}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/* Waits for at least one event; stores the tags of at most 64 and returns their number. */
static inline int linux_epoll_wait(int epoll, uint64_t *tags) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, 64, -1);
    for (int index = 0; index < count; index++) tags[index] = events[index].data.u64;
    return count;
}

/* eventfd(2), closed on exec. */
static inline int linux_eventfd(void) { return eventfd(0, EFD_CLOEXEC); }

/* Makes an eventfd readable. */
static inline int linux_eventfd_signal(int descriptor) { return eventfd_write(descriptor, 1); }
