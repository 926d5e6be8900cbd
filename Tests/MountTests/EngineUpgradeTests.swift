// A container that was served in format 1 is upgraded when the engine serves it first.

import Foundation
import Support
import Testing

@Suite(.serialized) struct EngineUpgradeTests {
    @Test("Histories, names and the deleted list of format 1 go on in the engine's mount")
    func upgraded() throws {
        try withContainer(named: "upgraded", files: ["before": "before\n"], level: .mounted) { container in
            try shell(
                """
                echo one > f; echo two > f
                echo both > pair && ln pair other
                echo gone > gone && rm gone
                ln -s nowhere link && rm link
                mkdir d && echo deep > d/deep && mv d e
                echo a > a && echo b > b && mv a b
                """, in: container.path)
            try container.unmount()
            container.environment = ["VERSIONSFS_ENGINE": "1"]
            try container.mount()
            try shell("echo three > f; echo after >> before; mv e/deep e/deeper; rm other", in: container.path)
            // The second time there is nothing to upgrade.
            try container.unmount()
            try container.mount()
            try shell("echo four > f", in: container.path)
            try container.unmount()
            return try Self.problems(container)
        }
    }

    private static func problems(_ container: TestContainer) throws -> [String] {
        let history = try EngineHistory(container.path)
        defer { try? history.close() }
        let expected = [
            "f": ["four\n", "three\n", "two\n", "one\n"], "pair": ["both\n"], "e/deeper": ["deep\n"],
            "b": ["a\n", "b\n"], "before": ["before\nafter\n", "before\n"],
        ]
        var problems = try history.problems(expected)
        let deleted = try history.deleted()
        if !deleted.contains(["gone\n"]) || !deleted.contains([]) { problems.append("deleted: \(deleted)") }
        for name in ["a", "d", "gone", "link", "other"] where try history.document(at: name) != nil {
            problems.append("\(name) is not there, and has a document")
        }
        return problems
    }
}
