// FUSE over io_uring as Swift sees it: the layout of the buffers that the kernel shares with us, and the few things that
// are done with a ring. Layouts: include/uapi/linux/fuse.h of the kernel, protocol 7.42. Every function returns 0 or a
// negative errno unless said otherwise. Nothing here decides anything.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

// struct fuse_uring_ent_in_out and fuse_uring_req_header: what the kernel writes beside the payload.
struct ring_entry_header {
    uint64_t flags, commit_id;
    uint32_t payload_size, padding;
    uint64_t reserved;
};
struct ring_request_header {
    uint8_t in_out[128];
    uint8_t operation[128];
    struct ring_entry_header entry;
};
_Static_assert(sizeof(struct ring_request_header) == 288, "fuse_uring_req_header");

// FUSE_IO_URING_CMD_REGISTER and FUSE_IO_URING_CMD_COMMIT_AND_FETCH.
enum { RING_REGISTER = 1, RING_COMMIT_AND_FETCH = 2 };

// A ring of the calling thread, which alone may use it. NULL with errno if there can be none.
struct ring;
struct ring *ring_open(unsigned entries);
void ring_close(struct ring *ring);

// Prepares a command for `queue`: RING_REGISTER with two vectors (header and payload), or RING_COMMIT_AND_FETCH with the
// number of the request that is answered. It goes out with the next turn. -EBUSY: no room before that.
int ring_command(
    struct ring *ring, int device, uint32_t operation, const struct iovec *vectors, uint64_t commit_id, uint16_t queue,
    uint64_t tag);
// Prepares to read an eventfd.
int ring_watch(struct ring *ring, int event, uint64_t *value, uint64_t tag);
// Prepares nothing, to see whether it comes back.
int ring_nothing(struct ring *ring, uint64_t tag);
// Sends what was prepared.
int ring_submit(struct ring *ring);
// Sends what was prepared, waits for one completion and takes it.
int ring_turn(struct ring *ring, uint64_t *tag, int *result);
// Takes a completion that is there already; -EAGAIN if none is.
int ring_peek(struct ring *ring, uint64_t *tag, int *result);

// Whether the calling thread may run on every processor that is online.
int ring_may_run_everywhere(void);
// Keeps the calling thread on one processor.
int ring_pin_thread(unsigned processor);
