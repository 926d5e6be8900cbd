// versionsctl's operations that change something, in a mount over the engine.

import CTestSupport
import Foundation
import Support
import Testing

@Suite("The engine: operations of versionsctl")
struct EngineOperationTests {
    private func withEngine(
        _ files: [String: String] = [:], _ body: (TestContainer) throws -> [String]
    ) throws { try MountTests.withEngine(files, level: .versioned, body) }

    // MARK: Restoring

    @Test("A version comes back in place, with the mode and attributes that the file has now")
    func restored() throws {
        try withEngine(["d/f": "zero\n"]) { container in
            try shell(
                """
                echo one > d/f; echo two > d/f; chmod 640 d/f; setfattr -n user.note -v hello d/f
                touch -d 2020-01-01 d; cat d/f; stat d
                """, in: container.path)
            try container.must("restore", container.file("d/f"), "--version", "~2")
            var problems = try expect(
                "cat d/f; stat -c %a d/f; getfattr --only-values -n user.note d/f; ls d/.versions/f/history | wc -l",
                "zero\n640\nhello3", in: container)
            // A second one is a save like any other, and an equal content is none.
            try container.must("restore", container.file("d/f"))
            problems += try expect("cat d/f; ls d/.versions/f/history | wc -l", "two\n4", in: container)
            try container.must("restore", container.file("d/f"), "--version", "~0")
            problems += try expect("cat d/f; ls d/.versions/f/history | wc -l", "two\n4", in: container)
            problems += try expect("echo three > d/f; ls d/.versions/f/history | wc -l", "5", in: container)
            return problems
        }
    }

    @Test("A file of several names is written over, so that each of them has the version")
    func severalNames() throws {
        try withEngine { container in
            try shell("echo first > f; ln f g; echo second, and longer > f; stat -c %i f > before", in: container.path)
            try container.must("restore", container.file("g"))
            return try expect(
                "cat f g; stat -c %i f | cmp - before; stat -c %h f; ls .versions/f/history | wc -l",
                "first\nfirst\n2\n2", in: container)
        }
    }

    @Test("A version becomes a new file elsewhere, with its mode and time; nothing is replaced")
    func elsewhere() throws {
        try withEngine(["untouched": "x\n"]) { container in
            try shell(
                "mkdir d; echo one > f; chmod 600 f; stat -c %y f > time; echo two > f; chmod 644 f; ls d",
                in: container.path)
            try container.must("restore", container.file("f"), "--to", container.file("d/old"))
            try container.must("restore", container.file("untouched"), "--version", "~0", "--to", container.file("x"))
            let taken = try container.ctl(["restore", container.file("f"), "--to", container.file("d/old")])
            return try expect(
                "cat d/old x; stat -c %a d/old; stat -c %y d/old | cmp - time; ls d", "one\nx\n600\nold", in: container)
                + (taken.status == 1 && taken.errors.contains("exists") ? [] : [taken.errors])
                + expect("echo more > d/old; cat d/.versions/old/history/*", "one", in: container)
        }
    }

    @Test(
        "Who may not write a file restores nothing, and set-id bits go with another's content",
        .enabled(if: getuid() == 0, "only root may become another user"))
    func rights() throws {
        let nobody: UInt32 = 65534
        try withEngine { container in
            try shell("echo one > f; echo two > f; chmod 644 f", in: container.path)
            let refused = try container.ctl(["restore", container.file("f")], asUser: nobody)
            var problems = refused.status == 1 && refused.errors.contains("permission denied") ? [] : [refused.errors]
            try shell("chmod 4666 f", in: container.path)
            problems += try expect("stat -c %a f", "4666", in: container)
            try container.must("restore", container.file("f"), asUser: nobody)
            return try problems + expect("cat f; stat -c '%a %u' f", "one\n666 0", in: container)
        }
    }

    // MARK: Undeleting

    @Test("A directory comes back with everything that went with it, with modes and times")
    func directory() throws {
        try withEngine { container in
            let look = "find d -printf '%p %y %m %T@ %l\\n' | sort; cat d/f d/s/g"
            try shell(
                """
                mkdir -p d/s d/empty; echo f > d/f; echo g > d/s/g; ln -s f d/link; mkfifo d/fifo; chmod 2750 d/s
                chmod 600 d/f; echo early > d/early; rm d/early
                find d -depth -exec touch -h -d '2020-01-02 03:04:05.678901234' {} +; touch -d 2021-01-01 .
                """, in: container.path)
            let before = try shell(look + "; stat -c %y .", in: container.path).text
            try shell("rm -r d", in: container.path)
            let told = try container.must("undelete", container.file("d")).text
            let after = try shell(look + "; stat -c %y .", in: container.path).text
            var problems = before == after ? [] : ["\(before)\n became \(after)"]
            if !told.hasSuffix("/d (4 files, 3 directories).") { problems.append(told) }
            // What went before it is there still.
            problems += try container.deleted().map(\.path) == ["d/early"] ? [] : ["\(container.deleted().map(\.path))"]
            return problems
        }
    }

    @Test("What was deleted comes back with the directories that it was in, and to another path")
    func parents() throws {
        try withEngine { container in
            try shell("mkdir -p a/b; echo one > a/b/f; echo two > a/b/f; echo g > a/b/g; rm -r a", in: container.path)
            try container.must("undelete", container.file("a/b/f"))
            var problems = try expect("cat a/b/f a/b/.versions/f/history/*; ls a/b", "two\none\nf", in: container)
            try container.must("undelete", container.file("a/b/g"), "--to", container.file("h"))
            problems += try expect("cat h; ls a/b", "g\nf", in: container)
            let none = try container.ctl(["undelete", container.file("a/b/g")])
            return problems + (none.status == 1 ? [] : ["\(none.text)"])
        }
    }

    @Test("One of several names comes back to its file")
    func furtherName() throws {
        try withEngine { container in
            try shell("echo one > f; ln f g; echo two >> f; rm g; stat f", in: container.path)
            try container.must("undelete", container.file("g"))
            return try expect("cat g; stat -c %h f g; echo three > g; cat f", "one\ntwo\n2\n2\nthree", in: container)
        }
    }

    @Test("A file that a program has open comes back as a new one, with what was written by then")
    func open() throws {
        try withEngine { container in
            try shell("echo one > f", in: container.path)
            let writer = try ActorProcess("writer", in: container.path)
            try writer.must("open", "h", "f", "rw+append")
            try writer.must("write", "h", "two\n")
            try shell("rm f", in: container.path)
            try container.must("undelete", container.file("f"))
            var problems = try expect("cat f", "one\ntwo", in: container)
            try writer.must("write", "h", "three\n")
            try writer.must("close", "h")
            problems += try expect("cat f; echo four >> f; cat f", "one\ntwo\none\ntwo\nfour", in: container)
            return problems
        }
    }

    // MARK: Pins

    @Test("A pin is a version's own, and goes again")
    func pinned() throws {
        try withEngine(["untouched": "x\n"]) { container in
            try shell("echo one > f; echo two > f", in: container.path)
            try container.must("pin", container.file("f"), "--version", "~1")
            try container.must("pin", container.file("untouched"), "--version", "~0")
            var pins = try container.history(of: "f").versions.map(\.pinned)
            pins += try container.history(of: "untouched").versions.map(\.pinned)
            try container.must("unpin", container.file("f"), "--version", "~1")
            pins += try container.history(of: "f").versions.map(\.pinned)
            return pins == [false, true, true, false, false] ? [] : ["\(pins)"]
        }
    }

    // MARK: Conflicts

    /// `f` says "mine" then, and has a loser that says "ours": by two programs that are no kin.
    private func makeConflict(in container: TestContainer) throws {
        let one = try ActorProcess("one", in: container.path)
        let other = try ActorProcess("other", in: container.path)
        try one.load("f")
        try other.save("ours\n", to: "f")
        try one.save("mine\n", to: "f")
    }

    @Test(
        "A conflict is settled as its user says",
        arguments: [
            (["--keep", "current"], "mine", "f"), (["--keep", "all"], "mine", "f\nf 2"), (["--newest"], "mine", "f"),
            (["--keep", "other"], "ours", "f"), (["mv"], "ours", "f"),
        ])
    func settled(_ way: [String], text: String, names: String) throws {
        try withEngine(["f": "zero\n"]) { container in
            try makeConflict(in: container)
            let loser = try container.history(of: "f").versions.first { $0.kind == "conflict" }?.id ?? "none"
            if way == ["mv"] {
                try shell("mv -f .versions/f/conflicts/* f", in: container.path)
            } else {
                let words = way.map { $0 == "other" ? loser : $0 }
                let output = try container.ctl(["resolve", container.file("f")] + words)
                guard output.status == 0 else { return ["\(words): \(output.errors)"] }
            }
            var problems = try expect("cat f; ls", "\(text)\n\(names)", in: container)
            if names.contains("2") { problems += try expect("cat 'f 2'", "ours", in: container) }
            let kinds = try container.history(of: "f").versions.map(\.kind)
            if kinds.contains("conflict") { problems.append("\(kinds)") }
            let again = try container.ctl(["resolve", container.file("f"), "--keep", "current"])
            if !again.errors.contains("no conflict to resolve") { problems.append("\(again.text) \(again.errors)") }
            // Who goes on with that makes no conflict.
            try shell("cat f > /dev/null; echo more >> f", in: container.path)
            return try problems + expect("ls .versions/f/conflicts | wc -l; tail -1 f", "0\nmore", in: container)
        }
    }

    @Test("A conflict for trying out has a base, and is settled like any other")
    func tried() throws {
        try withEngine(["f": "one\n"]) { container in
            try container.must("simulate", "conflict", container.file("f"))
            var problems = try expect(
                "tail -qn1 .versions/f/conflicts/*; cat f",
                "A line from another program, for trying out conflicts.\none", in: container)
            try container.must("resolve", container.file("f"), "--merge")
            problems += try expect("wc -l < f; ls .versions/f/conflicts | wc -l", "2\n0", in: container)
            return problems
        }
    }

    // MARK: Purging

    @Test("Purged versions are gone with their bytes; pinned ones and the current one stay")
    func purged() throws {
        try withEngine { container in
            try shell(
                "echo public > g; echo SECRET >> g; echo clean > g; echo next > g; echo last > g", in: container.path)
            let versions = try container.history(of: "g").versions
            guard let middle = versions.first(where: { $0.size == 14 })?.id else { return ["\(versions)"] }
            let told = try container.must("purge", container.file("g"), "--version", middle, "--yes").text
            var problems = told.hasPrefix("Removed 1 version, 7 B") ? [] : [told]
            problems += try expect("cat .versions/g/history/* | sort", "clean\nnext\npublic", in: container)
            try container.must("pin", container.file("g"), "--version", "~2")
            let current = try container.ctl(["purge", container.file("g"), "--version", "~0", "--yes"])
            if current.status == 0 { problems.append("the current version went") }
            try container.must("purge", container.file("g"), "--yes")
            problems += try expect("cat .versions/g/history/* g", "clean\nlast", in: container)
            try container.unmount()
            return try problems + expect("grep -rl -e SECRET -e next .versionsfs/objects | wc -l", "0", in: container)
        }
    }

    @Test("Purged deleted things are gone, and pinned ones stay with their directories")
    func purgedDeleted() throws {
        try withEngine { container in
            try shell(
                "mkdir -p d/s e; echo f > d/s/f; echo g > d/g; ln -s x e/link; echo h > e/h; echo h2 > e/h",
                in: container.path)
            try container.must("pin", container.file("d/s/f"), "--version", "~0")
            try shell("rm -r d e", in: container.path)
            try container.must("purge", "--deleted", "--yes", container.path)
            var problems = try container.deleted().map(\.path).sorted() == ["d", "d/s", "d/s/f"]
                ? [] : ["\(container.deleted().map(\.path))"]
            try container.must("undelete", container.file("d"))
            problems += try expect("cat d/s/f; ls d", "f\ns", in: container)
            try container.unmount()
            return try problems + expect(
                "find .versionsfs/objects -type f | wc -l; find .versionsfs/deleted -mindepth 2 | wc -l",
                "1\n0", in: container)
        }
    }
}
