// The daemon is killed while the engine serves: the next mount knows all that programs have done.

import CTestSupport
import Foundation
import Support
import Testing

@Suite(.serialized) struct EngineKillTests {
    private static let environment = ["VERSIONSFS_ENGINE": "1"]

    @Test("After kill -9 each save is in the history of its name, and what was being written is a version")
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
            "f": ["four\n", "three\n", "two\n", "one\n"], "g": ["four\n", "three\n", "two\n", "one\n"],
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
