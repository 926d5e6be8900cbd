// Starting in places that are not as one would like them: names that are no text, mounts whose daemon died, options and
// directories that cannot be used.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct StartTests {
    @Test("A container whose path is not UTF-8 is mounted, read, asked and unmounted")
    func bytes() throws {
        try Place.with { place in
            let output = try place.bash(
                """
                set -e
                d=$'ro\\xffo,t'; m=$'m\\xfe'
                mkdir "$d" "$m"
                "$CTL" mount "$d" > /dev/null
                echo one > "$d/f"; echo two > "$d/f"
                "$CTL" history "$d/f" | head -1
                "$CTL" status "$d" > /dev/null
                "$CTL" unmount "$d"
                "$CTL" mount "$d" "$m" > /dev/null
                cat "$m/f"
                "$CTL" unmount "$m"
                cat "$d/f"
                """)
            #expect(output.status == 0 && output.errors.isEmpty, "\(output.errors)")
            #expect(output.text.split(separator: "\n").map(String.init).dropFirst() == ["two", "two"], "\(output.text)")
            #expect(output.text.contains("  2 versions"), "\(output.text)")
        }
    }

    @Test("A mount elsewhere whose daemon died is taken away with its cover, and mounted again")
    func deadElsewhere() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            for again in [["c", "m"], ["c"]] {
                let child = try place.serve("c", "m")
                let covered = try Mounts.wait(.after(seconds: 20), watching: child) {
                    $0.contains { $0.path == place.path + "/c" }
                }
                #expect(covered)
                child.kill()
                let mounted = try run(Workplace.control, ["mount"] + again, in: place.path, seconds: 60)
                #expect(
                    mounted.status == 0 && mounted.errors.contains(Told.deadDetached), "\(mounted.errors)")
                #expect(!mounted.errors.contains("\n"), "\(mounted.errors)")
                #expect(
                    (try? String(contentsOfFile: place.path + "/\(again.last ?? "")/f", encoding: .utf8)) == "one\n")
                try place.unmount(again.last ?? "")
                #expect(try !Mounts.all().contains { $0.path.hasPrefix(place.path) })
            }
        }
    }

    @Test("The daemon itself, as a service starts it, takes away what its crash has left")
    func service() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            for arguments in [["c"], ["c", "m"]] {
                let first = try arguments.count == 1 ? place.serve("c") : place.serve("c", "m")
                first.kill()
                let second = try arguments.count == 1 ? place.serve("c") : place.serve("c", "m")
                let point = arguments.last ?? ""
                #expect((try? String(contentsOfFile: place.path + "/\(point)/f", encoding: .utf8)) == "one\n")
                #expect(try Mounts.all().count { $0.path == place.path + "/" + point } == 1)
                try place.unmount(point)
                #expect(try second.wait(.after(seconds: 30)) == 0)
            }
        }
    }

    @Test("When unmount has returned the daemon is gone, and the next mount finds nobody at work")
    func ended() throws {
        try Place.with { place in
            for round in 1...5 {
                let child = try place.serve("c")
                try shell("echo \(round) > c/f", in: place.path)
                try place.unmount()
                #expect(child.poll() == 0, "round \(round)")
            }
            let mounted = try place.ctl("mount", "c")
            #expect(mounted.status == 0 && mounted.errors.isEmpty, "\(mounted.errors)")
            try place.unmount()
        }
    }

    @Test("What cannot be mounted is said in one line, with what to do")
    func oneLine() throws {
        try Place.with { place in
            try shell("echo x > file; mkdir -m 700 private; mkdir c/.versions", in: place.path)
            expectError(try place.ctl("mount", "c"), ".versions", Told.renameFirst)
            try shell("rmdir c/.versions", in: place.path)
            for options in ["bogus", "ro,bogus=1"] {
                expectError(try place.ctl("mount", "c", "-o", options), "bogus", Told.leaveOut)
            }
            expectError(try place.ctl("mount", "file"), Told.notDirectory, "the one that it lies in")
            expectError(try place.ctl("mount", "c", "file"), Told.notDirectory)
            for words in [["file"], ["c", "file"]] {
                let output = try run(Workplace.daemon, words, in: place.path)
                expectError(output, "file: \(Told.notDirectory)", "the one that it lies in")
            }
            expectError(try place.ctl("mount", "none"), "No such file or directory", "mkdir")
            expectError(try place.ctl("mount", "c", "none"), "No such file or directory", "mkdir")
            expectError(try place.ctl("mount", "private", asUser: 65534), "ermission denied")
            expectError(try place.daemon("c", "-f", "-o", "bogus"), "bogus", Told.leaveOut)
            expectError(try place.daemon(), Told.missingDirectory, "versionsfs -h", status: 64)
            expectError(try place.daemon("c", "--nonsense"), "--nonsense", "versionsfs -h", status: 64)
        }
    }

    @Test("A container in a container is refused in one line, whichever is mounted, and unmounting goes on working")
    func nested() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            mkdir(place.path + "/c/inner", 0o755)
            try place.mount()
            expectError(try place.ctl("mount", "."), place.path + "/c", Told.insideIsMounted, "unmount")
            expectError(try place.daemon(".", "-f"), place.path + "/c", Told.insideIsMounted, "unmount")
            expectError(try place.ctl("mount", "c/inner"), "in the container \(place.path)/c", Told.outerIsMounted)
            try place.unmount()
            // Mounted elsewhere, and left open in its own place.
            let elsewhere = try place.ctl("mount", "c", "m", "-o", "source-open")
            #expect(elsewhere.status == 0, "\(elsewhere.errors)")
            expectError(try place.ctl("mount", "."), Told.insideIsMounted)
            expectError(try place.ctl("mount", "c/inner"), "in the container", Told.outerIsMounted)
            try place.unmount("m")
            expectError(try place.ctl("mount", "c/inner"), "in the container \(place.path)/c", "forget")
            expectError(try place.ctl("mount", "c", "c/inner"), "in \(place.path)/c itself")
            // Nothing was left behind by those that were refused.
            for name in [".versionsfs", "c/inner/.versionsfs"] {
                #expect(access(place.path + "/" + name, F_OK) != 0, "\(name)")
            }
            // What only looks similar is no part of it.
            mkdir(place.path + "/cc", 0o755)
            try place.mount("cc")
            try place.mount()
            try place.unmount()
            try place.unmount("cc")
        }
    }

    @Test("A daemon that was started in a container does not stay there")
    func directory() throws {
        try Place.with { place in
            try shell("mkdir d e m; echo two > d/f; echo three > e/f", in: place.path)
            try place.mount()
            let other = try place.ctl("mount", "../d", in: "c")
            #expect(other.status == 0, "\(other.errors)")
            let third = try run(Workplace.daemon, ["../e", "../m"], in: place.path + "/c")
            #expect(third.status == 0, "\(third.errors)")
            let unmounted = try place.ctl("unmount", "c")
            #expect(unmounted.status == 0, "\(unmounted.errors)")
            #expect(try shell("cat d/f m/f", in: place.path).text == "two\nthree")
            try place.unmount("d")
            try place.unmount("m")
        }
    }

    @Test(
        "A user who may not let others in is told so, in one line", .enabled(if: geteuid() == 0, "needs another user"))
    func others() throws {
        try Place.with { place in
            try shell("chown -R 65534:65534 c; : > fuse.conf", in: place.path)
            for option in ["allow_other", "allow_root"] {
                // fuse.conf is the machine's: another one is laid over it where nobody else sees that.
                let script = """
                    mount --bind fuse.conf /etc/fuse.conf || exit 9
                    as="setpriv --reuid=65534 --regid=65534 --clear-groups --"
                    $as "$CTL" mount c -o \(option)
                    status=$?
                    # What was mounted all the same ends with its mount.
                    $as fusermount3 -u -q -z c
                    exit $status
                    """
                let output = try MountNamespaces.making {
                    try run(
                        "unshare", ["-m", "--propagation", "private", "bash", "-c", script], in: place.path,
                        environment: ["CTL": Workplace.control])
                }
                expectError(output, option, "/etc/fuse.conf", "user_allow_other", "leave the option out")
            }
        }
    }

    @Test(
        "A user whose control socket has no place is told so", .enabled(if: geteuid() == 0, "needs another user"))
    func socketWithoutPlace() throws {
        try Place.with { place in
            try shell("mkdir run; chown -R 65534:65534 c run; chmod 500 run", in: place.path)
            let output = try run(
                "setpriv",
                ["--reuid=65534", "--regid=65534", "--clear-groups", "--", Workplace.control, "mount", "c"],
                in: place.path, environment: ["XDG_RUNTIME_DIR": place.path + "/run"])
            expectError(
                output, place.path + "/run/versionsfs: the directory for the control socket cannot be made: ",
                "Permission denied", "hint: let XDG_RUNTIME_DIR name a directory")
        }
    }

    @Test("mount and unmount tell scripts what they did")
    func json() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            try place.serve("c").kill()
            let mounted = try place.ctl("mount", "c", "m", "--json")
            #expect(mounted.status == 0, "\(mounted.errors)")
            let report = try JSONDecoder().decode(Mounted.self, from: Data(mounted.stdout))
            #expect(report.directory == place.path + "/c" && report.mountpoint == place.path + "/m")
            #expect(report.detached == [place.path + "/c"])
            let unmounted = try place.ctl("unmount", "m", "--json")
            #expect(unmounted.status == 0, "\(unmounted.errors)")
            let end = try JSONDecoder().decode(Unmounted.self, from: Data(unmounted.stdout))
            #expect(Set(end.mountpoints) == [place.path + "/c", place.path + "/m"] && end.ended)
        }
    }

    private struct Mounted: Decodable {
        struct Process: Decodable {
            var pid: Int32
            var program: String
        }
        var directory: String
        var mountpoint: String
        var detached: [String]
        var beneath: [Process]
    }

    private struct Unmounted: Decodable {
        var mountpoints: [String]
        var ended: Bool
    }
}
