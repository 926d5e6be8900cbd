// `.versionsfs` cannot be reached through the mount: by no path, no handle, no `..` (DESIGN 3.1).

import Foundation
import Support
import Testing

@Suite struct StateIsHiddenTests {
    /// Ways in, as lines of shell in the container; each has to fail, or to say nothing of the state.
    static let ways = [
        "ls .versionsfs", "cat .versionsfs/format", "stat .versionsfs/config.toml", "cd .versionsfs",
        "ls ./.versionsfs/.", "ls sub/../.versionsfs", "ls sub/deep/../../.versionsfs", "ls ../container/.versionsfs",
        "ls .versions/.versionsfs", "ls .versions/../.versionsfs", "ls .versions/f/../../.versionsfs",
        "ls .versions/.deleted/.versionsfs", "ls .versions/.deleted/../../.versionsfs",
        "ls .VERSIONSFS", "ls .versionsfs/", "ls .versionsfs//objects",
        "ln -s .versionsfs way && ls way/", "ln -s \"$PWD/.versionsfs/objects\" way2 && ls way2/",
        "mkdir .versionsfs", "touch .versionsfs", "ln f .versionsfs", "ln -s f .versionsfs", "mv f .versionsfs",
        "mv sub .versionsfs",
        "mknod .versionsfs p", "rm -r .versionsfs", "rmdir .versionsfs", "mv .versionsfs elsewhere",
        "ln .versionsfs/format format",
        "exec 9< . && ls /proc/self/fd/9/.versionsfs", "cd sub && ls /proc/self/cwd/../.versionsfs",
        "ls /proc/$PPID/root$PWD/.versionsfs", "find . -name '.versionsfs' | grep .", "ls -a | grep versionsfs",
        "ls -a .versions | grep versionsfs", "getfattr -n user.versionsfs.label f",
        "setfattr -n user.versionsfs.label -v x f",
        "python3 -B -c 'import os; os.rename(\"f\", \".versionsfs\")'",
        """
        python3 -B -c 'import ctypes, sys; l = ctypes.CDLL(None); \
        sys.exit(l.renameat2(-100, b\"f\", -100, b\".versionsfs\", 2) == 0 and 0 or 1)'
        """,
        """
        python3 -B -c 'import os; d = os.open(\".\", os.O_PATH); print(os.open(\".versionsfs\", os.O_RDONLY, dir_fd=d))'
        """,
        "mkdir other && mount --bind . other && ls other/.versionsfs; s=$?; umount other; exit $s",
        "mkdir other2 && mount --bind sub other2 && ls other2/../.versionsfs; s=$?; umount other2; exit $s",
    ]

    @Test("No path leads to the state")
    func paths() throws {
        try withContainer(named: "hidden", files: ["f": "1", "sub/deep/g": "1"]) { container in
            try shell("echo 2 > f; echo 2 > sub/deep/g; echo x > gone; rm gone", in: container.path)
            var problems: [String] = []
            for way in Self.ways {
                let output = try run("bash", ["-c", way], in: container.path, seconds: 20)
                if output.status == 0 { problems.append("\(way): \(output.text)") }
                for name in ["catalog.sqlite", "objects", "config.toml"] where output.text.contains(name) {
                    problems.append("\(way) tells of \(name)")
                }
            }
            if container.text(of: "f") != "2\n" { problems.append("f holds \(container.text(of: "f") ?? "nothing")") }
            return problems + (try container.checkFindings())
        }
    }

    @Test("A file handle that was made of the state, or made up, opens nothing of it")
    func handles() throws {
        let script = """
            import ctypes, os, struct, sys
            libc = ctypes.CDLL(None, use_errno=True)
            class Handle(ctypes.Structure):
                _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]
            def handle(path, dirfd=-100):
                h = Handle(); h.bytes = 128; mount = ctypes.c_int()
                ok = libc.name_to_handle_at(dirfd, path, ctypes.byref(h), ctypes.byref(mount), 0)
                return h if ok == 0 else None
            container, below = sys.argv[1].encode(), sys.argv[2].encode()
            here = os.open(container, os.O_RDONLY)
            reached = []
            def attempt(h, what):
                fd = libc.open_by_handle_at(here, ctypes.byref(h), os.O_RDONLY)
                if fd < 0: return
                path = os.readlink(f"/proc/self/fd/{fd}")
                names = os.listdir(fd) if os.path.isdir(f"/proc/self/fd/{fd}") else []
                if ".versionsfs" in path or "objects" in names or ".versionsfs" in names: \
            reached.append((what, path, names))
                os.close(fd)
            if handle(container + b"/.versionsfs"): reached.append("name_to_handle_at")
            for path in (below + b"/.versionsfs", below + b"/.versionsfs/objects", below + b"/.versionsfs/format"):
                h = handle(path)
                if h: attempt(h, path)
            root = handle(container)
            assert root, "no handle of the mount's root"
            # FUSE's handles are a node's number and its generation: every small number is tried.
            for kind in (root.type, 0x81, 0x82, 1, 2):
                for number in range(0, 3000):
                    h = Handle(); h.type = kind; h.bytes = 12
                    struct.pack_into("=IIi", h.data, 0, number >> 32, number & 0xffffffff, 0)
                    attempt(h, (kind, number))
            print(reached)
            sys.exit(1 if reached else 0)
            """
        try withContainer(named: "handles", files: ["f": "1", "sub/g": "1"]) { container in
            try shell(
                "echo 2 > f; echo 3 > f; ls -laR . .versions > /dev/null; echo x > gone; rm gone", in: container.path)
            // The same directory, seen past the mount: by a bind of the file system below, which is not recursive.
            let beside = try Workplace.fresh("beside")
            defer { _ = try? run("sh", ["-c", "umount \(beside); rmdir \(beside)"]) }
            try mustRun("mount", ["--bind", (container.path as NSString).deletingLastPathComponent, beside])
            let output = try run(
                "/usr/bin/python3", ["-B", "-c", script, container.path, beside + "/container"], seconds: 60)
            return output.status == 0 ? [] : ["\(output.text) \(output.errors)"]
        }
    }

    @Test("A walk of the whole mount with every attribute names nothing of the state")
    func walk() throws {
        try withContainer(named: "walk", files: ["f": "1", "sub/deep/g": "1"]) { container in
            try shell("echo 2 > f; echo 2 > sub/deep/g; rm -r sub", in: container.path)
            let output = try shell(
                "find . .versions -printf '%p %i\\n' 2>&1; getfattr -dR -m - . 2>&1; tar cf - . | tar tf -",
                in: container.path)
            let words = ["versionsfs", "catalog.sqlite", "objects/", "staging", "redo"]
            return words.filter { output.text.contains($0) }.map { "\($0) is in:\n\(output.text)" }
        }
    }
}
