// One of several programs that save the same names at the same time, each content with a token of its own. It writes
// down what it is about to do and what has returned where no crash of the daemon reaches it.
//
//     RaceWorker DIR JOURNAL PROGRAM SEED hunt MILLISECONDS WAYS      fifteen names, in ways that are drawn from WAYS
//     RaceWorker DIR JOURNAL PROGRAM SEED lockstep COUNT STEPS        COUNT new names, two programs at each at once
//
// The ways: t truncates and writes, a renames aside and creates, u unlinks and creates, r renames over, d deletes,
// m renames to another of the names, i writes in place.
//
// A line of the journal is `TIME EVENT NAME TOKEN SIZE RESULT EXTRA`, the time in nanoseconds of the monotonic clock.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { names = 15, most = 100000 };

static const char *program;
static int journal;
static uint64_t dice;
static unsigned long next_token;
static char content[most];

static uint64_t random_number(void) {
    dice += 0x9E3779B97F4A7C15u;
    uint64_t z = dice;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/// Whether the daemon is gone: nothing that follows says anything.
static int is_over(int error) { return error == ENOTCONN || error == ECONNABORTED || error == ENODEV; }

static void note(const char *event, const char *name, unsigned long token, size_t size, int result, uint64_t extra) {
    char line[200];
    int length = snprintf(
        line, sizeof line, "%" PRId64 " %s %s %s.%lu %zu %d %" PRIu64 "\n", now(), event, name, program, token, size,
        result, extra);
    if (write(journal, line, (size_t)length) != length) exit(3);
    if (is_over(result)) exit(0);
}

/// A content that no other save has: its token again and again.
static size_t make_content(unsigned long token) {
    size_t size = random_number() % 20 == 0 ? 20000 + random_number() % 60000 : 40 + random_number() % 3000;
    char word[64];
    size_t length = (size_t)snprintf(word, sizeof word, "%s.%lu;", program, token);
    for (size_t index = 0; index < size; index++) content[index] = word[index % length];
    return size;
}

static int give(int file, size_t size) {
    // Now and then in two pieces.
    size_t first = random_number() % 4 == 0 ? size / 2 : size;
    for (size_t done = 0; done < size;) {
        ssize_t count = write(file, content + done, done < first ? first - done : size - done);
        if (count < 0) return errno;
        done += (size_t)count;
    }
    return 0;
}

/// Opens, writes and closes.
/// - Returns: whether the close has acknowledged it.
static int save(const char *name, int flags, const char *way) {
    unsigned long token = next_token++;
    size_t size = make_content(token);
    note("opening", name, token, size, 0, (uint64_t)*way);
    int file = open(name, flags, 0644);
    if (file < 0) {
        note("opened", name, token, size, errno, 0);
        return 0;
    }
    struct stat stat;
    note("opened", name, token, size, 0, fstat(file, &stat) == 0 ? stat.st_ino : 0);
    int error = give(file, size);
    note("closing", name, token, size, error, (uint64_t)*way);
    int closed = close(file) == 0 ? 0 : errno;
    note("closed", name, token, size, error ? error : closed, (uint64_t)*way);
    return error == 0 && closed == 0;
}

static int rename_noting(const char *from, const char *to) {
    char both[80];
    snprintf(both, sizeof both, "%s>%s", from, to);
    note("renaming", both, next_token, 0, 0, 0);
    int error = rename(from, to) == 0 ? 0 : errno;
    note("renamed", both, next_token, 0, error, 0);
    return error;
}

static int unlink_noting(const char *name) {
    note("unlinking", name, next_token, 0, 0, 0);
    int error = unlink(name) == 0 ? 0 : errno;
    note("unlinked", name, next_token, 0, error, 0);
    return error;
}

static void act(char way) {
    char name[32], other[48];
    snprintf(name, sizeof name, "n%" PRIu64, random_number() % names);
    switch (way) {
    case 't':
        save(name, O_WRONLY | O_CREAT | O_TRUNC, "t");
        break;
    case 'a':
        snprintf(other, sizeof other, "%s~", name);
        rename_noting(name, other);
        save(name, O_WRONLY | O_CREAT | (random_number() % 2 ? O_TRUNC : O_EXCL), "a");
        unlink_noting(other);
        break;
    case 'u':
        unlink_noting(name);
        save(name, O_WRONLY | O_CREAT | (random_number() % 2 ? O_TRUNC : O_EXCL), "u");
        break;
    case 'r':
        snprintf(other, sizeof other, "%s.%s.tmp", name, program);
        if (save(other, O_WRONLY | O_CREAT | O_TRUNC, "r")) rename_noting(other, name);
        break;
    case 'd':
        unlink_noting(name);
        break;
    case 'm':
        snprintf(other, sizeof other, "n%" PRIu64, random_number() % names);
        if (strcmp(name, other) != 0) rename_noting(name, other);
        break;
    case 'i':
        save(name, random_number() % 2 ? O_RDWR : O_WRONLY, "i");
        break;
    default:
        exit(2);
    }
}

static void hunt(int64_t milliseconds, const char *ways) {
    int64_t end = now() + milliseconds * 1000000;
    size_t count = strlen(ways);
    while (now() < end) act(ways[random_number() % count]);
}

/// Two that run this with one file of STEPS meet at every name.
/// - Returns: whether the other came to all of them.
static int lockstep(int count, const char *path) {
    int file = open(path, O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, sizeof(atomic_int)) != 0) return 0;
    atomic_int *steps = mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (steps == MAP_FAILED) return 0;
    for (int index = 0; index < count; index++) {
        char name[32];
        snprintf(name, sizeof name, "l%d", index);
        atomic_fetch_add(steps, 1);
        int64_t patience = now() + 20000000000LL;
        while (atomic_load(steps) < 2 * (index + 1)) {
            if (now() > patience) return 0;
            sched_yield();
        }
        save(name, O_WRONLY | O_CREAT | O_TRUNC, "t");
    }
    return 1;
}

int main(int count, char **words) {
    if (count != 8) return 2;
    program = words[3];
    dice = strtoull(words[4], NULL, 10);
    journal = open(words[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (journal < 0 || chdir(words[1]) != 0) return 2;
    next_token = (unsigned long)lseek(journal, 0, SEEK_END) + 1;
    if (strcmp(words[5], "hunt") == 0) {
        hunt(strtoll(words[6], NULL, 10), words[7]);
    } else if (strcmp(words[5], "lockstep") == 0) {
        return lockstep(atoi(words[6]), words[7]) ? 0 : 4;
    } else {
        return 2;
    }
    return 0;
}
