// A file system of one file, `image`, for a loop device: every write and every flush is put down in a log, with its
// time, so that a test can make the disk as a power cut would have left it at any moment.
//
//     BlockRecorder STORE LOG [libfuse's options] MOUNTPOINT
//
// STORE holds what was written. LOG is a row of records: four 64-bit numbers (nanoseconds of CLOCK_MONOTONIC, offset,
// length, 1 for a write and 2 for a flush), then so many bytes. Run it with `-s`: one request at a time is one order.

#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int store, recording;
static const char *name = "/image";

static int record(uint64_t offset, uint64_t length, uint64_t kind, const char *bytes) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t head[4] = {(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, offset, length, kind};
    struct iovec parts[2] = {{head, sizeof head}, {(void *)bytes, kind == 1 ? length : 0}};
    ssize_t wanted = (ssize_t)(parts[0].iov_len + parts[1].iov_len);
    return writev(recording, parts, 2) == wanted ? 0 : -EIO;
}

static int get_attributes(const char *path, struct stat *attributes, struct fuse_file_info *file) {
    (void)file;
    if (strcmp(path, "/") == 0) {
        memset(attributes, 0, sizeof *attributes);
        attributes->st_mode = S_IFDIR | 0755;
        attributes->st_nlink = 2;
        return 0;
    }
    if (strcmp(path, name) != 0) return -ENOENT;
    return fstat(store, attributes) == 0 ? 0 : -errno;
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                enum fuse_readdir_flags flags) {
    (void)path, (void)offset, (void)file, (void)flags;
    fill(buffer, name + 1, NULL, 0, 0);
    return 0;
}

static int open_image(const char *path, struct fuse_file_info *file) {
    (void)file;
    return strcmp(path, name) == 0 ? 0 : -ENOENT;
}

static int read_image(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    ssize_t count = pread(store, bytes, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int write_image(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path, (void)file;
    ssize_t count = pwrite(store, bytes, size, offset);
    if (count < 0) return -errno;
    int error = record((uint64_t)offset, (uint64_t)count, 1, bytes);
    return error ? error : (int)count;
}

static int flush_image(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path, (void)data_only, (void)file;
    return record(0, 0, 2, NULL);
}

int main(int count, char **words) {
    static const struct fuse_operations operations = {
        .getattr = get_attributes, .readdir = list, .open = open_image, .read = read_image, .write = write_image,
        .fsync = flush_image,
    };
    if (count < 4) {
        fprintf(stderr, "usage: BlockRecorder STORE LOG [OPTIONS] MOUNTPOINT\n");
        return 64;
    }
    store = open(words[1], O_RDWR | O_CLOEXEC);
    recording = open(words[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (store < 0 || recording < 0) {
        perror("BlockRecorder");
        return 1;
    }
    words[2] = words[0];
    return fuse_main(count - 2, words + 2, &operations, NULL);
}
