# System calls that Python's os module lacks, by their C names; each raises OSError.

import ctypes
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW, AT_SYMLINK_NOFOLLOW = -100, 0x1000, 0x400, 0x100
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
F_OFD_GETLK, F_OFD_SETLK = 36, 37
FALLOC = {"plain": 0, "keep": 1, "punch": 3, "collapse": 8, "zero": 0x10, "zero-keep": 0x11, "insert": 0x20, "unshare": 0x40,
          "punch-nokeep": 2}


def check(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def renameat2(old, new, flags):
    return check(libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags))


def linkat(old, new, flags, directory=AT_FDCWD):
    return check(libc.linkat(directory, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags))


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path)


def fallocate(file, mode, offset, length):
    return check(libc.fallocate(file, mode, ctypes.c_long(offset), ctypes.c_long(length)))


def utimensat(path, accessed, modified, flags=0):
    """Times are (seconds, nanoseconds)."""
    times = struct.pack("qqqq", *accessed, *modified)
    return check(libc.utimensat(AT_FDCWD, os.fsencode(path), times, flags))


def statx(path, mask=0xfff, flags=0):
    """The fields mask, attributes and birth time (seconds) of statx(2)."""
    buffer = ctypes.create_string_buffer(256)
    check(libc.statx(AT_FDCWD, os.fsencode(path), flags, mask, buffer))
    known, _, attributes = struct.unpack_from("IIQ", buffer, 0)
    born, = struct.unpack_from("q", buffer, 80)
    return {"mask": known, "attributes": attributes, "born": born}


def statx_time(path):
    """The time of the last change of content, and nothing else of the file."""
    buffer = ctypes.create_string_buffer(256)
    check(libc.statx(AT_FDCWD, os.fsencode(path), 0, 0x40, buffer))
    return struct.unpack_from("qI", buffer, 112)


class Directory:
    """opendir(3) and its relatives."""

    def __init__(self, path):
        libc.opendir.restype = ctypes.c_void_p
        self.stream = libc.opendir(os.fsencode(path))
        if not self.stream:
            check(-1)

    def read(self):
        libc.readdir.restype = ctypes.c_void_p
        entry = libc.readdir(ctypes.c_void_p(self.stream))
        return ctypes.string_at(entry + 19).decode("utf-8", "surrogateescape") if entry else None

    def rest(self):
        names = []
        while (name := self.read()) is not None:
            names.append(name)
        return names

    def tell(self):
        libc.telldir.restype = ctypes.c_long
        return libc.telldir(ctypes.c_void_p(self.stream))

    def seek(self, position):
        libc.seekdir(ctypes.c_void_p(self.stream), ctypes.c_long(position))

    def rewind(self):
        libc.rewinddir(ctypes.c_void_p(self.stream))

    def close(self):
        libc.closedir(ctypes.c_void_p(self.stream))


def acl(*entries):
    """system.posix_acl_*: entries are (tag, permissions, id), tags u U g G m o as setfacl writes them (capitals: named)."""
    tags = {"u": 1, "U": 2, "g": 4, "G": 8, "m": 0x10, "o": 0x20}
    result = struct.pack("<I", 2)
    for tag, permissions, *who in entries:
        result += struct.pack("<HHI", tags[tag], permissions, who[0] if who else 0xffffffff)
    return result
