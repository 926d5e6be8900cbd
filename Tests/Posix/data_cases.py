# Contents: sizes, holes, mappings, locks, times, directories being read, files without a name, many threads.

import ctypes
import errno
import fcntl
import mmap
import os
import stat
import struct
import threading
import time

import linux
from open_cases import put
from suite import case

MIB = 1 << 20


def pattern(size, seed=1):
    return bytes((i * 7 + seed) & 255 for i in range(256)) * (size // 256) + bytes(size % 256)


def allocation():
    for word, mode in linux.FALLOC.items():
        for offset, length in ((0, 4096), (4096, 8192), (100, 50), (0, 65536), (16384, 20000), (65536, 4096), (0, 0), (-1, 5), (5, -1), (1 << 62, 1 << 62)):
            def body(here, mode=mode, offset=offset, length=length):
                put("x", pattern(32768))
                os.fsync(os.open("x", os.O_RDONLY))
                file = os.open("x", os.O_RDWR)
                here.touches("fallocate", ["x"], linux.fallocate, file, mode, offset, length)
                here.do("size", lambda: os.fstat(file).st_size)
                os.fsync(file)
                here.do("blocks", lambda: os.fstat(file).st_blocks)
                here.do("content", lambda: os.pread(file, 200000, 0))
                for start in (0, 4096, 20000, 40000):
                    here.do(f"hole from {start}", os.lseek, file, start, os.SEEK_HOLE)
                    here.do(f"data from {start}", os.lseek, file, start, os.SEEK_DATA)
                os.close(file)
                here.do("read only", lambda: linux.fallocate(os.open("x", os.O_RDONLY), mode, 0, 4096))
            case(f"fallocate {word} {offset} {length}")(body)


def sizes():
    for before in (0, 5, 4096, 100000):
        for after in (0, 1, 4096, 50000, 1 << 32, 5 << 30, -1, 1 << 62):
            def body(here, before=before, after=after):
                put("x", pattern(before)); put("y", pattern(before))
                here.touches("truncate", ["x", "."], os.truncate, "x", after)
                file = os.open("y", os.O_RDWR)
                here.touches("ftruncate", ["y"], os.ftruncate, file, after)
                for name in ("x", "y"):
                    here.do("stat", os.stat, name)
                    here.do("blocks", lambda: os.fsync(file) or os.stat(name).st_blocks)
                here.do("start", os.pread, file, 100, 0)
                here.do("end", os.pread, file, 100, max(0, os.fstat(file).st_size - 100))
                here.do("by another descriptor", lambda: os.pread(os.open("y", os.O_RDONLY), 100, before))
                here.do("read only", lambda: os.ftruncate(os.open("y", os.O_RDONLY), 3))
                os.ftruncate(file, 0)
                here.do("empty", os.fstat, file)
            case(f"truncate {before} to {after}")(body)

    @case("sparse over 4 GiB")
    def _(here):
        file = os.open("x", os.O_CREAT | os.O_RDWR)
        for offset in (5 << 30, (1 << 32) - 3, 0, (9 << 30) + 1):
            here.do("write", os.pwrite, file, b"abcdef", offset)
            here.do("read", os.pread, file, 20, offset - 5 if offset else 0)
            here.do("stat", os.fstat, file)
        here.do("data", os.lseek, file, 4096, os.SEEK_DATA)
        here.do("hole", os.lseek, file, 0, os.SEEK_HOLE)
        here.do("end", os.lseek, file, -3, os.SEEK_END)
        here.do("beyond", os.lseek, file, 20 << 30, os.SEEK_DATA)
        here.do("read end", os.read, file, 10)
        here.do("too far", os.pwrite, file, b"x", (1 << 63) - 2)
        mapped = mmap.mmap(file, 4096, offset=5 << 30)
        here.do("mapped", lambda: mapped[:8])
        mapped.close()
        os.ftruncate(file, 5 << 30)
        here.do("cut", os.pread, file, 10, (1 << 32) - 3)
        os.close(file)

    for flags, word in ((0, "plain"), (os.O_APPEND, "append"), (os.O_DIRECT, "direct"), (os.O_SYNC, "sync"), (os.O_DSYNC, "dsync")):
        def body(here, flags=flags):
            put("x", pattern(8192))
            file = os.open("x", os.O_RDWR | flags)
            buffer = mmap.mmap(-1, 8192)
            buffer[:] = b"Q" * 8192
            here.do("writev", os.pwritev, file, [memoryview(buffer)[:4096]], 4096)
            here.do("odd", os.pwritev, file, [memoryview(buffer)[:100]], 8192)
            here.do("size", lambda: os.fstat(file).st_size)
            here.do("position", os.lseek, file, 0, os.SEEK_CUR)
            here.do("write", os.writev, file, [memoryview(buffer)[:4096]])
            here.do("position", os.lseek, file, 0, os.SEEK_CUR)
            here.do("readv", os.preadv, file, [memoryview(buffer)], 0)
            here.do("misaligned", os.preadv, file, [memoryview(buffer)[1:513]], 3)
            here.do("flags", lambda: fcntl.fcntl(file, fcntl.F_GETFL) & ~0o100000)
            here.do("append on", fcntl.fcntl, file, fcntl.F_SETFL, os.O_APPEND)
            here.do("appended", os.pwritev, file, [memoryview(buffer)[:4096]], 0)
            here.do("size", lambda: os.fstat(file).st_size)
            here.do("direct on", fcntl.fcntl, file, fcntl.F_SETFL, os.O_DIRECT)
            here.do("fsync", os.fsync, file)
            here.do("fdatasync", os.fdatasync, file)
            here.do("fadvise", os.posix_fadvise, file, 0, 0, os.POSIX_FADV_DONTNEED)
            with open("x", "rb") as other:
                here.do("content", other.read)
        case(f"write {word}")(body)

    @case("append given up and taken up")
    def _(here):
        put("x", b"hello")
        file = os.open("x", os.O_RDWR | os.O_APPEND)
        os.write(file, b"+one")
        fcntl.fcntl(file, fcntl.F_SETFL, 0)
        here.do("inside", os.pwrite, file, b"J", 0)
        here.do("content", os.pread, file, 100, 0)
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        here.do("behind", os.pwrite, file, b"+two", 0)
        here.do("content again", os.pread, file, 100, 0)
        os.close(file)

    @case("append by two")
    def _(here):
        one, two = (os.open("x", os.O_CREAT | os.O_WRONLY | os.O_APPEND) for _ in range(2))
        for number in range(20):
            os.write(one, b"one %d\n" % number), os.write(two, b"two %d\n" % number)
        here.do("position", os.lseek, two, 0, os.SEEK_CUR)
        here.do("content", lambda: open("x", "rb").read())


def copies():
    for source, target, length, same in ((0, 0, 1000, False), (4096, 0, 8192, False), (100, 5000, 100000, False), (0, 20000, 10, False),
                                         (0, 50000, 1000, True), (0, 500, 1000, True), (200000, 0, 10, False), (0, 0, 0, False)):
        def body(here, source=source, target=target, length=length, same=same):
            put("x", pattern(40000)); put("y", pattern(10000, 9))
            one = os.open("x", os.O_RDWR)
            two = os.open("x" if same else "y", os.O_RDWR)
            here.touches("copy", ["x", "y"], os.copy_file_range, one, two, length, source, target)
            here.do("stat", os.fstat, two)
            here.do("content", lambda: open("x" if same else "y", "rb").read())
            here.do("moving", os.copy_file_range, one, two, 50)
            here.do("positions", lambda: (os.lseek(one, 0, 1), os.lseek(two, 0, 1)))
            here.do("to read only", lambda: os.copy_file_range(one, os.open("y", os.O_RDONLY), 10))
            here.do("to append", lambda: os.copy_file_range(one, os.open("y", os.O_WRONLY | os.O_APPEND), 10))
            here.do("sendfile", lambda: os.sendfile(two, one, 10, 3000))
            here.do("splice", lambda: spliced(one))
            outside = os.memfd_create("outside")
            os.write(outside, b"0123456789")
            here.do("from outside", lambda: os.copy_file_range(outside, two, 10, 0))
            here.do("content", lambda: open("y", "rb").read())
        case(f"copy {source} {target} {length} {same}")(body)


def spliced(file):
    reading, writing = os.pipe()
    count = os.splice(file, writing, 500, offset_src=10)
    data = os.read(reading, 1000)
    os.close(reading), os.close(writing)
    return count, data.hex()[:40]


def mappings():
    for opener in ("read", "both"):
        for other in ("write", "mapping", "truncate", "append", "fallocate", "rename", "unlink", "direct"):
            def body(here, opener=opener, other=other):
                put("x", pattern(20000))
                file = os.open("x", os.O_RDWR if opener == "both" else os.O_RDONLY)
                shared = mmap.mmap(file, 16384, mmap.MAP_SHARED, mmap.PROT_READ | (mmap.PROT_WRITE if opener == "both" else 0))
                private = mmap.mmap(file, 16384, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
                private[4096:4100] = b"PRIV"
                here.do("private is private", lambda: shared[4096:4100])
                second = os.open("x", os.O_RDWR)
                if other == "write": os.pwrite(second, b"WRITTEN", 100)
                elif other == "mapping":
                    with mmap.mmap(second, 16384) as more: more[100:107] = b"MAPPED!"
                elif other == "truncate": os.ftruncate(second, 18000), os.pwrite(second, b"T", 100)
                elif other == "append": os.pwrite(second, b"tail", 20000)
                elif other == "fallocate": linux.fallocate(second, 3, 0, 4096)
                elif other == "rename": put("y"); os.rename("y", "x")
                elif other == "unlink": os.unlink("x")
                elif other == "direct":
                    direct = os.open("x", os.O_RDWR | os.O_DIRECT)
                    block = mmap.mmap(-1, 4096)
                    block[:] = b"D" * 4096
                    os.pwritev(direct, [block], 0)
                here.do("shared sees", lambda: shared[100:107])
                here.do("private sees", lambda: private[100:107])
                here.do("private kept", lambda: private[4096:4100])
                if opener == "both":
                    shared[200:206] = b"stored"
                    here.do("read sees", os.pread, second, 6, 200)
                    here.do("flush", lambda: shared.flush() and None)
                    os.close(file)
                    shared[300:305] = b"after"
                    here.do("read sees after close", os.pread, second, 5, 300)
                shared.close(), private.close()
                here.do("content", os.pread, second, 30000, 0)
                here.do("size", lambda: os.fstat(second).st_size)
            case(f"mapping {opener} {other}")(body)

    @case("mapping times")
    def _(here):
        put("x", pattern(8192))
        os.utime("x", (1, 1))
        file = os.open("x", os.O_RDWR)
        with mmap.mmap(file, 8192) as shared:
            shared[0] = 65
            shared.flush()
        os.fsync(file)
        os.close(file)
        here.do("changed", lambda: os.stat("x").st_mtime > 1)

    @case("mapping times of what was looked at")
    def _(here):
        put("x", pattern(8192))
        os.utime("x", (1, 1))
        modified = lambda: linux.statx_time("x")
        modified()
        file = os.open("x", os.O_RDWR)
        with mmap.mmap(file, 8192) as shared:
            before = modified()
            shared[0] = 65
            shared.flush()
            here.do("changed by msync", lambda: modified() != before)
            before = modified()
            shared[1] = 66
        here.do("changed by munmap", lambda: modified() != before)
        os.close(file)

    @case("mapping needs rights")
    def _(here):
        put("x", pattern(8192))
        here.do("read only for writing", lambda: mmap.mmap(os.open("x", os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_WRITE))
        here.do("write only", lambda: mmap.mmap(os.open("x", os.O_WRONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ))
        here.do("directory", lambda: mmap.mmap(os.open(".", os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ))
        here.do("exec", lambda: mmap.mmap(os.open("x", os.O_RDONLY), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC) and 1)

    @case("program run from here")
    def _(here):
        with open("/bin/true", "rb") as program: put("x", program.read(), 0o755)
        here.do("run", lambda: os.spawnv(os.P_WAIT, "x", ["x"]))
        put("script", b"#!/bin/sh\nexit 7\n", 0o755)
        here.do("script", lambda: os.spawnv(os.P_WAIT, "script", ["script"]))
        os.chmod("x", 0o644)
        here.do("not executable", os.execv, "x", ["x"])
        os.chmod("x", 0o755)
        import subprocess
        put("sleep", open("/bin/sleep", "rb").read(), 0o755)
        with subprocess.Popen(["./sleep", "100"]) as child:
            here.do("busy", lambda: os.close(os.open("sleep", os.O_WRONLY)))
            here.do("busy truncate", lambda: os.truncate("sleep", 0))
            here.do("replace", lambda: os.rename("script", "sleep"))
            child.kill()


def times():
    moments = {"past": (-1, 5), "before 1901": (-(1 << 32), 0), "epoch": (0, 0), "nanoseconds": (1234567890, 987654321), "2038": (1 << 31, 1),
               "2106": ((1 << 32) + 5, 7), "2446": (15032385535, 0), "beyond": (1 << 40, 0), "negative": (-86400 * 365 * 60, 999999999)}
    for word, moment in moments.items():
        for kind in ("file", "directory", "link", "open"):
            def body(here, moment=moment, kind=kind):
                {"file": lambda: put("x"), "directory": lambda: os.mkdir("x"), "link": lambda: os.symlink("t", "x"), "open": lambda: put("x")}[kind]()
                if kind == "open":
                    file = os.open("x", os.O_RDWR)
                    here.do("set", os.utime, file, ns=(moment[0] * 10**9 + moment[1],) * 2)
                    here.do("get", lambda: (os.fstat(file).st_atime_ns, os.fstat(file).st_mtime_ns))
                else:
                    here.do("set", linux.utimensat, "x", moment, moment, linux.AT_SYMLINK_NOFOLLOW)
                here.do("get", lambda: (os.lstat("x").st_atime_ns, os.lstat("x").st_mtime_ns))
            case(f"time {word} {kind}")(body)
    now, omit = (0, (1 << 30) - 1), (0, (1 << 30) - 2)
    for word, pair in {"now now": (now, now), "omit now": (omit, now), "now omit": (now, omit), "omit omit": (omit, omit), "set omit": ((5, 5), omit),
                       "omit set": (omit, (5, 5)), "set now": ((5, 5), now), "bad": ((5, 1 << 31 - 1), (5, 5)), "bad 2": ((5, 10**9), (5, 5))}.items():
        def body(here, pair=pair):
            put("x"), os.mkdir("d"), os.symlink("nowhere", "l")
            os.utime("x", (1, 2)), os.utime("d", (1, 2)), os.utime("l", (1, 2), follow_symlinks=False)
            for name in ("x", "d", "l", "absent"):
                if name == "absent": here.do("absent", linux.utimensat, name, *pair); continue
                here.touches(f"set {name}", [name], linux.utimensat, name, *pair, linux.AT_SYMLINK_NOFOLLOW)
                here.do("get", lambda: [t if t < 10**10 else "now" for t in (os.lstat(name).st_atime_ns, os.lstat(name).st_mtime_ns)])
            here.do("follow", linux.utimensat, "l", *pair)
            os.chmod(".", 0o777)
            os.chmod("x", 0o666)
            if os.getuid() == 0:
                here.as_user("alice", lambda inner: inner.do("another", linux.utimensat, "x", *pair))
                os.chmod("x", 0o644)
                here.as_user("alice", lambda inner: inner.do("another, read only", linux.utimensat, "x", *pair))
        case(f"utimensat {word}")(body)

    steps = {
        "write": lambda f: os.write(f, b"x"), "pwrite same": lambda f: os.pwrite(f, b"h", 0), "read": lambda f: os.read(f, 1),
        "read nothing": lambda f: os.read(f, 0), "write nothing": lambda f: os.write(f, b""), "truncate same": lambda f: os.ftruncate(f, 5),
        "truncate": lambda f: os.ftruncate(f, 2), "chmod": lambda f: os.fchmod(f, 0o600), "chown": lambda f: os.fchown(f, -1, -1),
        "setxattr": lambda f: os.setxattr(f, "user.a", b"b"), "link": lambda f: os.link("d/x", "d/y"), "rename": lambda f: os.rename("d/x", "d/y"),
        "unlink other": lambda f: os.unlink("d/o"), "create": lambda f: os.close(os.open("d/n", os.O_CREAT)), "mkdir": lambda f: os.mkdir("d/m"),
        "open": lambda f: os.close(os.open("d/x", os.O_RDWR)), "open truncating": lambda f: os.close(os.open("d/x", os.O_WRONLY | os.O_TRUNC)),
        "truncating empty": lambda f: os.ftruncate(f, 0) or os.close(os.open("d/x", os.O_WRONLY | os.O_TRUNC)),
        "fsync": lambda f: os.fsync(f), "symlink": lambda f: os.symlink("a", "d/s"), "stat": lambda f: os.stat("d/x").st_size,
        "list": lambda f: len(os.listdir("d")), "rename over": lambda f: os.rename("d/o", "d/x"), "unlink": lambda f: os.unlink("d/x"),
        "exchange": lambda f: linux.renameat2("d/o", "d/x", 2), "mapping": lambda f: mmap.mmap(f, 5)[0], "path truncate": lambda f: os.truncate("d/x", 1),
    }
    for word, step in steps.items():
        def body(here, step=step, word=word):
            os.mkdir("d"), put("d/x"), put("d/o", b"other")
            for name in ("d/x", "d/o", "d"): os.utime(name, (1, 2))
            file = os.open("d/x", os.O_RDWR)
            here.touches(word, ["d", "d/x", "d/o"], step, file)
            os.close(file)
            here.touches("again later", ["d", "d/x", "d/o"], lambda: None)
        case(f"times after {word}")(body)

    @case("statx")
    def _(here):
        put("x")
        found = linux.statx("x")
        here.do("mask", lambda: hex(found["mask"] & 0xfff))
        here.do("born", lambda: abs(found["born"] - time.time()) < 100)
        here.do("attributes", lambda: found["attributes"])
        here.do("root", lambda: linux.statx(".")["attributes"])
        os.rename("x", "y")
        here.do("born after rename", lambda: linux.statx("y")["born"] == found["born"])

    @case("ioctl of flags")
    def _(here):
        put("x"), os.mkdir("d")
        for name in ("x", "d"):
            file = os.open(name, os.O_RDONLY)
            here.do("get", lambda: struct.unpack("I", fcntl.ioctl(file, 0x80086601, b"\0" * 4) )[0] & ~0x80000)
            here.do("set", lambda: fcntl.ioctl(file, 0x40086602, struct.pack("I", 0x80000 | 0x40)))
            here.do("set none", lambda: fcntl.ioctl(file, 0x40086602, struct.pack("I", 0x80000 if name == "x" else 0)))
            here.do("nonsense", lambda: fcntl.ioctl(file, 0x12345678, b"\0" * 4))
            here.do("waiting", lambda: struct.unpack("i", fcntl.ioctl(file, 0x541b, b"\0" * 4))[0])
            os.close(file)


def nameless():
    @case("unlinked and open")
    def _(here):
        put("x", b"content")
        file = os.open("x", os.O_RDWR)
        os.unlink("x")
        here.do("stat", os.fstat, file)
        here.do("read", os.pread, file, 100, 0)
        here.do("write", os.pwrite, file, b"more", 7)
        here.do("truncate", os.ftruncate, file, 20)
        here.do("chmod", os.fchmod, file, 0o600)
        here.do("chown", os.fchown, file, os.getuid(), os.getgid())
        here.do("utime", os.utime, file, (5, 6))
        here.do("stat", os.fstat, file)
        here.do("time", lambda: os.fstat(file).st_mtime)
        here.do("fallocate", linux.fallocate, file, 0, 0, 100)
        here.do("mapping", lambda: mmap.mmap(file, 20)[:7])
        here.do("fsync", os.fsync, file)
        here.do("link", linux.linkat, f"/proc/self/fd/{file}", "y", linux.AT_SYMLINK_FOLLOW)
        here.do("reopen", lambda: os.pread(os.open(f"/proc/self/fd/{file}", os.O_RDWR), 100, 0))
        here.do("setxattr", os.setxattr, file, "user.a", b"b")
        here.do("getxattr", os.getxattr, file, "user.a")
        here.do("create again", lambda: os.close(os.open("x", os.O_CREAT | os.O_EXCL | os.O_WRONLY)))
        here.do("write old", os.pwrite, file, b"old", 0)
        here.do("new", lambda: open("x", "rb").read())
        here.do("old", os.pread, file, 100, 0)
        here.do("stat", os.fstat, file)

    @case("replaced and open")
    def _(here):
        put("x", b"old"), put("y", b"new")
        reader, writer, path = os.open("x", os.O_RDONLY), os.open("x", os.O_RDWR), os.open("x", os.O_PATH)
        os.rename("y", "x")
        here.do("read", os.pread, reader, 9, 0)
        here.do("write", os.pwrite, writer, b"OLDER", 0)
        here.do("read", os.pread, reader, 9, 0)
        for file in (reader, writer, path): here.do("stat", os.fstat, file)
        here.do("name", lambda: open("x", "rb").read())
        here.do("reopen", lambda: os.read(os.open(f"/proc/self/fd/{path}", os.O_RDONLY), 9))
        here.do("chmod", os.fchmod, reader, 0o640)
        here.do("link", linux.linkat, f"/proc/self/fd/{path}", "z", linux.AT_SYMLINK_FOLLOW)
        here.do("stat", os.fstat, writer)
        os.close(writer)
        here.do("stat", os.fstat, reader)

    @case("one of two names unlinked while open")
    def _(here):
        put("x"), os.link("x", "y")
        file = os.open("x", os.O_RDWR)
        os.unlink("x")
        here.do("stat", os.fstat, file)
        here.do("write", os.pwrite, file, b"J", 0)
        here.do("other", lambda: open("y", "rb").read())
        here.do("link back", linux.linkat, f"/proc/self/fd/{file}", "x", linux.AT_SYMLINK_FOLLOW)
        here.do("stat", os.fstat, file)

    for flags in (0, os.O_EXCL):
        for mode in (0o600, 0o4755, 0o000):
            for access in (os.O_RDWR, os.O_WRONLY):
                def body(here, flags=flags, mode=mode, access=access):
                    file = os.open(".", os.O_TMPFILE | access | flags, mode)
                    here.do("stat", os.fstat, file)
                    here.do("write", os.write, file, b"temporary")
                    here.do("read", os.pread, file, 20, 0)
                    here.do("truncate", os.ftruncate, file, 4)
                    here.do("fallocate", linux.fallocate, file, 0, 0, 100)
                    here.do("chmod", os.fchmod, file, 0o640)
                    here.do("setxattr", os.setxattr, file, "user.a", b"b")
                    here.do("utime", os.utime, file, (3, 4))
                    here.do("stat", os.fstat, file)
                    here.do("list", os.listdir, ".")
                    here.do("link", linux.linkat, f"/proc/self/fd/{file}", "named", linux.AT_SYMLINK_FOLLOW)
                    here.do("link twice", linux.linkat, f"/proc/self/fd/{file}", "again", linux.AT_SYMLINK_FOLLOW)
                    here.do("exists", linux.linkat, f"/proc/self/fd/{file}", "named", linux.AT_SYMLINK_FOLLOW)
                    here.do("stat", os.fstat, file)
                    here.do("write", os.write, file, b"!")
                    here.do("unlink", os.unlink, "named")
                    here.do("stat", os.fstat, file)
                    os.close(file)
                case(f"temporary {flags} {mode:o} {access}")(body)

    @case("temporary linked by its descriptor", needs_root=True)
    def _(here):
        file = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
        os.write(file, b"abc")
        here.do("link", linux.linkat, "", "x", linux.AT_EMPTY_PATH, file)
        here.do("stat", os.fstat, file)
        here.do("read", lambda: open("x", "rb").read())

    @case("O_PATH")
    def _(here):
        put("x"), os.mkdir("d"), os.symlink("x", "l")
        for name, flags in (("x", 0), ("d", 0), ("l", os.O_NOFOLLOW), ("l", 0)):
            file = os.open(name, os.O_PATH | flags)
            here.do("stat", os.fstat, file)
            here.do("read", os.read, file, 1)
            here.do("chmod", os.fchmod, file, 0o600)
            here.do("list", lambda: os.listdir(f"/proc/self/fd/{file}"))
            here.do("reopen", lambda: os.close(os.open(f"/proc/self/fd/{file}", os.O_RDONLY)))
            here.do("readlink", lambda: os.readlink("", dir_fd=file))
            os.close(file)
        file = os.open("x", os.O_PATH)
        os.unlink("x")
        here.do("stat unlinked", os.fstat, file)

    for word, act in {"deleted": lambda: os.rmdir("../d"), "renamed": lambda: os.rename("../d", "../e"),
                      "replaced": lambda: (os.mkdir("../n"), os.rename("../n", "../d"))}.items():
        def body(here, act=act):
            os.mkdir("d")
            os.chdir("d")
            here.do("act", act)
            here.do("cwd", lambda: os.path.basename(os.getcwd()))
            here.do("stat", os.stat, ".")
            here.do("list", os.listdir, ".")
            here.do("create", lambda: os.close(os.open("f", os.O_CREAT | os.O_WRONLY)))
            here.do("mkdir", os.mkdir, "m")
            here.do("symlink", os.symlink, "a", "s")
            here.do("up", lambda: os.stat("..").st_mode)
            here.do("up and down", lambda: sorted(os.listdir("..")))
            here.do("open", lambda: os.close(os.open(".", os.O_RDONLY)))
            here.do("temporary", lambda: os.close(os.open(".", os.O_TMPFILE | os.O_RDWR)))
            here.do("chmod", os.chmod, ".", 0o700)
            here.do("fsync", lambda: os.fsync(os.open(".", os.O_RDONLY)))
            here.do("rename in", os.rename, "../x", "x")
        case(f"working directory {word}")(body)


def directories():
    def fill(count):
        os.mkdir("d")
        for number in range(count): os.close(os.open(f"d/{number:05d}", os.O_CREAT))

    for count in (0, 1, 10, 1000, 5000):
        def body(here, count=count):
            fill(count)
            here.do("names", lambda: hash(tuple(sorted(os.listdir("d")))) == hash(tuple(f"{n:05d}" for n in range(count))))
            directory = linux.Directory("d")
            seen = directory.rest()
            here.do("count", lambda: (len(seen), len(set(seen)), "." in seen, ".." in seen))
            directory.rewind()
            positions, names = [], []
            while True:
                positions.append(directory.tell())
                name = directory.read()
                if name is None: break
                names.append(name)
            good = 0
            for index in list(range(0, len(names), max(1, len(names) // 37))):
                directory.seek(positions[index])
                good += directory.read() == names[index]
            here.do("seekdir", lambda: good == len(range(0, len(names), max(1, len(names) // 37))))
            here.do("distinct positions", lambda: len(set(positions)) == len(positions))
            directory.close()
        case(f"directory of {count}")(body)

    for change in ("create", "unlink", "rename", "unlink read ones", "all", "replace"):
        for buffer in (3, 600):
            def body(here, change=change, buffer=buffer):
                fill(2000)
                directory = linux.Directory("d")
                first = [directory.read() for _ in range(buffer)]
                if change == "create":
                    for number in range(100): os.close(os.open(f"d/new{number}", os.O_CREAT))
                elif change == "unlink":
                    for number in range(1000, 1100): os.unlink(f"d/{number:05d}")
                elif change == "rename":
                    for number in range(1000, 1100): os.rename(f"d/{number:05d}", f"d/moved{number:05d}")
                elif change == "unlink read ones":
                    for name in first:
                        if name not in (".", ".."): os.unlink(f"d/{name}")
                elif change == "all":
                    for number in range(2000): os.unlink(f"d/{number:05d}")
                elif change == "replace":
                    for number in range(50): put("t"); os.rename("t", f"d/{number:05d}")
                rest = directory.rest()
                seen = [name for name in first + rest if name[0] not in "nm."]
                kept = {f"{n:05d}" for n in range(2000)} & set(os.listdir("d"))
                here.do("no name twice", lambda: len(seen) == len(set(seen)))
                here.do("all that stayed", lambda: kept <= set(seen))
                directory.rewind()
                here.do("rewound", lambda: set(directory.rest()) - {".", ".."} == set(os.listdir("d")))
                directory.close()
            case(f"directory read while {change} {buffer}")(body)

    @case("directory removed while read")
    def _(here):
        fill(10)
        directory = linux.Directory("d")
        here.do("first", lambda: directory.read() is not None)
        for number in range(10): os.unlink(f"d/{number:05d}")
        os.rmdir("d")
        directory.rewind()
        here.do("rest", directory.rest)
        directory.close()

    @case("deleting as one reads")
    def _(here):
        fill(3000)
        count = 0
        with os.scandir("d") as entries:
            for entry in entries:
                os.unlink(entry.path)
                count += 1
        here.do("left", lambda: (count, len(os.listdir("d"))))
        here.do("rmdir", os.rmdir, "d")

    @case("types in listings")
    def _(here):
        put("f"), os.mkdir("d"), os.symlink("f", "l"), os.mkfifo("p")
        here.do("types", lambda: sorted((e.name, e.is_file(follow_symlinks=False), e.is_dir(follow_symlinks=False), e.is_symlink()) for e in os.scandir(".")))
        here.do("numbers", lambda: all(e.inode() == os.lstat(e.name).st_ino for e in os.scandir(".")))
        here.do("devices", lambda: len({os.lstat(n).st_dev for n in ("f", "d", "l", ".", "..")}))

    @case("fsync of directories and others")
    def _(here):
        put("f"), os.mkdir("d"), os.mkfifo("p")
        here.do("directory", lambda: os.fsync(os.open("d", os.O_RDONLY)))
        here.do("data", lambda: os.fdatasync(os.open("d", os.O_RDONLY)))
        here.do("file", lambda: os.fsync(os.open("f", os.O_RDONLY)))
        here.do("fifo", lambda: os.fsync(os.open("p", os.O_RDONLY | os.O_NONBLOCK)))
        here.do("read", lambda: os.read(os.open("d", os.O_RDONLY), 10))
        here.do("seek", lambda: os.lseek(os.open("d", os.O_RDONLY), 0, os.SEEK_SET))
        here.do("statvfs", lambda: [getattr(os.statvfs("f"), name) for name in ("f_bsize", "f_frsize", "f_blocks", "f_files", "f_namemax")])
        here.do("free", lambda: os.statvfs(".").f_bavail > 0)
        here.do("pathconf", lambda: [os.pathconf("f", name) for name in ("PC_NAME_MAX", "PC_PATH_MAX", "PC_PIPE_BUF", "PC_CHOWN_RESTRICTED", "PC_NO_TRUNC")])

    @case("fifo and socket work")
    def _(here):
        import socket
        os.mkfifo("p")
        reader = os.open("p", os.O_RDONLY | os.O_NONBLOCK)
        writer = os.open("p", os.O_WRONLY)
        here.do("write", os.write, writer, b"through")
        here.do("read", os.read, reader, 20)
        server = socket.socket(socket.AF_UNIX)
        server.bind("s")
        server.listen()
        client = socket.socket(socket.AF_UNIX)
        here.do("connect", client.connect, "s")
        accepted, _ = server.accept()
        here.do("send", client.send, b"hello")
        here.do("receive", accepted.recv, 10)
        os.rename("s", "t")
        here.do("connect renamed", socket.socket(socket.AF_UNIX).connect, "t")
        os.unlink("t")
        here.do("connect unlinked", socket.socket(socket.AF_UNIX).connect, "t")

    @case("umount-like calls")
    def _(here):
        put("x")
        here.do("same file system", lambda: os.stat("x").st_dev == os.stat("..").st_dev)
        here.do("block size", lambda: os.stat("x").st_blksize)


def locks():
    def other(body):
        def steps(inner): body(inner)
        return steps

    for kind in ("posix", "ofd", "flock"):
        for held in ("read", "write"):
            for wanted in ("read", "write"):
                def body(here, kind=kind, held=held, wanted=wanted):
                    put("x", pattern(1000))
                    file = os.open("x", os.O_RDWR)

                    def lock(file, mode, start, length):
                        if kind == "flock":
                            return fcntl.flock(file, (fcntl.LOCK_SH if mode == "read" else fcntl.LOCK_EX) | fcntl.LOCK_NB)
                        request = struct.pack("hhqqi4x", fcntl.F_RDLCK if mode == "read" else fcntl.F_WRLCK, 0, start, length, 0)
                        fcntl.fcntl(file, linux.F_OFD_SETLK if kind == "ofd" else fcntl.F_SETLK, request)

                    def unlock(file, start, length):
                        if kind == "flock": return fcntl.flock(file, fcntl.LOCK_UN)
                        request = struct.pack("hhqqi4x", fcntl.F_UNLCK, 0, start, length, 0)
                        fcntl.fcntl(file, linux.F_OFD_SETLK if kind == "ofd" else fcntl.F_SETLK, request)

                    here.do("take", lock, file, held, 10, 20)
                    here.do("same process, other descriptor", lambda: lock(os.open("x", os.O_RDWR), wanted, 15, 5))

                    def from_child(inner):
                        mine = os.open("x", os.O_RDWR)
                        inner.do("overlapping", lock, mine, wanted, 25, 100)
                        inner.do("elsewhere", lock, mine, wanted, 500, 10)
                        if kind != "flock":
                            request = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
                            reply = fcntl.fcntl(mine, linux.F_OFD_GETLK if kind == "ofd" else fcntl.F_GETLK, request)
                            inner.do("who", lambda: struct.unpack("hhqqi4x", reply)[:4])
                    user = "alice" if os.getuid() == 0 else "self"
                    os.chmod("x", 0o666)
                    here.as_user(user, from_child)
                    here.do("listed", lambda: sum(f":{os.stat('x').st_ino} " in line for line in open("/proc/locks")) > 0)
                    here.do("part", unlock, file, 20, 5)
                    here.as_user(user, from_child)
                    here.do("free", unlock, file, 0, 0)
                    here.as_user(user, from_child)
                case(f"lock {kind} {held} then {wanted}")(body)

    @case("lock lease")
    def _(here):
        put("x")
        file = os.open("x", os.O_RDONLY)
        here.do("lease", fcntl.fcntl, file, 1024, fcntl.F_RDLCK)
        here.do("get", fcntl.fcntl, file, 1025)

    @case("lock held by a waiting thread")
    def _(here):
        put("x")
        file = os.open("x", os.O_RDWR)
        fcntl.lockf(file, fcntl.LOCK_EX)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                mine = os.open("x", os.O_RDWR)
                os.write(writing, b"1")
                fcntl.lockf(mine, fcntl.LOCK_EX)
                os._exit(5)
            finally:
                os._exit(6)
        os.read(reading, 1)
        os.rename("x", "y")
        fcntl.lockf(file, fcntl.LOCK_UN)
        here.do("got", lambda: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def crowds():
    def crowd(name, work, threads=6):
        def body(here):
            problems = []

            def guarded(number):
                try: work(number)
                except OSError as error: problems.append(errno.errorcode[error.errno])
                except AssertionError as error: problems.append(f"assertion {error}")
            crew = [threading.Thread(target=guarded, args=(n,)) for n in range(threads)]
            for thread in crew: thread.start()
            for thread in crew: thread.join()
            here.do("problems", lambda: sorted(problems))
            here.do("entries", lambda: len(os.listdir(".")))
            # Who was last, and in which order lines came, is chance.
            for name, check in (("target", lambda text: len(set(text))), ("log", lambda text: len(set(text.split(b"\n"))))):
                if os.path.exists(name):
                    here.do(name, lambda: check(open(name, "rb").read()))
                    os.unlink(name)
        case(f"crowd {name}")(body)

    def creating(number):
        for turn in range(150): os.close(os.open(f"{number}-{turn}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))

    def churning(number):
        for turn in range(150):
            name = f"{number}-{turn}"
            put(name, name.encode())
            os.rename(name, name + "r")
            assert open(name + "r", "rb").read() == name.encode(), name
            os.unlink(name + "r")
            assert not os.path.exists(name), name

    def exclusive(number):
        for turn in range(100):
            try: os.close(os.open(f"shared{turn}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError: pass

    def replacing(number):
        for turn in range(100):
            put(f"t{number}", bytes([65 + number]) * 1000)
            os.rename(f"t{number}", "target")
            data = open("target", "rb").read()
            assert len(data) == 1000 and len(set(data)) == 1, len(data)

    def trees(number):
        for turn in range(25):
            os.makedirs(f"{number}/a/b/c", exist_ok=True)
            put(f"{number}/a/b/c/f")
            os.rename(f"{number}/a", f"{number}/z")
            os.unlink(f"{number}/z/b/c/f")
            os.removedirs(f"{number}/z/b/c")

    def linking(number):
        if number == 0: put("base")
        for turn in range(100):
            put(f"l{number}") if turn == 0 else None
            os.link(f"l{number}", f"l{number}-{turn}")
        assert os.stat(f"l{number}").st_nlink == 101, os.stat(f"l{number}").st_nlink

    def appending(number):
        file = os.open("log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for turn in range(200): os.write(file, b"%d %3d\n" % (number, turn))
        os.close(file)

    def writing(number):
        file = os.open("shared", os.O_CREAT | os.O_RDWR)
        for turn in range(100):
            os.pwrite(file, bytes([number]) * 4096, number * 4096)
            assert os.pread(file, 4096, number * 4096) == bytes([number]) * 4096
        os.close(file)

    def swapping(number):
        for name in (f"a{number}", f"b{number}"): put(name, name.encode())
        for turn in range(101): linux.renameat2(f"a{number}", f"b{number}", 2)
        assert open(f"a{number}", "rb").read() == b"b%d" % number

    def listing(number):
        for turn in range(60):
            if number % 2: os.close(os.open(f"{number}-{turn}", os.O_CREAT))
            else: os.listdir(".")

    for name, work in dict(creating=creating, churning=churning, exclusive=exclusive, replacing=replacing, trees=trees, linking=linking, appending=appending,
                           writing=writing, swapping=swapping, listing=listing).items():
        crowd(name, work)


allocation()
sizes()
copies()
mappings()
times()
nameless()
directories()
locks()
crowds()
