# Owners: modes, sticky and set-id bits, umask, access lists, extended attributes, several users.

import errno
import os
import stat

import linux
from open_cases import put
from suite import USERS, case

OPERATIONS = {
    "read": lambda: open("d/f").read(), "write": lambda: open("d/f", "r+").write("x"), "create": lambda: open("d/new", "x").close(),
    "unlink": lambda: os.unlink("d/f"), "rename": lambda: os.rename("d/f", "d/g"), "rename over": lambda: os.rename("d/f", "d/other"),
    "rename in": lambda: os.rename("own", "d/in"), "rename out": lambda: os.rename("d/f", "out"), "chmod": lambda: os.chmod("d/f", 0o604),
    "chown": lambda: os.chown("d/f", 1002, -1), "chgrp": lambda: os.chown("d/f", -1, 2000), "utime": lambda: os.utime("d/f", (1, 2)),
    "touch": lambda: os.utime("d/f"), "truncate": lambda: os.truncate("d/f", 1), "link": lambda: os.link("d/f", "d/l"),
    "mkdir": lambda: os.mkdir("d/sub"), "rmdir": lambda: os.rmdir("d/e"), "list": lambda: sorted(os.listdir("d")),
    "stat": lambda: os.stat("d/f"), "access": lambda: [os.access("d/f", m) for m in (4, 2, 1)], "exec": lambda: os.access("d/e", 1),
    "setxattr": lambda: os.setxattr("d/f", "user.x", b"y"), "getxattr": lambda: os.getxattr("d/f", "user.k"),
    "dir setxattr": lambda: os.setxattr("d", "user.x", b"y"), "trusted": lambda: os.setxattr("d/f", "trusted.x", b"y"),
    "listxattr": lambda: os.listxattr("d/f"), "mkfifo": lambda: os.mkfifo("d/p"), "symlink": lambda: os.symlink("t", "d/s"),
    "setuid": lambda: os.chmod("d/f", 0o4755), "setgid": lambda: os.chmod("d/f", 0o2755), "exchange": lambda: linux.renameat2("d/f", "d/other", 2),
}


def matrix():
    directories = {"open": (0o777, 0), "sticky": (0o1777, 0), "own sticky": (0o1777, 1001), "shared": (0o770, 0), "closed": (0o700, 0),
                   "search": (0o711, 0), "readable": (0o755, 0), "listless": (0o733, 0)}
    for user in ("alice", "carol"):
        for word, (mode, owner) in directories.items():
            for file_mode, file_owner in ((0o644, 1001), (0o664, 0), (0o600, 0), (0o666, 1002)):
                def body(here, user=user, mode=mode, owner=owner, file_mode=file_mode, file_owner=file_owner):
                    for label, operation in OPERATIONS.items():
                        os.mkdir("w")
                        os.chdir("w")
                        os.chmod(".", 0o777)
                        os.mkdir("d"), os.mkdir("d/e")
                        for name, uid in (("d/f", file_owner), ("d/other", 1002), ("own", USERS[user][0])):
                            put(name, name.encode(), file_mode)
                            os.chown(name, uid, 2000)
                        os.setxattr("d/f", "user.k", b"v")
                        os.chmod("d/f", file_mode)
                        os.chown("d", owner, 2000)
                        os.chmod("d", mode)
                        here.as_user(user, lambda inner: inner.do(label, operation))
                        os.chdir("..")
                        here.do("after", lambda: [(n, oct(os.lstat(f"w/d/{n}").st_mode), os.lstat(f"w/d/{n}").st_uid,
                                                   os.lstat(f"w/d/{n}").st_gid, os.lstat(f"w/d/{n}").st_nlink) for n in sorted(os.listdir("w/d"))])
                        os.rename("w", f"w.{label}")
                case(f"rights {user} in {word} {file_mode:o} of {file_owner}", needs_root=True)(body)


def modes():
    for user in ("root", "alice", "bob"):
        for mode in (0o4755, 0o2755, 0o6755, 0o2644, 0o6711, 0o1666, 0o7777, 0o6666):
            for word, change in {
                "write": lambda: os.pwrite(os.open("x", os.O_WRONLY), b"y", 0), "truncate": lambda: os.truncate("x", 1),
                "grow": lambda: os.truncate("x", 100), "same size": lambda: os.truncate("x", 5),
                "open truncating": lambda: os.close(os.open("x", os.O_WRONLY | os.O_TRUNC)),
                "append": lambda: os.write(os.open("x", os.O_WRONLY | os.O_APPEND), b"z"),
                "fallocate": lambda: linux.fallocate(os.open("x", os.O_WRONLY), 0, 0, 8192),
                "punch": lambda: linux.fallocate(os.open("x", os.O_WRONLY), 3, 0, 2), "chown": lambda: os.chown("x", -1, 2000),
                "chown self": lambda: os.chown("x", -1, -1), "chmod": lambda: os.chmod("x", mode),
                "utime": lambda: os.utime("x"), "chmod more": lambda: os.chmod("x", 0o6777), "setxattr": lambda: os.setxattr("x", "user.a", b"1"),
                "write nothing": lambda: os.write(os.open("x", os.O_WRONLY), b""),
                "copy": lambda: os.copy_file_range(os.open("x", os.O_RDONLY), os.open("x", os.O_WRONLY), 2, 0, 3),
                "rename": lambda: os.rename("x", "x"),
            }.items():
                def body(here, user=user, mode=mode, change=change, word=word):
                    put("x")
                    os.chmod(".", 0o777)
                    if os.getuid() == 0: os.chown("x", 1001, 1001)
                    os.chmod("x", mode | 0o022)
                    here.as_user(user, lambda inner: inner.do(word, change))
                    here.do("stat", os.stat, "x")
                    here.do("capability", lambda: os.listxattr("x"))
                case(f"set-id {user} {mode:o} {word}", needs_root=True)(body)

    def chown_while_written(here):
        writer = os.open("x", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.chmod(".", 0o777)
        os.chown("x", 1001, 1001)
        os.chmod("x", 0o6777)
        here.as_user("bob", lambda inner: inner.do("chown", os.chown, "x", -1, 2000))
        here.do("stat", os.stat, "x")
        os.close(writer)
    case("set-id bob while written chown", needs_root=True)(chown_while_written)

    for user in ("root", "alice"):
        for word, mode, owner, group in (("plain", 0o777, 0, 0), ("setgid", 0o2777, 0, 2000), ("setgid of root", 0o2777, 0, 0),
                                         ("setgid of another", 0o2777, 0, 1003), ("sticky setgid", 0o3777, 1002, 2000), ("setuid", 0o4777, 1002, 0)):
            def body(here, user=user, mode=mode, owner=owner, group=group):
                os.mkdir("d")
                os.chown("d", owner, group)
                os.chmod("d", mode)

                def steps(inner):
                    os.umask(0o002)
                    inner.do("file", lambda: os.close(os.open("d/f", os.O_CREAT | os.O_WRONLY, 0o666)))
                    inner.do("setgid file", lambda: os.close(os.open("d/g", os.O_CREAT | os.O_WRONLY, 0o2775)))
                    inner.do("setuid file", lambda: os.close(os.open("d/u", os.O_CREAT | os.O_WRONLY, 0o4775)))
                    inner.do("directory", os.mkdir, "d/d")
                    inner.do("inner", os.mkdir, "d/d/d", 0o700)
                    inner.do("fifo", os.mkfifo, "d/p", 0o2666)
                    inner.do("link", os.symlink, "t", "d/l")
                    inner.do("socket", os.mknod, "d/s", stat.S_IFSOCK | 0o777)
                    inner.do("rename", os.rename, "d/f", "d/renamed")
                    inner.do("temporary", lambda: os.fstat(os.open("d", os.O_TMPFILE | os.O_RDWR, 0o2770)))
                    inner.do("chmod", os.chmod, "d/d", 0o755)
                here.as_user(user, steps)
            case(f"created in {word} by {user}", needs_root=True)(body)

    for mode in (0o000, 0o444, 0o666, 0o755, 0o1777, 0o2755, 0o4755, 0o7777):
        def body(here, mode=mode):
            put("f"); os.mkdir("d"); os.symlink("f", "l"); os.mkfifo("p")
            for name in ("f", "d", "l", "p"):
                here.touches(f"chmod {name}", [name, "f", "."], os.chmod, name, mode)
                here.do("stat", os.lstat, name)
                here.touches(f"again {name}", [name], os.chmod, name, mode)
        case(f"chmod {mode:o}")(body)

    for uid, gid in ((1001, 2000), (-1, 7), (7, -1), (-1, -1), (0, 0), (4294967294, 4294967294), (65534, 65536)):
        def body(here, uid=uid, gid=gid):
            put("f", mode=0o6755); os.mkdir("d"); os.chmod("d", 0o6755); os.symlink("f", "l"); os.mkfifo("p")
            for name in ("f", "d", "l", "p"):
                here.touches(f"chown {name}", [name, "f", "."], os.lchown, name, uid, gid)
                here.do("stat", os.lstat, name)
        case(f"chown {uid} {gid}", needs_root=True)(body)


def access_lists():
    base = linux.acl(("u", 7), ("U", 6, 1002), ("g", 5), ("G", 4, 2000), ("m", 6), ("o", 0))
    lists = {
        "named": base, "minimal": linux.acl(("u", 6), ("g", 4), ("o", 4)), "masked": linux.acl(("u", 7), ("U", 7, 1001), ("g", 7), ("m", 1), ("o", 0)),
        "no mask": linux.acl(("u", 7), ("U", 7, 1001), ("g", 7), ("o", 0)), "empty": linux.acl(), "denied": linux.acl(("u", 0), ("g", 0), ("o", 0)),
        "unsorted": linux.acl(("o", 0), ("u", 7), ("g", 7)), "broken": b"\x02\0\0\0abc", "version": b"\x07\0\0\0",
    }
    for word, value in lists.items():
        for target in ("file", "directory"):
            for kind in ("access", "default"):
                def body(here, value=value, target=target, kind=kind):
                    put("x") if target == "file" else os.mkdir("x")
                    attribute = f"system.posix_acl_{kind}"
                    here.touches("set", ["x"], os.setxattr, "x", attribute, value)
                    here.do("get", os.getxattr, "x", attribute)
                    here.do("mode", os.stat, "x")
                    here.do("list", lambda: sorted(os.listxattr("x")))
                    here.do("chmod", os.chmod, "x", 0o750)
                    here.do("get", os.getxattr, "x", attribute)
                    if target == "directory":
                        for mask in (0o022, 0o077):
                            os.umask(mask)
                            here.do("file", lambda: os.close(os.open(f"x/f{mask}", os.O_CREAT | os.O_WRONLY, 0o666)))
                            here.do("sub", os.mkdir, f"x/d{mask}", 0o777)
                            here.do("fifo", os.mkfifo, f"x/p{mask}", 0o666)
                            here.do("temporary", lambda: os.fstat(os.open("x", os.O_TMPFILE | os.O_RDWR, 0o666)))
                            for name in (f"f{mask}", f"d{mask}", f"p{mask}"):
                                here.do(f"acl {name}", os.getxattr, f"x/{name}", "system.posix_acl_access")
                            here.do("default", os.getxattr, f"x/d{mask}", "system.posix_acl_default")
                    for user in ("alice", "bob", "carol"):
                        if os.getuid() == 0:
                            here.as_user(user, lambda inner: (
                                inner.do("read", lambda: os.listdir("x") if target == "directory" else open("x").read()),
                                inner.do("write", lambda: open("x/n" if target == "directory" else "x", "a").close()),
                                inner.do("access", lambda: [os.access("x", m) for m in (4, 2, 1)])))
                    here.do("remove", os.removexattr, "x", attribute)
                    here.do("remove again", os.removexattr, "x", attribute)
                    here.do("stat", os.stat, "x")
                case(f"acl {word} {kind} on {target}")(body)

    @case("acl and a setgid directory", needs_root=True)
    def _(here):
        os.mkdir("d")
        os.chown("d", 0, 2000)
        os.chmod("d", 0o2775)
        os.setxattr("d", "system.posix_acl_default", base)
        here.as_user("bob", lambda inner: (
            inner.do("file", lambda: os.close(os.open("d/f", os.O_CREAT | os.O_WRONLY, 0o777))), inner.do("dir", os.mkdir, "d/d"),
            inner.do("stat", os.stat, "d/d"), inner.do("acl", os.getxattr, "d/f", "system.posix_acl_access"),
            inner.do("not mine", os.setxattr, "d", "system.posix_acl_access", base)))


def extended():
    values = {"small": b"v", "empty": b"", "zero": b"\0\0", "1 KiB": b"k" * 1024, "4000": b"x" * 3900, "64 KiB": b"y" * 65536, "too big": b"z" * 65537}
    for target in ("file", "directory", "link", "fifo"):
        for space in ("user", "trusted", "security", "system", "nowhere", "user."):
            def body(here, target=target, space=space):
                {"file": lambda: put("x"), "directory": lambda: os.mkdir("x"), "link": lambda: os.symlink("t", "x"), "fifo": lambda: os.mkfifo("x")}[target]()
                name = f"{space}.attribute" if space != "user." else "user."
                for word, value in values.items():
                    if word in ("4000", "64 KiB") : continue
                    here.do(f"set {word}", os.setxattr, "x", name, value, 0, follow_symlinks=False)
                    here.do("get", os.getxattr, "x", name, follow_symlinks=False)
                here.do("create", os.setxattr, "x", name, b"c", os.XATTR_CREATE, follow_symlinks=False)
                here.do("replace", os.setxattr, "x", name, b"r", os.XATTR_REPLACE, follow_symlinks=False)
                here.do("replace none", os.setxattr, "x", name + "2", b"r", os.XATTR_REPLACE, follow_symlinks=False)
                here.do("list", lambda: sorted(os.listxattr("x", follow_symlinks=False)))
                here.do("as another", lambda: None)
                if os.getuid() == 0:
                    here.as_user("alice", lambda inner: (
                        inner.do("get", os.getxattr, "x", name, follow_symlinks=False), inner.do("set", os.setxattr, "x", name, b"a", follow_symlinks=False),
                        inner.do("list", lambda: sorted(os.listxattr("x", follow_symlinks=False)))))
                here.do("remove", os.removexattr, "x", name, follow_symlinks=False)
                here.do("remove again", os.removexattr, "x", name, follow_symlinks=False)
                here.do("get", os.getxattr, "x", name, follow_symlinks=False)
            case(f"xattr {space} on {target}")(body)

    @case("xattr names and sizes")
    def _(here):
        put("x")
        for length in (1, 200, 250, 251, 255):
            here.do(f"name {length}", os.setxattr, "x", "user." + "n" * length, b"v")
        here.do("odd", os.setxattr, "x", b"user.\xff\n", b"v")
        for number in range(20):
            here.do("many", os.setxattr, "x", f"user.many{number}", bytes([number]) * 20)
        here.do("list", lambda: sorted(os.listxattr("x")))
        file = os.open("x", os.O_RDWR)
        here.do("fset", os.setxattr, file, "user.f", b"1")
        here.do("fget", os.getxattr, file, "user.f")
        os.unlink("x")
        here.do("fset unlinked", os.setxattr, file, "user.g", b"2")
        here.do("flist unlinked", lambda: len(os.listxattr(file)))
        here.do("fremove unlinked", os.removexattr, file, "user.g")
        os.close(file)

    @case("xattr capability", needs_root=True)
    def _(here):
        value = bytes.fromhex("0100000202000000000000000000000000000000")
        put("x", mode=0o755)
        here.do("set", os.setxattr, "x", "security.capability", value)
        here.do("get", os.getxattr, "x", "security.capability")
        here.do("write", lambda: os.write(os.open("x", os.O_WRONLY), b"y"))
        here.do("get", os.getxattr, "x", "security.capability")
        here.do("set", os.setxattr, "x", "security.capability", value)
        here.do("truncate", os.truncate, "x", 0)
        here.do("get", os.getxattr, "x", "security.capability")
        here.do("set", os.setxattr, "x", "security.capability", value)
        here.do("chown", os.chown, "x", 1001, 1001)
        here.do("get", os.getxattr, "x", "security.capability")
        here.do("set", os.setxattr, "x", "security.capability", value)
        here.do("chmod", os.chmod, "x", 0o700)
        here.do("get", os.getxattr, "x", "security.capability")
        here.do("open truncating", lambda: os.close(os.open("x", os.O_WRONLY | os.O_TRUNC)))
        here.do("get", os.getxattr, "x", "security.capability")


matrix()
modes()
access_lists()
extended()
