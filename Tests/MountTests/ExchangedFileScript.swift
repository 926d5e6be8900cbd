// Calls on a file that the kernel has looked up, after another one has taken its name below, as a Python program:
// arguments are the directory, its mount, and a place for a secret. It prints a line for each call.

enum ExchangedFileScript {
    static let text = #"""
        import ctypes, errno, os, signal, sys

        libc = ctypes.CDLL(None, use_errno=True)
        below, mount, place = sys.argv[1:4]
        RAW = b"red"


        def text(path):
            with open(path, "rb") as file:
                return file.read()


        def state(path):
            found = os.lstat(path)
            names = sorted(name for name in os.listxattr(path) if not name.startswith("user.versionsfs"))
            return (found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_mtime_ns, found.st_nlink, names,
                    text(path))


        def opened(flags, act):
            def run(path):
                file = os.open(path, flags)
                try:
                    return act(file)
                finally:
                    os.close(file)
            return run


        def link(path):
            # AT_FDCWD, AT_SYMLINK_FOLLOW
            if libc.linkat(-100, path.encode(), -100, f"{mount}/linked".encode(), 0x400) != 0:
                raise OSError(ctypes.get_errno(), "linkat")


        calls = {
            "chmod": lambda path: os.chmod(path, 0o4777),
            "chown": lambda path: os.chown(path, 65534, 65534),
            "times": lambda path: os.utime(path, (1, 1)),
            "truncate": lambda path: os.truncate(path, 0),
            "set attribute": lambda path: os.setxattr(path, "user.colour", RAW),
            "remove attribute": lambda path: os.removexattr(path, "user.there"),
            "read attribute": lambda path: os.getxattr(path, "user.there"),
            "list attributes": lambda path: os.listxattr(path),
            "read": opened(os.O_RDONLY, lambda file: os.read(file, 100)),
            "write": opened(os.O_RDWR, lambda file: os.pwrite(file, b"X", 0)),
            "write only": opened(os.O_WRONLY, lambda file: os.pwrite(file, b"X", 0)),
            "append": opened(os.O_WRONLY | os.O_APPEND, lambda file: os.write(file, b"X")),
            "empty": opened(os.O_RDWR | os.O_TRUNC, lambda file: None),
            "link": link,
        }


        def stranger(kind, name):
            """What takes the name, and which file it leads to."""
            other = f"{place}/secret" if kind == "symlink" else f"{below}/other"
            for path in (other, name):
                if os.path.lexists(path):
                    os.unlink(path)
            if kind == "fifo":
                os.mkfifo(name, 0o600)
                return None
            with open(other, "wb") as file:
                file.write(b"SECRET")
            os.chmod(other, 0o600)
            os.setxattr(other, "user.there", b"SECRET")
            if kind == "symlink":
                os.symlink(other, name)
            else:
                # Another regular file, which the name's looks like.
                os.rename(other, name)
                return name
            return other


        def late(number, frame):
            raise OSError(errno.ETIMEDOUT, "it hangs")


        signal.signal(signal.SIGALRM, late)
        for kind in ("symlink", "file", "fifo"):
            for call, act in calls.items():
                name = f"{kind}-{call}".replace(" ", "-")
                with open(f"{below}/{name}", "wb") as file:
                    file.write(b"mine")
                os.setxattr(f"{below}/{name}", "user.there", b"mine")
                os.stat(f"{mount}/{name}")
                # The kernel knows the file from now on and does not look the name up again.
                held = os.open(f"{mount}/{name}", os.O_PATH)
                away = f"{below}/{name}.away"
                os.rename(f"{below}/{name}", away)
                own = state(away)
                other = stranger(kind, f"{below}/{name}")
                before = state(other) if other else None
                said = "nothing"
                signal.alarm(20)
                try:
                    result = act(f"/proc/self/fd/{held}")
                    said = "done"
                    if isinstance(result, bytes) and b"SECRET" in result:
                        said = "told the secret"
                except OSError as error:
                    said = errno.errorcode.get(error.errno, str(error.errno))
                signal.alarm(0)
                if other and state(other) != before:
                    said += ", changed the other file"
                if state(away) != own:
                    said += ", changed the file"
                if os.path.lexists(f"{mount}/linked"):
                    said += ", linked"
                    os.unlink(f"{mount}/linked")
                print(f"{kind} {call}: {said}", flush=True)
                os.close(held)
        """#
}
