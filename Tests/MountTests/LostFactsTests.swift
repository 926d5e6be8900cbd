// The engine's catalog is lost between two mounts: what is kept says what it is, in labels of both formats.

import Foundation
import Support
import Testing
import VersionModel

@Suite("A lost catalog of the engine", .serialized)
struct LostFactsTests {
    @Test("An upgraded container has its histories back, each in one document", arguments: [true, false])
    func upgraded(isDamaged: Bool) throws {
        try withContainer(named: "lost", files: ["before": "before\n"], level: .mounted) { container in
            try shell(
                """
                echo one > f; echo two > f
                echo alpha > t && mv t g; echo beta > t && mv t g
                mkdir d && echo deep > d/deep && echo deeper > d/deep
                echo gone > gone && rm gone
                ln -s nowhere link && rm link
                """, in: container.path)
            try container.unmount()
            container.environment = ["VERSIONSFS_ENGINE": "1"]
            try container.mount()
            try shell(
                """
                echo three > f; echo four > f
                echo gamma > t && mv t g
                mv d e && echo deepest > e/deep
                echo left > left && echo lost > left && rm left
                mkdir empty && rmdir empty
                """, in: container.path)
            try container.unmount()
            let catalog = "\(container.path)/.versionsfs/catalog2.sqlite"
            if isDamaged {
                let file = try FileHandle(forUpdating: URL(fileURLWithPath: catalog))
                try file.write(contentsOf: Data(repeating: 0x5a, count: 4096))
                try file.close()
            } else {
                try FileManager.default.removeItem(atPath: catalog)
            }
            try container.mount()
            try shell("echo five > f", in: container.path)
            try container.unmount()
            return try Self.problems(container)
        }
    }

    private static func problems(_ container: TestContainer) throws -> [String] {
        let history = try EngineHistory(container.path)
        defer { try? history.close() }
        let expected = [
            "f": ["five\n", "four\n", "three\n", "two\n", "one\n"], "g": ["gamma\n", "beta\n", "alpha\n"],
            "e/deep": ["deepest\n", "deeper\n", "deep\n"],
        ]
        var problems = try history.problems(expected)
        let (deleted, entries) = (try history.deleted(), try history.entries())
        if entries["link"] != .symlink || entries["empty"] != .directory { problems.append("entries: \(entries)") }
        for contents in [["gone\n"], ["lost\n", "left\n"]] where !deleted.contains(contents) {
            problems.append("deleted: \(deleted), not \(contents)")
        }
        return problems
    }
}
