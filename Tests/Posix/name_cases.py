# Names: rename of every kind onto every kind, links, removals, new nodes, odd names.

import errno
import os
import stat

import linux
from open_cases import make, put
from suite import case

KINDS = ["absent", "file", "directory", "full", "link", "directory-link", "fifo", "hard", "null"]


def make_at(kind, name):
    """Makes `name` of a kind, in the current directory."""
    if kind == "absent": return
    if kind == "full":
        os.mkdir(name)
        put(os.path.join(name, "inside"), name.encode())
    elif kind == "file": put(name, b"content of " + name.encode())
    elif kind == "directory": os.mkdir(name)
    elif kind == "link": os.symlink("t" + name, name)
    elif kind == "directory-link": os.mkdir("d" + name); os.symlink("d" + name, name)
    elif kind == "fifo": os.mkfifo(name)
    elif kind == "hard":
        if not os.path.exists("shared"): put("shared", b"shared")
        os.link("shared", name)
    elif kind == "null": os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(1, 3))


RENAMES = {"plain": 0, "noreplace": 1, "exchange": 2, "whiteout": 4, "both": 3, "unknown": 64}


def renames():
    for old in KINDS:
        for new in KINDS:
            for word, flags in RENAMES.items():
                if word in ("both", "unknown") and (old, new) not in (("file", "file"), ("directory", "absent"), ("file", "absent")):
                    continue
                def body(here, old=old, new=new, flags=flags):
                    os.mkdir("from"), os.mkdir("to")
                    os.chdir("from")
                    make_at(old, "a")
                    os.chdir("../to")
                    if new == "hard" and old == "hard": os.link("../from/shared", "shared")
                    make_at(new, "b")
                    os.chdir("..")
                    numbers = [os.lstat(p).st_ino if os.path.lexists(p) else 0 for p in ("from/a", "to/b")]
                    here.touches("rename", ["from", "to", "to/b"], linux.renameat2, "from/a", "to/b", flags)
                    after = [os.lstat(p).st_ino if os.path.lexists(p) else 0 for p in ("from/a", "to/b")]
                    here.say([numbers.index(n) if n in numbers else "other" for n in after])
                    here.do("stat a", os.lstat, "from/a")
                    here.do("stat b", os.lstat, "to/b")
                case(f"rename {old} to {new} {word}", needs_root="null" in (old, new) or word == "whiteout")(body)


def odd_renames():
    def simple(name, prepare, old, new, flags=0, root=False):
        def body(here):
            prepare()
            here.do("rename", linux.renameat2, old, new, flags)
        case(f"rename {name}", needs_root=root)(body)
    simple("into itself", lambda: os.makedirs("a/b"), "a", "a/b/c")
    simple("onto its parent", lambda: os.makedirs("a/b"), "a/b", "a")
    simple("to the same name", lambda: put("a"), "a", "a")
    simple("to the same name noreplace", lambda: put("a"), "a", "a", 1)
    simple("to the same name exchange", lambda: put("a"), "a", "a", 2)
    simple("file with a slash", lambda: put("a"), "a", "b/")
    simple("directory with a slash", lambda: os.mkdir("a"), "a/", "b/")
    simple("dot", lambda: None, ".", "b")
    simple("dot dot", lambda: os.mkdir("a"), "a/..", "b")
    simple("to dot", lambda: os.mkdir("a"), "a", ".")
    simple("to a long name", lambda: put("a"), "a", "n" * 256)
    simple("to the longest name", lambda: put("a"), "a", "n" * 255)
    simple("empty", lambda: put("a"), "a", "")
    simple("across devices", lambda: put("a"), "a", "/dev/shm/versionsfs-posix-none")
    simple("exchange parent and child", lambda: os.makedirs("a/b"), "a", "a/b", 2)
    simple("exchange of directories", lambda: (os.makedirs("a/x"), os.makedirs("b/y")), "a", "b", 2)

    @case("rename of an open file")
    def _(here):
        put("a", b"one"); put("b", b"two")
        file, other = os.open("a", os.O_RDWR), os.open("b", os.O_RDWR)
        os.rename("a", "b")
        here.do("nlink of a", lambda: os.fstat(file).st_nlink)
        here.do("nlink of displaced", lambda: os.fstat(other).st_nlink)
        here.do("stat displaced", os.fstat, other)
        here.do("write", os.pwrite, file, b"ONE!", 0)
        here.do("write displaced", os.pwrite, other, b"TWO!!", 0)
        here.do("read", os.pread, file, 9, 0)
        here.do("read displaced", os.pread, other, 9, 0)
        here.do("truncate displaced", os.ftruncate, other, 1)
        here.do("chmod displaced", os.fchmod, other, 0o600)
        here.do("stat displaced", os.fstat, other)
        os.close(file); os.close(other)

    @case("rename of directories around an open one")
    def _(here):
        os.makedirs("a/b"); os.mkdir("c")
        here_fd = os.open("a/b", os.O_RDONLY)
        os.rename("a", "c/d")
        here.do("create", lambda: os.close(os.open("f", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=here_fd)))
        here.do("list", os.listdir, here_fd)
        os.rename("c/d/b", "e")
        here.do("parent", lambda: os.stat("..", dir_fd=here_fd).st_ino == os.stat(".").st_ino)
        os.close(here_fd)


def removals():
    for kind in KINDS + ["loop", "socket", "closed", "setuid", "dangling"]:
        for word in ["unlink", "rmdir", "unlink-slash", "rmdir-slash", "link", "link-follow", "readlink", "chdir", "listdir", "truncate",
                     "statvfs", "mkdir", "symlink", "mkfifo", "lchown", "utime"]:
            def body(here, kind=kind, word=word):
                if kind in KINDS: make_at(kind, "x")
                else: make(kind)
                steps = {
                    "unlink": lambda: os.unlink("x"), "rmdir": lambda: os.rmdir("x"), "unlink-slash": lambda: os.unlink("x/"),
                    "rmdir-slash": lambda: os.rmdir("x/"), "link": lambda: linux.linkat("x", "new", 0),
                    "link-follow": lambda: linux.linkat("x", "new", linux.AT_SYMLINK_FOLLOW), "readlink": lambda: os.readlink("x"),
                    "chdir": lambda: os.chdir("x"), "listdir": lambda: os.listdir("x"), "truncate": lambda: os.truncate("x", 3),
                    "statvfs": lambda: os.statvfs("x").f_namemax, "mkdir": lambda: os.mkdir("x"), "symlink": lambda: os.symlink("q", "x"),
                    "mkfifo": lambda: os.mkfifo("x"), "lchown": lambda: os.lchown("x", os.getuid(), os.getgid()),
                    "utime": lambda: os.utime("x", (1, 2), follow_symlinks=False),
                }
                watched = [p for p in (".", "x", "shared") if os.path.lexists(p)]
                here.touches(word, watched, steps[word])
            case(f"{word} {kind}", needs_root=kind == "null")(body)


def nodes():
    kinds = {"file": stat.S_IFREG, "fifo": stat.S_IFIFO, "socket": stat.S_IFSOCK, "char": stat.S_IFCHR, "block": stat.S_IFBLK,
             "directory": stat.S_IFDIR, "none": 0, "link": stat.S_IFLNK}
    for word, kind in kinds.items():
        for mode in (0o644, 0o4755, 0o2711, 0o1777, 0):
            for mask in (0o022, 0o077):
                def body(here, kind=kind, mode=mode, mask=mask):
                    os.umask(mask)
                    here.do("mknod", os.mknod, "x", kind | mode, os.makedev(12, 34567))
                    here.do("again", os.mknod, "x", kind | mode, os.makedev(12, 3))
                case(f"mknod {word} {mode:o} {mask:o}", needs_root=word in ("char", "block"))(body)
    for mode in (0o777, 0o1777, 0o2777, 0o4777, 0o000, 0o700):
        for mask in (0o022, 0o077, 0o000):
            def body(here, mode=mode, mask=mask):
                os.umask(mask)
                here.touches("mkdir", ["."], os.mkdir, "d", mode)
                here.touches("mkdir inside", [".", "d"], os.mkdir, "d/e", mode)
                here.touches("rmdir", [".", "d"], os.rmdir, "d/e")
                here.do("create", lambda: os.close(os.open("f", os.O_CREAT | os.O_WRONLY, mode)))
            case(f"mkdir {mode:o} {mask:o}")(body)


def odd_names():
    odd = {
        "255 bytes": b"n" * 255, "256 bytes": b"n" * 256, "255 odd bytes": bytes((i % 254) + 1 for i in range(255)).replace(b"/", b"_"),
        "newline": b"a\nb", "not UTF-8": b"\xff\xfe\x80", "backslash": b"a\\b", "spaces": b"  ", "dots": b"...", "dash": b"-rf",
        "quote": b"'\"", "tilde": b"~", "control": b"\x01\x1b[31m", "combining": "é".encode(), "composed": "é".encode(),
        "star": b"*", "deep path": b"/".join([b"d" * 100] * 30), "too long path": b"/".join([b"d" * 100] * 60), "empty": b"",
        "dot": b".", "dot dot": b"..", "colon": b"C:", "temporary": b"f.tmp", "backup": b"f~", "swap": b".f.swp", "4913": b"4913",
        "sed": b"sedA1b2C3", "hash": b"#f#", "lock": b".#f", "hidden": b".hidden", "fuse": b".fuse_hidden00000001", "nfs": b".nfs001",
        "state inside": b"d/.versionsfs",
    }
    for word, name in odd.items():
        def body(here, name=name):
            if b"/" in name:
                here.do("makedirs", os.makedirs, os.path.dirname(name), exist_ok=True)
            here.do("create", lambda: os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)))
            here.do("stat", os.lstat, name)
            here.do("list", lambda: [len(n) for n in os.listdir(b".")])
            here.do("link", os.link, name, name + b"l")
            here.do("rename", os.rename, name, b"other")
            here.do("back", os.rename, b"other", name)
            here.do("chmod", os.chmod, name, 0o700)
            here.do("setxattr", os.setxattr, name, "user.a", b"b")
            here.do("unlink", os.unlink, name)
            here.do("mkdir", os.mkdir, name)
            here.do("symlink", os.symlink, name, b"sym")
            here.do("rmdir", os.rmdir, name)
        case(f"name {word}")(body)

    @case("symlink targets")
    def _(here):
        for length in (1, 59, 60, 255, 4000, 4094, 4095, 4096):
            here.do(f"symlink {length}", os.symlink, "t" * length, f"s{length}")
            here.do(f"readlink {length}", lambda: len(os.readlink(f"s{length}")))
        here.do("empty", os.symlink, "", "empty")
        here.do("bytes", os.symlink, b"\xff\n", b"odd")
        here.do("readlink", os.readlink, b"odd")

    @case("many hard links")
    def _(here):
        put("x")
        for number in range(300):
            os.link("x", f"l{number}")
        here.do("nlink", lambda: os.stat("x").st_nlink)
        for number in range(0, 300, 3):
            os.unlink(f"l{number}")
        here.do("nlink", lambda: os.stat("x").st_nlink)
        here.do("same", lambda: os.stat("l1").st_ino == os.stat("x").st_ino)
        for number in range(300):
            if number % 3:
                os.unlink(f"l{number}")
        here.do("nlink", lambda: os.stat("x").st_nlink)
        os.mkdir("d")
        here.do("directory", os.link, "d", "e")

    def several(kind, root=False):
        @case(f"links of a {kind} counted", needs_root=root)
        def _(here):
            if kind == "symlink": os.symlink("target", "a")
            elif kind == "socket": linux.make_socket("a")
            else: os.mknod("a", {"fifo": stat.S_IFIFO, "character": stat.S_IFCHR, "block": stat.S_IFBLK}[kind] | 0o600,
                           os.makedev(1, 3) if root else 0)
            for name in "bcde":
                os.link("a", name, follow_symlinks=False)
            here.do("nlink", lambda: os.lstat("a").st_nlink)
            here.touches("unlink", ["a"], os.unlink, "b")
            here.do("nlink", lambda: os.lstat("a").st_nlink)
            put("file", b"x")
            here.do("rename over", os.rename, "file", "c")
            here.do("nlink", lambda: os.lstat("a").st_nlink)
            here.do("rename to its own", os.rename, "d", "e")
            here.do("nlink", lambda: os.lstat("a").st_nlink)
            os.mkdir("inner")
            os.rename("e", "inner/e")
            os.unlink("inner/e")
            os.rmdir("inner")
            here.do("nlink", lambda: os.lstat("a").st_nlink)

    for kind in ["symlink", "fifo", "socket"]: several(kind)
    for kind in ["character", "block"]: several(kind, root=True)

    @case("links of directories counted")
    def _(here):
        os.mkdir("d")
        for number in range(5):
            os.mkdir(f"d/{number}")
            here.do("nlink", lambda: os.stat("d").st_nlink)
        os.rename("d/0", "e")
        here.do("nlink", lambda: (os.stat("d").st_nlink, os.stat(".").st_nlink))
        os.rmdir("d/1")
        here.do("nlink", lambda: os.stat("d").st_nlink)
        os.rename("d/2", "d/3")
        here.do("nlink", lambda: os.stat("d").st_nlink)


renames()
odd_renames()
removals()
nodes()
odd_names()
