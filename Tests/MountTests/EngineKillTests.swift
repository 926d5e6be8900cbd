// The daemon is killed while the engine serves: the next mount knows all that programs have done.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.serialized) struct EngineKillTests {
    private static let environment = ["VERSIONSFS_ENGINE": "1"]

    @Test("After kill -9 each save is in the history of its name, and so is the part of one that was being written")
    func killed() throws {
        try withContainer(
            named: "engine-killed", files: ["old": "before\n"], environment: Self.environment, level: .mounted
        ) { container in
            try shell(
                """
                echo one > f; echo two > f
                echo draft > draft && mv draft final
                mkdir d && echo deep > d/deep && mv d e
                echo gone > gone && rm gone
                echo a > a && echo b > b && mv a b
                ln f g
                """, in: container.path)
            // It is in the middle of a save when the daemon ends.
            let writers = [
                open(container.file("f"), O_WRONLY | O_TRUNC | O_CLOEXEC),
                open(container.file("new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644),
            ]
            for (writer, text) in zip(writers, ["three\n", "new\n"]) {
                #expect(text.withCString { Glibc.write(writer, $0, strlen($0)) } == text.utf8.count)
            }
            try container.kill()
            for writer in writers { close(writer) }
            try container.mount()
            try shell("echo after >> old; echo four > f", in: container.path)
            try container.unmount()
            return try Self.problems(container)
        }
    }

    private static func problems(_ container: TestContainer) throws -> [String] {
        let history = try EngineHistory(container.path)
        defer { try? history.close() }
        let expected = [
            "f": ["four\n", "two\n", "three\n", "two\n", "one\n"],
            "g": ["four\n", "two\n", "three\n", "two\n", "one\n"],
            "new": ["new\n"], "final": ["draft\n"], "e/deep": ["deep\n"], "b": ["a\n", "b\n"],
            "old": ["before\nafter\n", "before\n"],
        ]
        var problems = try history.problems(expected)
        let deleted = try history.deleted()
        if deleted != [["gone\n"]] { problems.append("deleted: \(deleted)") }
        for name in ["a", "d", "draft", "gone"] where try history.document(at: name) != nil {
            problems.append("\(name) is not there, and has a document")
        }
        return problems
    }

    /// One program's unfinished work with a file that was saved before.
    private struct Story {
        var name: String
        /// The requests of the program, after the opening.
        var requests: [String]
        var flags: String
        /// What the file holds after the next mount.
        var current: String
        /// The contents that the name goes back to, newest first.
        var history: [String]
        var unfinished: [String] = []
    }

    private static let stories = [
        Story(
            name: "emptied", requests: [], flags: "w+trunc", current: "two",
            history: ["two", "", "two", "one"], unfinished: [""]),
        Story(
            name: "part", requests: ["write $h thr 0"], flags: "w+trunc", current: "two",
            history: ["two", "thr", "two", "one"], unfinished: ["thr"]),
        Story(
            name: "edited", requests: ["write $h x 1"], flags: "rw", current: "two",
            history: ["two", "txo", "two", "one"], unfinished: ["txo"]),
        Story(
            name: "synchronized", requests: ["write $h thr 0", "fsync $h"], flags: "w+trunc", current: "thr",
            history: ["thr", "two", "one"]),
        Story(
            name: "appended", requests: ["write $h more"], flags: "w+append", current: "twomore",
            history: ["twomore", "two", "one"]),
        Story(
            name: "extended", requests: ["write $h more 3"], flags: "rw", current: "twomore",
            history: ["twomore", "two", "one"]),
        Story(
            name: "closed", requests: ["write $h three 0", "close $h"], flags: "w+trunc", current: "three",
            history: ["three", "two", "one"]),
        Story(name: "untouched", requests: [], flags: "rw", current: "two", history: ["two", "one"]),
    ]

    @Test("A save in place that a kill has interrupted gives way; what was synchronized stays, as do appended bytes")
    func interrupted() throws {
        try withContainer(named: "engine-interrupted", environment: Self.environment, level: .mounted) { container in
            for story in Self.stories {
                try shell("printf one > \(story.name); printf two > \(story.name)", in: container.path)
            }
            var program: ActorProcess? = try ActorProcess("program", in: "/")
            for story in Self.stories {
                try program?.must("open", story.name, container.file(story.name), story.flags)
                try program?.perform(story.requests, replacing: ["$h": story.name])
            }
            try container.kill()
            // It is over before the next mount.
            program = nil
            try container.mount()
            var problems: [String] = []
            for story in Self.stories where container.text(of: story.name) != story.current {
                problems.append("\(story.name) is \(container.text(of: story.name) ?? "not there")")
            }
            problems += try container.checkFindings()
            try container.unmount()
            let history = try EngineHistory(container.path)
            defer { try? history.close() }
            for story in Self.stories {
                let found = (try history.contents(of: story.name), try history.unfinished(story.name))
                if found != (story.history, story.unfinished) { problems.append("\(story.name): \(found)") }
            }
            return problems
        }
    }

    @Test("What a program writes that outlives a kill loses no version", arguments: [true, false])
    func survivor(isMapped: Bool) throws {
        try withContainer(named: "engine-survivor", environment: Self.environment, level: .mounted) { container in
            try shell("printf one > f", in: container.path)
            let program = try ActorProcess("program", in: "/")
            try program.must("open", "f", container.file("f"), "rw")
            if isMapped {
                try program.must("map", "m", "f", "3")
                try program.must("close", "f")
            }
            func write(_ text: String) throws {
                if isMapped { try program.must("store", "m", "0", text) } else {
                    try program.must("write", "f", text, "0")
                }
            }
            try write("two")
            try container.kill()
            try container.mount()
            // Before the daemon's first look at the file, and behind it.
            for text in ["thr", "fou", "fiv"] {
                try write(text)
                if container.text(of: "f") != text { return ["f is \(container.text(of: "f") ?? "not there")"] }
            }
            try container.kill()
            try container.mount()
            try write("six")
            // The close goes to the daemon that is not there any more.
            if isMapped { try program.must("unmap", "m") } else { _ = try program.ask("close", "f") }
            var problems = container.text(of: "f") == "six" ? [] : ["f is \(container.text(of: "f") ?? "not there")"]
            problems += try container.checkFindings()
            try container.unmount()
            let history = try EngineHistory(container.path)
            defer { try? history.close() }
            let found = try history.contents(of: "f")
            for text in ["one", "two", "fiv", "six"] where !found.contains(text) {
                problems.append("\(text): \(found)")
            }
            if found.first != "six" { problems.append("current: \(found)") }
            let lost = try history.lost("f")
            return problems + (lost.isEmpty ? [] : ["lost: \(lost)"])
        }
    }

    @Test("A daemon that is killed again and again loses no save that a close has told of")
    func killedAgain() throws {
        try withContainer(named: "engine-killed-again", environment: Self.environment, level: .mounted) { container in
            var expected: [String] = []
            for round in 1...5 {
                // Each save has a file under a made-up name beside it, as editors make it.
                try shell(
                    "echo in-place-\(round) > f; echo moved-\(round) > .f.swp-\(round); mv .f.swp-\(round) f",
                    in: container.path)
                expected += ["in-place-\(round)\n", "moved-\(round)\n"]
                try container.kill()
                try container.mount()
            }
            let names = try container.names()
            try container.unmount()
            let history = try EngineHistory(container.path)
            defer { try? history.close() }
            let found = try history.contents(of: "f")
            var problems: [String] = []
            if found != Array(expected.reversed()) { problems.append("versions, newest first: \(found)") }
            if names != ["f"] { problems.append("names: \(names)") }
            return problems
        }
    }
}
