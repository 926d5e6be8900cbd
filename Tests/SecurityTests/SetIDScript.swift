// Calls of users on files that have set-id bits or a capability, as a Python program: it runs in a bare directory and
// in a container, as root, and prints a line for each case.

enum SetIDScript {
    static let text = #"""
        import ctypes, mmap, os, stat, struct, sys

        libc = ctypes.CDLL(None, use_errno=True)
        CAPABILITY, ACCESS = "security.capability", "system.posix_acl_access"
        RAW = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
        OWNER, MEMBER, GROUP = 5, 65534, 6001
        TEXT = b"x" * 8192
        place = sys.argv[1]
        os.umask(0)


        class Case:
            """A file that root makes, and what somebody does with it."""

            def __init__(
                self, name, act, mode=0o6775, owner=0, user=MEMBER, groups=(GROUP,), capability=False, meanwhile=None
            ):
                self.name, self.act, self.mode, self.owner = name, act, mode, owner
                self.user, self.groups, self.capability, self.meanwhile = user, groups, capability, meanwhile

            def run(self):
                path = os.path.join(place, self.name.replace(" ", "-"))
                with open(path, "wb") as file:
                    file.write(TEXT)
                os.chown(path, self.owner, GROUP)
                if self.capability:
                    os.setxattr(path, CAPABILITY, RAW)
                os.chmod(path, self.mode)
                asked, asking = os.pipe()
                told, telling = os.pipe()
                inherited = os.open(path, os.O_RDWR)
                child = os.fork()
                if child == 0:
                    os.close(asking)
                    result = 70
                    try:
                        os.setgroups(self.groups)
                        os.setresgid(self.user, self.user, self.user)
                        os.setresuid(self.user, self.user, self.user)
                        os.set_inheritable(inherited, True)
                        if not self.name.startswith("inherited"):
                            os.close(inherited)

                        def pause():
                            os.write(telling, b"1")
                            os.read(asked, 1)

                        self.act(path, pause, inherited)
                        result = 0
                    except OSError as error:
                        result = error.errno
                    finally:
                        os._exit(result)
                os.close(telling)
                os.close(inherited)
                # What root does once the other has the file open.
                if os.read(told, 1) and self.meanwhile:
                    self.meanwhile(path)
                os.close(asking)
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                for end in (asked, told):
                    os.close(end)
                found = os.stat(path)
                try:
                    capability = len(os.getxattr(path, CAPABILITY))
                except OSError as error:
                    capability = -error.errno
                print(f"{self.name}: {stat.S_IMODE(found.st_mode):o} {found.st_uid}:{found.st_gid}"
                      f" capability {capability} size {found.st_size} result {status}", flush=True)


        def opened(flags, act):
            def run(path, pause, _):
                file = os.open(path, flags)
                pause()
                act(file)
                os.close(file)
            return run


        def write(file):
            os.pwrite(file, b"evil", 0)


        def direct(file):
            with mmap.mmap(-1, 4096) as page:
                os.pwritev(file, [page], 0)


        def fallocate(mode, length):
            def run(file):
                if libc.fallocate(file, mode, ctypes.c_long(0), ctypes.c_long(length)) != 0:
                    raise OSError(ctypes.get_errno(), "fallocate")
            return run


        def copied(call):
            def run(file):
                source = os.memfd_create("source")
                os.write(source, TEXT)
                call(source, file)
            return run


        def copy_range(path, pause, _):
            mine = os.open(path, os.O_RDWR)
            os.copy_file_range(mine, mine, 4096, 0, 4096)
            os.close(mine)


        def spliced(file):
            out, into = os.pipe()
            os.write(into, b"evil")
            os.splice(out, file, 4, offset_dst=0)


        def mapped(outlives):
            def run(path, pause, _):
                file = os.open(path, os.O_RDWR)
                memory = mmap.mmap(file, 4096)
                if outlives:
                    os.close(file)
                pause()
                memory[0:4] = b"evil"
                memory.flush()
                memory.close()
                if not outlives:
                    os.close(file)
            return run


        def created(path, pause, _):
            file = os.open(path + ".new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o4755)
            write(file)
            os.close(file)
            os.rename(path + ".new", path)


        def nameless(path, pause, _):
            file = os.open(place, os.O_RDWR | os.O_TMPFILE, 0o4755)
            write(file)
            if libc.linkat(-100, b"/proc/self/fd/%d" % file, -100, (path + ".new").encode(), 0x400) != 0:
                raise OSError(ctypes.get_errno(), "linkat")
            os.close(file)
            os.rename(path + ".new", path)


        def owner_late(path, pause, _):
            file = os.open(path, os.O_RDWR)
            os.fchmod(file, 0o4755)
            write(file)
            os.close(file)


        def uring(path, pause, _):
            """One write by io_uring, after the bits have come."""
            file = os.open(path, os.O_RDWR)
            parameters = (ctypes.c_uint32 * 30)()
            ring = libc.syscall(425, 4, parameters)
            if ring < 0:
                raise OSError(ctypes.get_errno(), "io_uring_setup")
            # struct io_uring_params: sq_entries, cq_entries, flags, ..., then the offsets of both rings.
            sq = dict(zip(("head", "tail", "mask", "entries", "flags", "dropped", "array"), parameters[10:17]))
            cq = dict(zip(("head", "tail", "mask", "entries", "overflow", "cqes"), parameters[20:26]))
            rings = mmap.mmap(ring, max(sq["array"] + 16, cq["cqes"] + 16 * parameters[1]), offset=0)
            entries = mmap.mmap(ring, 64 * 4, offset=0x10000000)
            text = ctypes.create_string_buffer(b"evil")
            pause()
            # IORING_OP_WRITE
            entries[0:64] = struct.pack("<BBHiQQII", 23, 0, 0, file, 0, ctypes.addressof(text), 4, 0) + bytes(32)
            rings[sq["array"]:sq["array"] + 4] = struct.pack("<I", 0)
            rings[sq["tail"]:sq["tail"] + 4] = struct.pack("<I", 1)
            if libc.syscall(426, ring, 1, 1, 1, None, 0) < 0:
                raise OSError(ctypes.get_errno(), "io_uring_enter")
            result = struct.unpack("<i", rings[cq["cqes"] + 8:cq["cqes"] + 12])[0]
            if result < 0:
                raise OSError(-result, "write")
            os.close(file)


        def access_list(path, pause, _):
            entries = [(1, 7, 0xFFFFFFFF), (2, 4, 1), (4, 5, 0xFFFFFFFF), (16, 5, 0xFFFFFFFF), (32, 5, 0xFFFFFFFF)]
            os.setxattr(path, ACCESS, struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries))


        def changes(act):
            return lambda path, pause, _: act(path)


        def sets(mode):
            return lambda path: os.chmod(path, mode)


        RDWR, WRONLY = os.O_RDWR, os.O_WRONLY
        cases = [
            Case("write", opened(RDWR, write)),
            Case("write only", opened(WRONLY, write)),
            Case("append", opened(RDWR | os.O_APPEND, write)),
            Case("empty at open", opened(RDWR | os.O_TRUNC, lambda file: None)),
            Case("empty and write", opened(RDWR | os.O_TRUNC, write)),
            Case("direct", opened(RDWR | os.O_DIRECT, direct)),
            Case("synchronous", opened(RDWR | os.O_SYNC, write)),
            Case("fallocate", opened(RDWR, fallocate(0, 16384))),
            Case("fallocate keeping size", opened(RDWR, fallocate(1, 16384))),
            Case("punch a hole", opened(RDWR, fallocate(3, 4096))),
            Case("zero a range", opened(RDWR, fallocate(16, 4096))),
            Case("ftruncate", opened(RDWR, lambda file: os.ftruncate(file, 100))),
            Case("ftruncate further", opened(RDWR, lambda file: os.ftruncate(file, 10000))),
            Case("truncate", changes(lambda path: os.truncate(path, 100))),
            Case("truncate to the same size", changes(lambda path: os.truncate(path, len(TEXT)))),
            Case("copy range", copy_range),
            Case("sendfile", opened(RDWR, copied(lambda source, file: os.sendfile(file, source, 0, 4)))),
            Case("splice", opened(RDWR, spliced)),
            Case("vector", opened(RDWR, lambda file: os.pwritev(file, [b"ev", b"il"], 0, os.RWF_DSYNC))),
            Case("nothing", opened(RDWR, lambda file: os.pwrite(file, b"", 0))),
            Case("read", opened(RDWR, lambda file: os.pread(file, 4, 0))),
            Case("mapping", mapped(False)),
            Case("mapping that outlives close", mapped(True)),
            Case("inherited from root", lambda path, pause, file: write(file)),
            Case("created with the bit", created, mode=0o755, owner=OWNER, user=OWNER),
            Case("made without a name", nameless, mode=0o755, owner=OWNER, user=OWNER),
            Case("the owner sets the bit late", owner_late, mode=0o755, owner=OWNER, user=OWNER),
            Case("root sets bits late", opened(RDWR, write), mode=0o775, meanwhile=sets(0o6775)),
            Case("late and appended", opened(RDWR | os.O_APPEND, write), mode=0o775, meanwhile=sets(0o6775)),
            Case("late and direct", opened(RDWR | os.O_DIRECT, direct), mode=0o775, meanwhile=sets(0o6775)),
            Case("late and mapped", mapped(False), mode=0o775, meanwhile=sets(0o6775)),
            Case("late and truncated", opened(RDWR, lambda file: os.ftruncate(file, 9)),
                 mode=0o775, meanwhile=sets(0o6775)),
            Case("io_uring", uring),
            Case("late io_uring", uring, mode=0o775, meanwhile=sets(0o6775)),
            Case("set-group-id without execution by a member", opened(RDWR, write), mode=0o2764),
            Case("set-group-id without execution by a stranger", opened(RDWR, write), mode=0o2766, groups=()),
            Case("owner", opened(RDWR, write), owner=OWNER, user=OWNER, groups=()),
            Case("root", opened(RDWR, write), user=0, groups=()),
            Case("capability", opened(RDWR, write), mode=0o775, capability=True),
            Case("capability and bits", opened(RDWR, write), capability=True),
            Case("capability and root", opened(RDWR, write), user=0, groups=(), capability=True),
            Case("capability and ftruncate", opened(RDWR, lambda file: os.ftruncate(file, 9)),
                 mode=0o775, capability=True),
            Case("capability and fallocate", opened(RDWR, fallocate(0, 16384)), mode=0o775, capability=True),
            Case("capability and times", changes(lambda path: os.utime(path, (1, 1))),
                 owner=OWNER, user=OWNER, capability=True),
            Case("late capability", opened(RDWR, write),
                 mode=0o775, meanwhile=lambda path: os.setxattr(path, CAPABILITY, RAW)),
            Case("chmod by a stranger", changes(sets(0o2755)), mode=0o755, owner=OWNER, user=OWNER, groups=()),
            Case("chmod by a member", changes(sets(0o2755)), mode=0o755, owner=OWNER, user=OWNER),
            Case("setfacl by a stranger", access_list, mode=0o2755, owner=OWNER, user=OWNER, groups=()),
            Case("setfacl by a member", access_list, mode=0o2755, owner=OWNER, user=OWNER),
            Case("chown to the own group", changes(lambda path: os.chown(path, -1, OWNER)), owner=OWNER, user=OWNER),
            Case("times", changes(lambda path: os.utime(path, (1, 1))), owner=OWNER, user=OWNER),
            Case("chown by root", changes(lambda path: os.chown(path, OWNER, OWNER)), user=0, groups=()),
        ]
        for case in cases:
            case.run()
        """#
}
