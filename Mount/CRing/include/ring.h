// FUSE over io_uring for Swift: the layout of the buffers that the kernel shares with the daemon, and the few
// operations of a ring. Layouts: include/uapi/linux/fuse.h of the kernel, protocol 7.42. Every function returns 0 or a
// negative errno unless said otherwise, and makes no decisions.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

// struct fuse_uring_ent_in_out and fuse_uring_req_header: the kernel's data beside the payload.
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

// A ring for the calling thread only. NULL with errno if it cannot be made.
struct ring;
struct ring *ring_open(unsigned entries);
void ring_close(struct ring *ring);

// Prepares a command for `queue`: RING_REGISTER with two vectors (header and payload), or RING_COMMIT_AND_FETCH with
// the number of the answered request. The next turn sends it. -EBUSY: no room before that.
int ring_command(
    struct ring *ring, int device, uint32_t operation, const struct iovec *vectors, uint64_t commit_id, uint16_t queue,
    uint64_t tag);
// Prepares a read of an eventfd.
int ring_watch(struct ring *ring, int event, uint64_t *value, uint64_t tag);
// Prepares a no-op, to test the ring.
int ring_nothing(struct ring *ring, uint64_t tag);
// Sends the prepared commands.
int ring_submit(struct ring *ring);
// Sends the prepared commands, waits for one completion and takes it.
int ring_turn(struct ring *ring, uint64_t *tag, int *result);
// Takes a completion that is ready; -EAGAIN if there is none.
int ring_peek(struct ring *ring, uint64_t *tag, int *result);

// Whether the calling thread may run on every online processor.
int ring_may_run_everywhere(void);
// Binds the calling thread to one processor.
int ring_pin_thread(unsigned processor);
