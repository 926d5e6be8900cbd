# open(2): every kind of name, every way to open it, as root and as somebody else.

import os
import socket
import stat

from suite import case

KINDS = ["absent", "file", "directory", "link", "directory-link", "dangling", "loop", "fifo", "socket", "null", "nodevice",
         "setuid", "hard", "closed", "readonly", "parent-file", "slash"]
FLAGS = {
    "plain": 0, "create": os.O_CREAT, "exclusive": os.O_CREAT | os.O_EXCL, "truncate": os.O_TRUNC,
    "create-truncate": os.O_CREAT | os.O_TRUNC, "append": os.O_APPEND, "nofollow": os.O_NOFOLLOW,
    "create-nofollow": os.O_CREAT | os.O_NOFOLLOW, "directory": os.O_DIRECTORY, "create-directory": os.O_CREAT | os.O_DIRECTORY,
    "path": os.O_PATH, "path-nofollow": os.O_PATH | os.O_NOFOLLOW, "tmpfile": os.O_TMPFILE, "direct": os.O_DIRECT,
    "noatime": os.O_NOATIME, "sync": os.O_SYNC, "exclusive-only": os.O_EXCL,
}
ACCESS = {"read": os.O_RDONLY, "write": os.O_WRONLY, "both": os.O_RDWR}


def put(name, data=b"hello", mode=None):
    with open(name, "wb") as file:
        file.write(data)
    if mode is not None:
        os.chmod(name, mode)


def make(kind):
    """Makes the name `x` of a kind and returns what to open."""
    if kind == "file": put("x")
    elif kind == "directory": os.mkdir("x")
    elif kind == "link": put("target"); os.symlink("target", "x")
    elif kind == "directory-link": os.mkdir("target"); os.symlink("target", "x")
    elif kind == "dangling": os.symlink("nowhere", "x")
    elif kind == "loop": os.symlink("x", "x")
    elif kind == "fifo": os.mkfifo("x")
    elif kind == "socket":
        server = socket.socket(socket.AF_UNIX)
        server.bind("x")
        server.close()
    elif kind == "null": os.mknod("x", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    elif kind == "nodevice": os.mknod("x", stat.S_IFBLK | 0o666, os.makedev(250, 77))
    elif kind == "setuid": put("x", mode=0o6777)
    elif kind == "hard": put("x"); os.link("x", "y")
    elif kind == "closed": put("x", mode=0o000)
    elif kind == "readonly": put("x", mode=0o444)
    elif kind == "parent-file": put("x"); return "x/y"
    elif kind == "slash": put("x"); return "x/"
    return "x"


def attempt(here, path, flags):
    file = here.do("open", lambda: os.open(path, flags | os.O_NONBLOCK, 0o640) and 1)
    if isinstance(file, OSError):
        return
    # The name may exist now: exclusive creation is not repeated.
    file = os.open(path, flags & ~os.O_EXCL | os.O_NONBLOCK | (os.O_EXCL if flags & os.O_TMPFILE == os.O_TMPFILE else 0), 0o640)
    try:
        here.do("fstat", os.fstat, file)
        if stat.S_ISREG(os.fstat(file).st_mode) and not flags & os.O_DIRECT:
            here.do("write", os.write, file, b"WW")
            here.do("pread", os.pread, file, 10, 0)
            here.do("seek end", os.lseek, file, 0, os.SEEK_END)
            here.do("truncate", os.ftruncate, file, 3)
            here.do("fstat after", os.fstat, file)
            here.do("fchmod", os.fchmod, file, 0o600)
    finally:
        os.close(file)


def generate():
    for kind in KINDS:
        for word, flags in FLAGS.items():
            for access, mode in ACCESS.items():
                def body(here, kind=kind, flags=flags | mode):
                    attempt(here, make(kind), flags)
                case(f"open {kind} {word} {access}", needs_root=kind in ("null", "nodevice"))(body)
    for kind in ["absent", "file", "directory", "closed", "readonly", "setuid", "link", "null"]:
        for word in ["plain", "create", "exclusive", "truncate", "append", "path", "noatime", "tmpfile"]:
            for access, mode in ACCESS.items():
                def body(here, kind=kind, flags=FLAGS[word] | mode):
                    path = make(kind)
                    here.as_user("alice", lambda inner: attempt(inner, path, flags))
                    os.chmod(".", 0o777)
                    here.as_user("alice", lambda inner: attempt(inner, path, flags))
                case(f"open by another {kind} {word} {access}", needs_root=True)(body)


generate()
