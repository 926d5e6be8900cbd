// The options that mount(8) lists for every file system are taken, and mean the same as on others.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.enabled(if: getuid() == 0, "another mount to compare with takes root")) struct MountOptionTests {
    /// The options that mount(8) lists, with the words that the table of mounts then shows.
    private static let listed: [(option: String, shown: String?)] = [
        ("async", nil), ("atime", "relatime"), ("auto", nil), ("noauto", nil), ("defaults", nil), ("dev", nil),
        ("nodev", "nodev"), ("diratime", nil), ("nodiratime", "nodiratime"), ("dirsync", "dirsync"), ("exec", nil),
        ("noexec", "noexec"), ("group", "nodev"), ("iversion", nil), ("noiversion", nil), ("mand", nil),
        ("nomand", nil), ("_netdev", nil), ("nofail", nil), ("relatime", "relatime"), ("norelatime", nil),
        ("strictatime", nil), ("nostrictatime", nil), ("lazytime", "lazytime"), ("nolazytime", nil), ("suid", nil),
        ("nosuid", "nosuid"), ("silent", nil), ("loud", nil), ("owner", "nosuid"), ("ro", "ro"), ("rw", "rw"),
        ("sync", "sync"), ("user", "noexec"), ("nouser", nil), ("users", "nosuid"), ("nosymfollow", "nosymfollow"),
        ("X-mount.mkdir", nil), ("X-mount.mode=755", nil), ("x-systemd.automount", nil), ("comment=none", nil),
        ("noexec,exec", "!noexec"), ("ro,rw", "!ro"), ("user,exec,suid", "!noexec"),
    ]

    private func shown(_ point: String) throws -> Set<String> {
        // Another test's mount may have a name that is no text.
        let table = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/mountinfo")), as: UTF8.self)
        let line = table.split(separator: "\n").last { $0.split(separator: " ")[4] == point }
        let words = (line ?? "").split(separator: " ")
        guard words.count > 6, let last = words.last else { throw Failure("\(point) is not in the table of mounts") }
        return Set((words[5] + "," + last).split(separator: ",").map(String.init))
    }

    @Test("Every option that mount(8) lists is taken, and shown where the kernel shows it")
    func listed() throws {
        try Place.with { place in
            try place.mount()
            try place.unmount()
            var problems: [String] = []
            for (option, expected) in Self.listed {
                let output = try place.ctl("mount", "c", "-o", option)
                guard output.status == 0 else {
                    problems.append("\(option): \(output.errors)")
                    continue
                }
                let shown = try shown(place.path + "/c")
                let isAbsent = expected?.hasPrefix("!") == true
                let word = expected.map { isAbsent ? String($0.dropFirst()) : $0 }
                if let word, shown.contains(word) == isAbsent { problems.append("\(option): \(shown.sorted())") }
                try place.unmount()
            }
            #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        }
    }

    /// Which access times a read moves: of one that is older than a day, and of one that is newer than the last change.
    private func moved(in directory: String) throws -> [String] {
        var result: [String] = []
        let now = Date().timeIntervalSince1970
        // The kernel keeps listings: each directory is read once.
        for (name, age) in [("days", 3 * 86400.0), ("hour", 3600.0)] {
            for kind in ["file", "directory"] {
                let path = "\(directory)/\(kind)-\(name)"
                let times = [now - age, now - 864_000].map { timespec(tv_sec: Int($0), tv_nsec: 5) }
                guard utimensat(AT_FDCWD, path, times, 0) == 0 else { throw Failure.call("utimensat \(path)") }
                if kind == "file" { _ = try Data(contentsOf: URL(filePath: path)) } else {
                    _ = try FileManager.default.contentsOfDirectory(atPath: path)
                }
                // Not as the kernel remembers it.
                let output = try mustRun("stat", ["--cached=never", "-c", "%X", path])
                if output.text != "\(Int(now - age))" { result.append("\(kind) \(name)") }
            }
        }
        return result
    }

    @Test(
        "Access times move as they do on another mount with the same option",
        arguments: ["noatime", "nodiratime", "relatime", "strictatime", "strictatime,nodiratime", "lazytime", "atime"])
    func accessTimes(_ option: String) throws {
        try Place.with { place in
            let line = "mkdir c/directory-days c/directory-hour; touch c/directory-days/x c/directory-hour/x;"
            try shell(line + " echo 1 > c/file-days; echo 2 > c/file-hour", in: place.path)
            let path = place.path + "/c"
            try mustRun("mount", ["--bind", path, path])
            try mustRun("mount", ["-o", "remount,bind,\(option)", path])
            let expected = try moved(in: path)
            try mustRun("umount", [path])
            try place.mount("c", option)
            #expect(try moved(in: path) == expected)
            try place.unmount()
        }
    }

    @Test("A remount leaves the options as they are that it does not name", arguments: [
        ("lazytime", "remount,ro"), ("dirsync,lazytime", "remount,noexec"), ("sync", "remount,noexec"),
    ])
    func remountKeeps(_ options: String, _ change: String) throws {
        try Place.with { place in
            let point = place.path + "/c"
            try place.mount("c", options)
            let before = try shown(point)
            #expect(before.isSuperset(of: options.split(separator: ",").map(String.init)))
            let output = try place.daemon("c", "-o", change)
            #expect(output.status == 0, "\(output.errors)")
            #expect(try shown(point).isSuperset(of: options.split(separator: ",").map(String.init)))
            #expect(try shown(point).contains(change.split(separator: ",").last.map(String.init) ?? ""))
            if options.contains("lazytime") {
                #expect(try place.daemon("c", "-o", "remount,nolazytime").status == 0)
                #expect(try !shown(point).contains("lazytime"))
            }
            let other = options.contains("dirsync") ? "nodirsync" : "dirsync"
            expectError(try place.daemon("c", "-o", "remount,\(other)"), "dirsync", "unmount it")
            try place.unmount()
        }
    }

    @Test("A remount makes the mount read-only and writable again, and says what it cannot change")
    func remount() throws {
        try Place.with { place in
            try shell("mkdir c/d; mkfifo c/p; mknod c/null c 1 3; ln -s f c/s", in: place.path)
            let point = place.path + "/c"
            try place.mount()
            var output = try place.daemon("c", "-o", "remount,ro")
            #expect(output.status == 0, "\(output.errors)")
            #expect(try shown(point).contains("ro"))
            try expectReadOnly(point)
            output = try place.daemon("c", "-o", "remount,rw,noexec")
            #expect(output.status == 0, "\(output.errors)")
            #expect(try shown(point).isSuperset(of: ["rw", "noexec"]))
            try shell("echo two > f", in: point)
            expectError(try place.daemon("c", "-o", "remount,noatime"), "access times", Told.unmountIt)
            expectError(try place.daemon("c", "-o", "remount,sync"), "sync", Told.unmountIt)
            let file = open(point + "/f", O_WRONLY | O_CLOEXEC)
            expectError(try place.daemon("c", "-o", "remount,ro"), "busy", "open for writing")
            close(file)
            let user = try run(Workplace.daemon, [point, "-o", "remount,ro"], asUser: 65534)
            expectError(user, "only root")
            output = try place.ctl("mount", "c", "-o", "remount,exec")
            #expect(output.status == 0, "\(output.errors)")
            #expect(try !shown(point).contains("noexec"))
            try place.unmount()
            expectError(try place.daemon("c", "-o", "remount,ro"), Told.notMounted)
            try place.mount("c", "ro")
            try expectReadOnly(point)
            expectError(try place.daemon("c", "-o", "remount,rw"), "started with -o ro", Told.unmountIt)
            #expect(try shown(point).contains("ro"))
            try place.unmount()
            #expect(try shell("cat c/f", in: place.path).text == "two")
        }
    }

    /// A name that exists is EEXIST still, and a FIFO or device may be written to.
    private func expectReadOnly(_ point: String, from line: Int = #line) throws {
        let output = try run(
            "python3",
            ["-c", """
                import errno, os, stat
                def do(body, *arguments):
                    try:
                        body(*arguments)
                    except OSError as error:
                        return errno.errorcode[error.errno]
                    return "ok"
                for name in ["d", "f", "p", "null", "s"]:
                    made = [do(os.mkdir, name), do(os.mknod, name, stat.S_IFIFO | 0o600), do(os.link, "f", name),
                            do(os.symlink, "f", name)]
                    if made != ["EEXIST"] * 4:
                        print(name, made)
                new = [do(os.mkdir, "new"), do(os.mknod, "new", stat.S_IFIFO | 0o600), do(os.link, "f", "new"),
                       do(os.symlink, "f", "new"), do(os.unlink, "f"), do(os.rename, "f", "g"),
                       do(os.chmod, "f", 0o600), do(os.open, "f", os.O_WRONLY),
                       do(os.open, "new", os.O_WRONLY | os.O_CREAT)]
                if new != ["EROFS"] * 9:
                    print("new", new)
                for flags in [os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_TRUNC]:
                    if do(os.open, "null", flags) != "ok":
                        print("null", flags, do(os.open, "null", flags))
                if do(os.open, "p", os.O_RDWR) != "ok":
                    print("p", do(os.open, "p", os.O_RDWR))
                """], in: point)
        #expect(output.status == 0 && output.text.isEmpty, "line \(line): \(output.text)\(output.errors)")
    }
}
