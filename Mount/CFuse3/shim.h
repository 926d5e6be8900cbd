// libfuse's low-level API for Swift: the headers at a fixed API level, functions for macros and variadic calls, which
// Swift does not import, and the layout of the messages that the daemon writes or reads itself because libfuse 3.14
// drops some of their fields. Layouts: include/uapi/linux/fuse.h of the kernel, protocol 7.31 and later.
#pragma once
#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

struct wire_header_in {
    uint32_t length, opcode;
    uint64_t unique, node;
    uint32_t user, group, thread, extensions;
};
struct wire_header_out {
    uint32_t length;
    int32_t error;
    uint64_t unique;
};
struct wire_init_in {
    uint32_t major, minor, max_readahead, flags, flags2;
};
struct wire_init_out {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth;
    uint32_t rest[6];
};
struct wire_open_in {
    uint32_t flags, open_flags;
};
struct wire_getattr_in {
    uint32_t flags, padding;
    uint64_t handle;
};
struct wire_flush_in {
    uint64_t handle;
    uint32_t unused, padding;
    uint64_t lock_owner;
};
struct wire_rename_in {
    uint64_t directory;
    uint32_t flags, padding;
};
struct wire_create_in {
    uint32_t flags, mode, umask, open_flags;
};
struct wire_write_in {
    uint64_t handle, offset;
    uint32_t size, write_flags;
    uint64_t lock_owner;
    uint32_t flags, padding;
};
struct wire_open_out {
    uint64_t handle;
    uint32_t flags;
    int32_t backing;
};
struct wire_attributes {
    uint64_t inode, size, blocks, accessed, modified, changed;
    uint32_t accessed_ns, modified_ns, changed_ns, mode, links, user, group, device, block_size, flags;
};
struct wire_entry_out {
    uint64_t node, generation, entry_valid, attributes_valid;
    uint32_t entry_valid_ns, attributes_valid_ns;
    struct wire_attributes attributes;
};
struct wire_attributes_out {
    uint64_t valid;
    uint32_t valid_ns, padding;
    struct wire_attributes attributes;
};
struct wire_create_out {
    struct wire_entry_out entry;
    struct wire_open_out opened;
};
struct wire_directory_entry {
    uint64_t inode, offset;
    uint32_t name_length, type;
};
struct wire_statx_in {
    uint32_t flags, reserved;
    uint64_t handle;
    uint32_t statx_flags, mask;
};
struct wire_statx_time {
    int64_t seconds;
    uint32_t nanoseconds, padding;
};
struct wire_statx_out {
    uint64_t valid;
    uint32_t valid_ns, flags;
    uint64_t spare[2];
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, padding;
    uint64_t inode, size, blocks, attributes_mask;
    struct wire_statx_time accessed, born, changed, modified;
    uint32_t device_major, device_minor, own_major, own_minor;
    uint64_t rest[14];
};
struct wire_backing_map {
    int32_t descriptor;
    uint32_t flags;
    uint64_t padding;
};

_Static_assert(sizeof(struct wire_header_in) == 40, "fuse_in_header");
_Static_assert(sizeof(struct wire_header_out) == 16, "fuse_out_header");
_Static_assert(sizeof(struct wire_init_out) == 64, "fuse_init_out");
_Static_assert(sizeof(struct wire_write_in) == 40, "fuse_write_in");
_Static_assert(sizeof(struct wire_open_out) == 16, "fuse_open_out");
_Static_assert(sizeof(struct wire_attributes) == 88, "fuse_attr");
_Static_assert(sizeof(struct wire_entry_out) == 128, "fuse_entry_out");
_Static_assert(sizeof(struct wire_getattr_in) == 16, "fuse_getattr_in");
_Static_assert(sizeof(struct wire_flush_in) == 24, "fuse_flush_in");
_Static_assert(sizeof(struct wire_rename_in) == 16, "fuse_rename2_in");
_Static_assert(sizeof(struct wire_attributes_out) == 104, "fuse_attr_out");
_Static_assert(sizeof(struct wire_create_out) == 144, "fuse_entry_out and fuse_open_out");
_Static_assert(sizeof(struct wire_directory_entry) == 24, "fuse_dirent");
_Static_assert(sizeof(struct wire_statx_in) == 24, "fuse_statx_in");
_Static_assert(sizeof(struct wire_statx_out) == 288, "fuse_statx_out");
_Static_assert(sizeof(struct wire_backing_map) == 16, "fuse_backing_map");

// Macros in newer headers, functions in 3.14.
static inline struct fuse_session *wire_session_new(
    struct fuse_args *arguments, const struct fuse_lowlevel_ops *operations, void *context) {
    return fuse_session_new(arguments, operations, sizeof(*operations), context);
}
static inline int wire_session_custom_io(
    struct fuse_session *session, const struct fuse_custom_io *io, int descriptor) {
    return fuse_session_custom_io(session, io, descriptor);
}

// FUSE_DEV_IOC_BACKING_OPEN and FUSE_DEV_IOC_BACKING_CLOSE, which older headers lack.
static inline int wire_backing_open(int device, struct wire_backing_map *map) {
    return ioctl(device, _IOW(229, 1, struct wire_backing_map), map);
}
static inline int wire_backing_close(int device, uint32_t backing) {
    return ioctl(device, _IOW(229, 2, uint32_t), &backing);
}

// memfd_create(2) with MFD_CLOEXEC, fallocate(2), and the thread's name: behind _GNU_SOURCE in the C library's headers.
static inline int wire_anonymous_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1U);
}
static inline int wire_allocate(int descriptor, int mode, int64_t offset, int64_t length) {
    return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}
static inline void wire_name_thread(const char *name) {
    syscall(SYS_prctl, 15, name, 0UL, 0UL, 0UL);
}

// unshare(CLONE_FS): the calling thread gets its own umask and working directory.
static inline int wire_own_file_system_context(void) {
    return (int)syscall(SYS_unshare, 0x200);
}
