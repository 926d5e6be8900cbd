// Commands of FUSE over io_uring, on liburing: see ring.h.
#define _GNU_SOURCE
#include "include/ring.h"
#include <errno.h>
#include <liburing.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ring {
    struct io_uring uring;
};

// struct fuse_uring_cmd_req, in the second half of a large submission.
struct command {
    uint64_t flags, commit_id;
    uint16_t queue;
    uint8_t padding[6];
};
_Static_assert(sizeof(struct command) == 24, "fuse_uring_cmd_req");

struct ring *ring_open(unsigned entries) {
    struct ring *ring = calloc(1, sizeof *ring);
    if (!ring) return NULL;
    // One thread submits and waits. The kernel does its work for this thread while the thread waits, without an
    // interrupt. Kernels that have FUSE over io_uring have both flags.
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SQE128 | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
    };
    int result = io_uring_queue_init_params(entries, &ring->uring, &parameters);
    if (result < 0) {
        free(ring);
        errno = -result;
        return NULL;
    }
    return ring;
}

void ring_close(struct ring *ring) {
    io_uring_queue_exit(&ring->uring);
    free(ring);
}

static struct io_uring_sqe *room(struct ring *ring) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring->uring);
    if (entry) memset(entry, 0, 2 * sizeof *entry);
    return entry;
}

int ring_command(
    struct ring *ring, int device, uint32_t operation, const struct iovec *vectors, uint64_t commit_id, uint16_t queue,
    uint64_t tag) {
    struct io_uring_sqe *entry = room(ring);
    if (!entry) return -EBUSY;
    entry->opcode = IORING_OP_URING_CMD;
    entry->fd = device;
    entry->cmd_op = operation;
    entry->user_data = tag;
    if (vectors) {
        entry->addr = (uintptr_t)vectors;
        entry->len = 2;
    }
    struct command command = {.commit_id = commit_id, .queue = queue};
    memcpy(entry->cmd, &command, sizeof command);
    return 0;
}

int ring_watch(struct ring *ring, int event, uint64_t *value, uint64_t tag) {
    struct io_uring_sqe *entry = room(ring);
    if (!entry) return -EBUSY;
    io_uring_prep_read(entry, event, value, sizeof *value, 0);
    entry->user_data = tag;
    return 0;
}

int ring_nothing(struct ring *ring, uint64_t tag) {
    struct io_uring_sqe *entry = room(ring);
    if (!entry) return -EBUSY;
    io_uring_prep_nop(entry);
    entry->user_data = tag;
    return 0;
}

int ring_submit(struct ring *ring) {
    int result = io_uring_submit(&ring->uring);
    return result < 0 ? result : 0;
}

int ring_peek(struct ring *ring, uint64_t *tag, int *result) {
    struct io_uring_cqe *completion = NULL;
    int found = io_uring_peek_cqe(&ring->uring, &completion);
    if (found < 0) return found;
    if (!completion) return -EAGAIN;
    *tag = completion->user_data;
    *result = completion->res;
    io_uring_cqe_seen(&ring->uring, completion);
    return 0;
}

int ring_turn(struct ring *ring, uint64_t *tag, int *result) {
    while (1) {
        int sent = io_uring_submit_and_wait(&ring->uring, 1);
        // A signal, or completions that must be taken first.
        if (sent < 0 && sent != -EINTR && sent != -EAGAIN && sent != -EBUSY) return sent;
        int found = ring_peek(ring, tag, result);
        if (found != -EAGAIN) return found;
    }
}

int ring_may_run_everywhere(void) {
    // Room for the largest number of processors of a kernel.
    enum { most = 8192 };
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set) return 0;
    size_t size = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(size, set);
    int result = sched_getaffinity(0, size, set) == 0 && CPU_COUNT_S(size, set) >= sysconf(_SC_NPROCESSORS_ONLN);
    CPU_FREE(set);
    return result;
}

int ring_pin_thread(unsigned processor) {
    cpu_set_t *set = CPU_ALLOC(processor + 1);
    if (!set) return -ENOMEM;
    size_t size = CPU_ALLOC_SIZE(processor + 1);
    CPU_ZERO_S(size, set);
    CPU_SET_S(processor, size, set);
    int result = sched_setaffinity(0, size, set) == 0 ? 0 : -errno;
    CPU_FREE(set);
    return result;
}
