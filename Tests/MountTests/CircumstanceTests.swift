// A mount in unusual circumstances: what DESIGN 3 says of each, with one clear line.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct CircumstanceTests {
    /// A directory for containers that the test itself mounts with versionsctl, as people do.
    private func withPlace(_ body: (String) throws -> Void) throws {
        let place = try Workplace.fresh("circumstance")
        try FileManager.default.createDirectory(atPath: place + "/c", withIntermediateDirectories: false)
        try "one\n".write(toFile: place + "/c/f", atomically: false, encoding: .utf8)
        defer {
            // Deepest first; whatever the test has left.
            for mount in ((try? Mounts.all()) ?? []).map(\.path).filter({ $0.hasPrefix(place) }).sorted(by: >) {
                umount2(mount, VFS_MNT_DETACH)
            }
            _ = try? run("rm", ["-rf", "--one-file-system", place])
        }
        try body(place)
    }

    private func ctl(_ arguments: String..., in place: String, asUser user: UInt32? = nil) throws -> Output {
        try run(Workplace.control, arguments, in: place, asUser: user, seconds: 60)
    }

    private func daemon(_ arguments: String..., in place: String) throws -> Output {
        try run(Workplace.daemon, arguments, in: place, seconds: 60)
    }

    private func mustMount(_ name: String, options: String = "defaults", in place: String) throws -> Output {
        let output = try ctl("mount", name, "-o", options, in: place)
        guard output.status == 0 else { throw Failure("mount \(name): \(output.errors)") }
        return output
    }

    private func mustUnmount(_ name: String, in place: String) throws {
        let output = try ctl("unmount", name, in: place)
        guard output.status == 0 else { throw Failure("unmount \(name): \(output.errors)") }
    }

    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test("A second daemon is turned away, over the mount and beside it")
    func secondDaemon() throws {
        try withPlace { place in
            _ = try mustMount("c", in: place)
            expectError(try daemon("c", "-f", in: place), Told.alreadyMounted, "versionsctl status")
            expectError(try ctl("mount", "c", in: place), Told.alreadyMounted)
            mkdir(place + "/beside", 0o755)
            try mustRun("mount", ["--bind", place, place + "/beside"])
            expectError(
                try daemon("beside/c", "-f", in: place), "by versionsfs (",
                "already mounted at \(place)/c")
            try mustRun("umount", [place + "/beside"])
            #expect(text(place + "/c/f") == "one\n")
            try mustUnmount("c", in: place)
        }
    }

    @Test("A copied container gets a new device, keeps its history and says so")
    func copied() throws {
        try withPlace { place in
            _ = try mustMount("c", in: place)
            try shell("echo two > c/f", in: place)
            let before = try ctl("status", "c", "--json", in: place).text
            try mustUnmount("c", in: place)
            try mustRun("cp", ["-a", "c", "d"], in: place)
            let mounted = try mustMount("d", in: place)
            let words = [Told.copied, Told.newDevice]
            #expect(words.allSatisfy { mounted.errors.contains($0) }, "\(mounted.errors)")
            let after = try ctl("status", "d", "--json", in: place).text
            #expect(after.contains(Told.copied))
            #expect(before != after)
            let device = { (name: String) in
                try JSONDecoder().decode(
                    HistoryRecord.self, from: Data(try ctl("history", name + "/f", "--json", in: place).stdout)
                ).versions
            }
            let versions = try device("d")
            #expect(versions.count == 2)
            // The original goes on as if nothing had happened, beside its copy.
            let original = try mustMount("c", in: place)
            #expect(!original.errors.contains("copied"), "\(original.errors)")
            try shell("echo three > c/f; echo drei > d/f", in: place)
            #expect(try device("c").count == 3)
            #expect(try device("d").count == 3)
            for name in ["c", "d"] { try mustUnmount(name, in: place) }
        }
    }

    /// Mounts a container, and kills its daemon after some commands.
    private func leaveDeadMount(of path: String, after commands: String) throws {
        let child = try Child(.init(Workplace.daemon, [path, "-f"]))
        _ = try Mounts.wait(.after(seconds: 20), watching: child) { $0.contains { $0.path == path } }
        try shell(commands, in: path)
        child.kill()
    }

    @Test("A dead mount says so, and the next mount detaches it")
    func deadMount() throws {
        try withPlace { place in
            try leaveDeadMount(of: place + "/c", after: "echo two > f")
            expectError(try ctl("status", "c", in: place), Told.daemonGone, "versionsctl mount")
            expectError(try ctl("history", "c/f", in: place), Told.daemonGone)
            let again = try mustMount("c", in: place)
            #expect(again.errors.contains(Told.deadDetached), "\(again.errors)")
            #expect(text(place + "/c/f") == "two\n")
            #expect(try ctl("history", "c/f", in: place).text.contains("2 versions"))
            try mustUnmount("c", in: place)
        }
    }

    @Test("The next mount detaches a dead one that does not tell any more what it is")
    func deadMountUnknown() throws {
        try withPlace { place in
            // The kernel knows nothing of a directory's times behind a change of it.
            try leaveDeadMount(of: place + "/c", after: "echo two > f; echo one > new")
            // Until its end is over, requests are cancelled, or aborted.
            let end = Deadline.after(seconds: 20)
            var (status, code) = (stat(), ECANCELED)
            while code != ENOTCONN, !end.isOver { code = stat(place + "/c", &status) == 0 ? 0 : errno }
            #expect(code == ENOTCONN)
            let again = try mustMount("c", in: place)
            #expect(again.errors.contains(Told.deadDetached), "\(again.errors)")
            #expect(text(place + "/c/new") == "one\n")
            try mustUnmount("c", in: place)
        }
    }

    @Test("Mounted read-only a container shows everything and changes nothing")
    func readOnly() throws {
        try withPlace { place in
            expectError(try ctl("mount", "c", "-o", "ro", in: place), "not a container yet", Told.withoutReadOnly)
            _ = try mustMount("c", in: place)
            try shell("echo two > c/f; echo x > c/gone; rm c/gone", in: place)
            let history = Data(try ctl("history", "c/f", "--json", in: place).stdout)
            let oldest = try JSONDecoder().decode(HistoryRecord.self, from: history).versions.last?.id ?? ""
            try mustUnmount("c", in: place)
            let before = try shell(
                "find c -printf '%p %s %T@ %C@\\n' | sort; sha256sum c/.versionsfs/catalog*.sqlite", in: place
            ).text
            _ = try mustMount("c", options: "ro", in: place)
            #expect(try shell("cat c/.versions/f/history/*", in: place).text == "one")
            for command in ["echo x > c/f", "rm c/f", "touch c/new", "mv c/.versions/.deleted/gone c/back"] {
                let output = try run("sh", ["-c", command], in: place)
                #expect(output.status != 0 && output.errors.contains("Read-only"), "\(command): \(output.errors)")
            }
            for words in [
                ["restore", "c/f", "--version", oldest], ["undelete", "c/gone"], ["purge", "c/f"],
                ["purge", "--deleted", "--container", "c"],
                ["config", "stale-writes", "merge", "--container", "c"], ["pin", "c/f", "--version", oldest],
            ] { expectError(try run(Workplace.control, words, in: place), "read-only", Told.withoutReadOnly) }
            #expect(try ctl("status", "c", in: place).text.contains("read-only"))
            try mustUnmount("c", in: place)
            let after = try shell(
                "find c -printf '%p %s %T@ %C@\\n' | sort; sha256sum c/.versionsfs/catalog*.sqlite", in: place
            ).text
            #expect(after == before)
        }
    }

    @Test("On a read-only file system it says how to mount it")
    func readOnlyFileSystem() throws {
        try withPlace { place in
            _ = try mustMount("c", in: place)
            try shell("echo two > c/f", in: place)
            try mustUnmount("c", in: place)
            mkdir(place + "/fixed", 0o755)
            try mustRun("mount", ["--bind", place + "/c", place + "/fixed"])
            try mustRun("mount", ["-o", "remount,ro,bind", place + "/fixed"])
            expectError(try ctl("mount", "fixed", in: place), "read-only", "-o ro")
            _ = try mustMount("fixed", options: "ro", in: place)
            #expect(text(place + "/fixed/f") == "two\n")
            #expect(try ctl("history", "fixed/f", in: place).text.contains("2 versions"))
            try mustUnmount("fixed", in: place)
        }
    }

    @Test("Another file system inside is shown and passed through, without versions")
    func fileSystemInside() throws {
        try withPlace { place in
            mkdir(place + "/c/sub", 0o755)
            try mustRun("mount", ["-t", "tmpfs", "none", place + "/c/sub"])
            try shell("echo in > c/sub/g", in: place)
            _ = try mustMount("c", in: place)
            #expect(text(place + "/c/sub/g") == "in\n")
            try shell("echo changed > c/sub/g; mkdir c/sub/d; ln c/sub/g c/sub/h; mv c/sub/h c/sub/d", in: place)
            #expect(text(place + "/c/sub/d/h") == "changed\n")
            #expect(rename(place + "/c/f", place + "/c/sub/f") != 0 && errno == EXDEV)
            #expect(rename(place + "/c/sub/g", place + "/c/g") != 0 && errno == EXDEV)
            #expect(link(place + "/c/f", place + "/c/sub/f") != 0 && errno == EXDEV)
            try shell("mv c/f c/sub/f; mv c/sub/f c/f", in: place)
            expectError(try ctl("history", "c/sub/g", in: place), "another file system, without versions")
            let status = try ctl("status", "c", in: place).text
            #expect(status.contains("sub") && status.contains("tmpfs: no versions"), "\(status)")
            #expect(try ctl("check", "--container", "c", in: place).status == 0)
            try mustUnmount("c", in: place)
            #expect(text(place + "/c/sub/d/h") == "changed\n")
        }
    }

    @Test("What was mounted in a mounted container is said to be another file system")
    func fileSystemOver() throws {
        try withPlace { place in
            mkdir(place + "/c/sub", 0o755)
            mkdir(place + "/c/own", 0o755)
            _ = try mustMount("c", in: place)
            try mustRun("mount", ["-t", "tmpfs", "none", place + "/c/sub"])
            try shell("mkdir c/sub/d; echo in > c/sub/g", in: place)
            for words in [
                ["history", "c/sub/g"], ["status", "c/sub"], ["conflicts", "c/sub/d"], ["mount", "c/sub"],
                ["mount", "c/sub/d"], ["history", "c/sub/none"],
            ] {
                let output = try run(Workplace.control, words, in: place)
                expectError(
                    output, Told.otherFileSystem, "mounted at \(place)/c/sub in the container \(place)/c",
                    Told.withoutVersions)
            }
            expectError(try ctl("mount", "c/own", in: place), "its files have versions there")
            try mustRun("umount", [place + "/c/sub"])
            try mustUnmount("c", in: place)
            // Mounted before, it is seen through the container.
            try mustRun("mount", ["-t", "tmpfs", "none", place + "/c/sub"])
            _ = try mustMount("c", in: place)
            expectError(try ctl("mount", "c/sub", in: place), Told.otherFileSystem, Told.withoutVersions)
            try mustUnmount("c", in: place)
        }
    }

    @Test("An ordinary user without passthrough keeps versions all the same, and status says so")
    func withoutPassthrough() throws {
        try withContainer(named: "user", asUser: 65534) { container in
            try mustRun(
                "sh", ["-ec", "cd \(container.path); echo one > f; echo two > f; rm f; echo three > f"], asUser: 65534)
            // Not `must`: root, who starts it, may not enter the mount.
            let status = try mustRun(Workplace.control, ["status", container.path], asUser: 65534).text
            var problems: [String] = []
            if !status.contains("passthrough off") || !status.contains("reads and writes go through the daemon") {
                problems.append("status does not say it: \(status)")
            }
            let history = try mustRun(Workplace.control, ["history", container.file("f")], asUser: 65534).text
            if !history.contains("3 versions") { problems.append(history) }
            return problems
        }
    }

    @Test("A shell that stood in DIR before the mount is named, and goes on beneath it")
    func shellInside() throws {
        try withPlace { place in
            let actor = try ActorProcess("oldshell", in: place + "/c")
            let mounted = try mustMount("c", in: place)
            #expect(
                mounted.errors.contains("oldshell (\(actor.pid))") && mounted.errors.contains(Told.cdAgain),
                "\(mounted.errors)")
            #expect(!mounted.errors.contains("\n"), "\(mounted.errors)")
            // Where it stands is the directory itself, with the state in it; what it does there is done.
            #expect(try actor.load("f") == "one\n")
            try actor.save("beneath", to: "g")
            #expect(try actor.load("g") == "beneath")
            try actor.must("stat", ".versionsfs")
            // As it was told: entered again, it is the container.
            try actor.must("cd", place + "/c")
            #expect(try actor.ask("stat", ".versionsfs") == .failed(ENOENT))
            try actor.save("two", to: "f")
            #expect(try ctl("history", "c/f", in: place).text.contains("2 versions"))
            try actor.must("cd", "/")
            try mustUnmount("c", in: place)
            #expect(text(place + "/c/g") == "beneath")
        }
    }

    @Test("forget says what goes, removes the state and leaves the tree")
    func forget() throws {
        try withPlace { place in
            _ = try mustMount("c", in: place)
            try shell("echo two > c/f; echo x > c/gone; rm c/gone", in: place)
            expectError(try ctl("forget", "c", "--yes", in: place), "mounted", Told.unmountFirst)
            try mustUnmount("c", in: place)
            expectError(try ctl("forget", "c", in: place), "3 versions of 2 documents", "1 deleted entry", "--yes")
            #expect(access(place + "/c/.versionsfs", F_OK) == 0)
            let gone = try ctl("forget", "c", "--yes", in: place)
            #expect(gone.status == 0 && gone.text.contains(Told.ordinaryAgain), "\(gone.errors)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place + "/c") == ["f"])
            #expect(text(place + "/c/f") == "two\n")
            expectError(try ctl("forget", "c", "--yes", in: place), Told.notInContainer)
        }
    }

    @Test("Mounted elsewhere, the directory itself is covered; source-open leaves it open")
    func elsewhere() throws {
        try withPlace { place in
            mkdir(place + "/m", 0o755)
            #expect(try ctl("mount", "c", "m", in: place).status == 0)
            #expect(access(place + "/c/.versionsfs", F_OK) != 0)
            // An edit by either way is a save.
            try shell("echo two > c/f; echo three > m/f", in: place)
            #expect(try ctl("history", "c/f", in: place).text.contains("3 versions"))
            try mustUnmount("m", in: place)
            #expect(access(place + "/c/.versionsfs", F_OK) == 0)
            #expect(text(place + "/c/f") == "three\n")
            // A signal ends both as well.
            let child = try Child(.init(Workplace.daemon, [place + "/c", place + "/m", "-f"]))
            let came = try Mounts.wait(.after(seconds: 20), watching: child) { all in
                all.count { $0.path.hasPrefix(place) } == 2
            }
            #expect(came)
            Foundation.kill(child.pid, SIGTERM)
            #expect(try child.wait(.after(seconds: 30)) == 0)
            #expect(try !Mounts.all().contains { $0.path.hasPrefix(place) })

            #expect(try ctl("mount", "c", "m", "-o", "source-open", in: place).status == 0)
            #expect(access(place + "/c/.versionsfs", F_OK) == 0)
            #expect(text(place + "/m/f") == "three\n")
            try mustUnmount("m", in: place)
        }
    }

    @Test("list-versions shows .versions in the root's listing, and nowhere else")
    func listVersions() throws {
        try withPlace { place in
            try shell(
                "mkdir c/sub; for i in $(seq 1 300); do echo $i > c/sub/file-with-a-long-name-$i; done", in: place)
            _ = try mustMount("c", options: "list-versions", in: place)
            try shell("echo two > c/f", in: place)
            #expect(try shell("ls -a c", in: place).text.split(separator: "\n") == [".", "..", ".versions", "f", "sub"])
            #expect(try shell("ls -la c", in: place).text.contains(".versions"))
            #expect(try !shell("ls -a c/sub", in: place).text.contains(".versions"))
            #expect(try shell("ls c/.versions", in: place).text == "f")
            #expect(try shell("find c -name history | wc -l", in: place).text == "1")
            try mustUnmount("c", in: place)
            _ = try mustMount("c", in: place)
            #expect(try !shell("ls -a c", in: place).text.contains(".versions"))
            try mustUnmount("c", in: place)
        }
    }
}
