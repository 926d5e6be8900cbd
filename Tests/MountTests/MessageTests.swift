// What versionsctl says to people: paths as they were typed, one line for an error with what to do, and a status that
// tells what is not kept.

import CTestSupport
import Foundation
import Support
import Testing

@Suite struct MessageTests {
    @Test("Paths are said as they were typed, ids as paths from here, and --to as typed")
    func paths() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                "mkdir -p c/sub; cd c/sub; echo 1 > a.tar.gz; echo 2 > a.tar.gz; echo x > b; rm b", in: place.path)
            let first = { (words: [String], directory: String) in
                try run(Workplace.control, words, in: place.path + "/" + directory).text.split(separator: "\n").first
                    ?? ""
            }
            let versions = try JSONDecoder().decode(
                HistoryRecord.self, from: Data(try place.ctl("history", "c/sub/a.tar.gz", "--json").stdout))
            guard let item = versions.versions.first?.item, let old = versions.versions.last?.id,
                let gone = try place.ctl("deleted", in: "c").text.split(separator: "\n").last?.split(separator: " ")
                    .first
            else { throw Failure("no versions") }
            #expect(try first(["history", item], "c").hasPrefix("sub/a.tar.gz  "))
            #expect(try first(["history", item], "c/sub").hasPrefix("a.tar.gz  "))
            #expect(try first(["history", item, "--container", "c"], "").hasPrefix("c/sub/a.tar.gz  "))
            #expect(try first(["diff", item], "c/sub").hasPrefix("--- a.tar.gz\t"))
            #expect(try first(["undelete", String(gone)], "c") == "Undeleted sub/b.")
            #expect(
                try first(["restore", "c/sub/a.tar.gz", "--version", old, "--to", "c/back"], "") == "Restored c/back.")
            #expect(
                try first(["restore", "a.tar.gz", "--version", old, "--to", "../../out"], "c/sub")
                    == "Restored ../../out.")
            #expect(try first(["restore", item, "--version", old], "c/sub") == "Restored a.tar.gz.")
            #expect(try place.ctl("simulate", "conflict", "c/sub/a.tar.gz").status == 0)
            #expect(
                try first(["resolve", "c/sub/a.tar.gz", "--keep", "all"], "")
                    == "Resolved c/sub/a.tar.gz; written: c/sub/a 2.tar.gz.")
            expectError(try place.ctl("history", "c/sub/nope/x"), "error: c/sub/nope/x: no such file")
            try place.unmount()
        }
    }

    @Test("A busy mount names its users, and not its own daemon, which pgrep finds by its name")
    func busy() throws {
        try Place.with { place in
            try place.mount()
            let actor = try ActorProcess("holder", in: place.path + "/c")
            let output = try place.ctl("unmount", "c")
            expectError(output, "in use by ", "holder (\(actor.pid))")
            #expect(!output.errors.contains("versionsfs (") && !output.errors.contains("exe ("), "\(output.errors)")
            let daemons = try run("pgrep", ["-x", "versionsfs", "-a"]).text
            #expect(daemons.contains(place.path + "/c"), "\(daemons)")
            expectError(try place.ctl("unmount", "c", asUser: 65534), "mounted by root", Told.askOwner)
            #expect(try place.ctl("unmount", "--lazy", "c").status == 0)
        }
    }

    @Test("Every error is one line that says what, why and what to do")
    func errors() throws {
        try Place.with { place in
            try shell("mkdir c/d; mkdir -m 700 c/closed; echo x > c/closed/f", in: place.path)
            expectError(try place.ctl("unmount", "c"), Told.notInContainer, "versionsctl list")
            try place.mount()
            try shell("echo two > c/f", in: place.path)
            expectError(try place.ctl("history", "c/nope"), Told.noSuchFile)
            expectError(try place.ctl("history", "c/f/x"), "error: c/f/x: ")
            expectError(try place.ctl("history", "c/closed/f", asUser: 65534), "ermission denied", "ask its owner")
            expectError(try place.ctl("history", "c/d"))
            expectError(try place.ctl("show", "c/f", "--version", "ffffffff"), "no version ffffffff")
            expectError(try place.ctl("undelete", "c/f"))
            expectError(try place.ctl("resolve", "c/f", "--newest"), Told.noConflict)
            expectError(try place.ctl("purge", "c/nope"), Told.noSuchFile)
            expectError(try place.ctl("conflicts", "c/nope"), Told.noSuchFile)
            expectError(try place.ctl("conflicts", "c/nope", "--exit-code"), Told.noSuchFile, status: 2)
            #expect(try place.ctl("conflicts", "c/d", "--exit-code").status == 0)
            try place.unmount()
            expectError(try place.ctl("unmount", "c"), Told.notMounted, "versionsctl mount")
            expectError(try place.ctl("history", "c/f"), Told.notMounted, "versionsctl mount")
            try shell(
                "mv c/.versionsfs/format c/.versionsfs/was; echo 'versionsfs 99' > c/.versionsfs/format", in: place.path
            )
            for command in ["status", "forget"] {
                expectError(try place.ctl(command, "c"), Told.unknownFormat, Told.newerVersion)
            }
            expectError(try place.ctl("check", "--container", "c"), Told.unknownFormat, status: 2)
            try shell("mv c/.versionsfs/was c/.versionsfs/format", in: place.path)
            let gone = try place.ctl("forget", "c", "--yes")
            #expect(gone.status == 0 && gone.errors.isEmpty, "\(gone.errors)")
        }
    }

    @Test("Of a mount that its user alone may enter nobody says that it is dead; root can take it away")
    func closed() throws {
        try Place.with { place in
            try shell("chown -R 65534:65534 c", in: place.path)
            let mounted = try place.ctl("mount", "c", asUser: 65534)
            #expect(mounted.status == 0, "\(mounted.errors)")
            expectError(try place.ctl("status", "c"), Told.mountedForOther, Told.askOwner)
            expectError(try place.ctl("mount", "c"))
            #expect(try place.ctl("status", "c", asUser: 65534).status == 0)
            try place.unmount()
        }
    }

    @Test("The file of what was deleted can be read, also of one of several names and below a deleted directory")
    func deletedFiles() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir -p c/d/e", in: place.path)
            for text in ["one", "two"] {
                try shell("echo \(text) > c/d/e/f; sync c/d/e/f; rm c/d/e/f", in: place.path)
                try shell("echo \(text) > c/g; rm c/g", in: place.path)
            }
            try shell("rm -r c/d", in: place.path)
            for entry in try JSONDecoder().decode(
                [DeletedRecord].self, from: Data(try place.ctl("deleted", "c", "--json").stdout))
            where entry.type == "file" {
                let shown = try place.ctl("show", entry.id, in: "c")
                #expect(shown.status == 0 && ["one", "two"].contains(shown.text), "\(entry): \(shown.errors)")
            }
            #expect(try place.ctl("show", "c/g").text == "two")
            #expect(try place.ctl("show", "c/d/e/f").text == "two")
            try place.unmount()
        }
    }

    @Test("With source-open the directory itself leads to its mount")
    func sourceOpen() throws {
        try Place.with { place in
            mkdir(place.path + "/m", 0o755)
            #expect(try place.ctl("mount", "c", "m", "-o", "source-open").status == 0)
            try shell("echo two > m/f", in: place.path)
            let status = try place.ctl("status", "c")
            #expect(status.status == 0 && status.text.contains("at \(place.path)/m"), "\(status.errors)")
            #expect(try place.ctl("history", "c/f").text.hasPrefix("c/f  2 versions"))
            expectError(try place.ctl("mount", "c"), Told.alreadyMounted)
            try place.unmount("c")
            #expect(try !Mounts.all().contains { $0.path.hasPrefix(place.path) })
        }
    }

    @Test("Status says what the file system can do, which names get no versions, and from what size on nothing is kept")
    func status() throws {
        try Place.with { place in
            try "# none\n*.iso\n".write(toFile: place.path + "/c/.versionsignore", atomically: false, encoding: .utf8)
            try place.mount()
            #expect(try place.ctl("config", "ignore.patterns", #"["*.o"]"#, in: "c").status == 0)
            let mounted = try place.ctl("status", "c").text
            #expect(mounted.contains("'*.o', '*.iso'"), "\(mounted)")
            for word in ["versions", "xattr", "hard links", "O_TMPFILE"] {
                #expect(mounted.contains(word), "\(mounted)")
            }
            if mounted.contains("passthrough on") { #expect(mounted.contains(", passthrough,"), "\(mounted)") }
            // There is reflink, or a limit.
            #expect(
                mounted.contains("reflink, ") || mounted.contains("over 1 GiB that is overwritten in place"),
                "\(mounted)")
            try place.unmount()
            let unmounted = try JSONDecoder().decode(
                Status.self, from: Data(try place.ctl("status", "c", "--json").stdout))
            #expect(unmounted.log == "none" && unmounted.fileSystems.first?.can.contains("versions") == true)
        }
    }

    @Test("Status counts the versions whose content is lost, and says of which documents")
    func lost() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                "mkdir -m 700 c/d; mv c/f c/d; echo two > c/d/f; mv c/d/f c/d/g; echo three > c/d/g", in: place.path)
            try place.unmount()
            #expect(try !place.ctl("status", "c").text.contains("lost"))
            try shell("find c/.versionsfs/objects -type f -delete", in: place.path)
            #expect(try place.ctl("check", "--repair", "--container", "c").status == 1)
            let status = try place.ctl("status", "c").text
            #expect(status.contains("lost, of d/") && status.contains("versionsctl history"), "\(status)")
            // Who may not look into the directory does not read there what is in it.
            try place.mount()
            let other = try place.ctl("status", "c", asUser: 65534).text
            // ("of d/", not "d/": the place's own path may end so.)
            #expect(other.contains("lost: ") && !other.contains("of d/"), "\(other)")
            try place.unmount()
        }
    }

    @Test("What cannot be put where it was asked for is said of that place, and which names are reserved")
    func places() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/d; echo two > c/f; echo x > c/x; rm c/x", in: place.path)
            let versions = try JSONDecoder().decode(
                HistoryRecord.self, from: Data(try place.ctl("history", "c/f", "--json").stdout)).versions
            guard let old = versions.last?.id else { throw Failure("no versions") }
            let long = String(repeating: "n", count: 256)
            for (to, words) in [
                ("c/.versionsfs", "the name .versionsfs is reserved"), ("c/.versionsfs/y", ".versionsfs is reserved"),
                ("c/.versions/y", "the name .versions is reserved"), ("c/d/.versions/y", ".versions is reserved"),
                ("c/\(long)", "too long"), ("c/\(long)/y", "too long"),
            ] {
                let commands = [
                    ["restore", "c/f", "--version", old], ["undelete", "c/x"], ["restore", "c/d", "--at", "1h"],
                ]
                for command in commands {
                    let output = try run(Workplace.control, command + ["--to", to], in: place.path)
                    expectError(output, "error: \(to): ", words)
                }
            }
            expectError(try place.ctl("undelete", "c/x", "--to", "c/.versions"), ": c/.versions: ", Told.isReserved)
            expectError(try place.ctl("query", "TRUE", "c/.versions"), ": c/.versions: the name .versions is ")
            try place.unmount()
        }
    }

    @Test("Of a file that chattr has protected it is said so", .enabled(if: getuid() == 0, "chattr takes root"))
    func protected() throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/d; echo two > c/f; echo x > c/d/x; rm c/d/x", in: place.path)
            let versions = try JSONDecoder().decode(
                HistoryRecord.self, from: Data(try place.ctl("history", "c/f", "--json").stdout)).versions
            guard let old = versions.last?.id else { throw Failure("no versions") }
            try place.unmount()
            for (flag, word) in [("i", "immutable"), ("a", "append-only")] {
                let set = try run("chattr", ["+\(flag)", "c/f"], in: place.path)
                // The file system of the tests need not have such flags.
                guard set.status == 0 else { return }
                defer { _ = try? run("chattr", ["-\(flag)", "c/f"], in: place.path) }
                try place.mount()
                expectError(
                    try place.ctl("restore", "c/f", "--version", old),
                    "error: c/f: it is \(word)\nhint: `chattr -\(flag)`")
                try place.unmount()
            }
            try shell("chattr +i c/d", in: place.path)
            defer { _ = try? run("chattr", ["-i", "c/d"], in: place.path) }
            try place.mount()
            expectError(try place.ctl("undelete", "c/d/x"), "c/d/x: its directory is immutable\nhint: `chattr -i")
            expectError(
                try place.ctl("restore", "c/f", "--version", old, "--to", "c/d/y"), "c/d/y: its directory is immutable")
            try place.unmount()
        }
    }

    @Test("After a kill the first opening counts what is kept before it says how much that is")
    func sizes() throws {
        try Place.with { place in
            // A sum is on record, which is no longer true afterwards.
            try place.mount()
            try place.unmount()
            let child = try place.serve("c")
            try shell(
                "head -c 300000 /dev/zero > c/a; echo > c/a; head -c 200000 /dev/zero > c/b; rm c/b", in: place.path)
            #expect(try place.ctl("space", "c").text.contains("deleted"))
            kill(child.pid, SIGKILL)
            _ = try child.wait(.after(seconds: 20))
            umount2(place.path + "/c", VFS_MNT_DETACH)
            for number in 1...2 {
                let told = try place.ctl("status", "c", "--json")
                let status = try JSONDecoder().decode(Sizes.self, from: Data(told.stdout))
                #expect(status.space.history >= 300_000 && status.space.deleted >= 200_000, "\(number): \(told.text)")
                let asked = try place.ctl("forget", "c")
                #expect(asked.errors.contains("KiB in all"), "\(number): \(asked.errors)")
            }
            try place.mount()
            let space = try place.ctl("space", "c", "--json")
            let sizes = try JSONDecoder().decode(Sizes.Space.self, from: Data(space.stdout))
            #expect(sizes.history >= 300_000 && sizes.deleted >= 200_000, "\(space.text)")
            try place.unmount()
        }
    }

    private struct Sizes: Decodable {
        struct Space: Decodable {
            var history: UInt64
            var deleted: UInt64
        }
        var space: Space
    }

    @Test("What is forgotten keeps no attribute of ours on its files, and what could not be cleared is told once")
    func forgotten() throws {
        try Place.with { place in
            mkdir(place.path + "/other", 0o755)
            try place.mount("other")
            try place.unmount("other")
            try place.mount()
            // Marks of a file renamed over another, and labels of what was synchronized. The engine has them elsewhere.
            try shell(
                """
                mkdir -p c/d/e; for i in 1 2; do echo $i > c/d/e/new; mv c/d/e/new c/d/e/f$i
                echo again > c/d/e/new; mv c/d/e/new c/d/e/f$i; echo $i | dd of=c/s$i conv=fsync status=none; done
                """, in: place.path)
            try place.unmount()
            // A container that lies in this one by now has marks of its own; what else there is is the user's.
            try shell(
                """
                for file in c/d/e/f1 c/s1 c/s2; do setfattr -n user.versionsfs.label -v x $file; done
                mv other c/other; cp --preserve=xattr c/s1 c/other; setfattr -n user.versions -v x c/s1
                """, in: place.path)
            let marked = "getfattr -R -h -d -m user.versionsfs c | grep '^# file' | grep -v '/[.]versionsfs/'"
            let before = try shell(marked, in: place.path).text
            #expect(["c/d/e/f1", "c/s2", "c/other/s1"].allSatisfy { before.contains($0) }, "\(before)")
            let isProtected = try run("chattr", ["+i", "c/s1", "c/s2"], in: place.path).status == 0
            defer { _ = try? run("chattr", ["-i", "c/s1", "c/s2"], in: place.path) }
            let forget = try place.ctl("forget", "c", "--yes")
            #expect(forget.status == 0 && forget.text == "c is an ordinary directory again.", "\(forget)")
            let left = "and 1 more may still have attributes user.versionsfs.*: Operation not permitted"
            #expect(forget.errors.contains(left) == isProtected && !forget.errors.contains("\n"), "\(forget.errors)")
            let after = try shell("\(marked); true", in: place.path).text.split(separator: "\n")
            #expect(after.count == (isProtected ? 3 : 1) && after.contains("# file: c/other/s1"), "\(after)")
            #expect(try shell("getfattr --only-values -n user.versions c/s1", in: place.path).text == "x")
            #expect(try !FileManager.default.contentsOfDirectory(atPath: place.path + "/c").contains(".versionsfs"))
        }
    }

    private struct Status: Decodable {
        struct FileSystem: Decodable { var can: [String] }
        var log: String
        var fileSystems: [FileSystem]
    }
}
