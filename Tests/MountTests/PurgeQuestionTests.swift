// versionsctl purge: the versions that it says would go, its question on a terminal, and the pinned versions that stay.

import Foundation
import Support
import Testing

@Suite("What purge asks and keeps") struct PurgeQuestionTests {
    /// A container with three older versions of `f`, one of them pinned, and deleted things, one of them with a pin.
    private func withHistory(_ body: (TestContainer) throws -> [String]) throws {
        try withContainer(named: "purge") { container in
            guard container.isVersioned else { return [] }
            try shell(
                """
                for i in 1 2 3 4; do echo $i > f; done; mkdir d; echo a > d/a; echo b > b
                echo old > kept; echo new > kept
                """, in: container.path)
            let versions = try container.history(of: "f").versions
            try container.must("pin", "f", "--version", versions[2].id)
            try container.must("pin", "kept", "--version", container.history(of: "kept").versions[1].id)
            try shell("rm -r d b kept", in: container.path)
            return try body(container) + container.checkFindings()
        }
    }

    /// versionsctl in a terminal of its own, in the container.
    private func terminal(_ container: TestContainer, _ line: String) throws -> Terminal {
        try Terminal(
            "bash", ["-c", "\(Workplace.control) \(line); echo \"sta\"\"tus $?.\""], in: container.path,
            environment: ["NO_COLOR": "1"])
    }

    private func contents(_ container: TestContainer) throws -> [String] {
        try container.history(of: "f").versions.map { String(decoding: try container.content(of: $0), as: UTF8.self) }
    }

    @Test("On a terminal it says what would go and asks; no is the answer of whoever just presses Enter")
    func question() throws {
        try withHistory { container in
            var problems: [String] = []
            for (answer, status, left) in [("\n", 1, 4), ("no\n", 1, 4), ("y\n", 0, 2)] {
                let terminal = try terminal(container, "purge f")
                try terminal.wait(for: "Go on? [y/N]")
                let shown = terminal.screen.text
                let wanted = ["This removes 2 versions, 4 B of f, for good.", "1 pinned version stays"]
                for words in wanted where !shown.contains(words) {
                    problems.append("it does not say \"\(words)\": \(shown)")
                }
                try terminal.type(answer)
                try terminal.wait(for: "status \(status).")
                let count = try container.history(of: "f").versions.count
                if count != left { problems.append("\(count) versions after \(answer.debugDescription)") }
            }
            if try contents(container) != ["4\n", "2\n"] { problems.append("left: \(try contents(container))") }
            return problems
        }
    }

    @Test("The same of the deleted area, and of what was deleted at a path")
    func deletedArea() throws {
        try withHistory { container in
            let first = try terminal(container, "purge --deleted d")
            try first.wait(for: "This removes 1 version and 2 deleted entries, 2 B of d, for good.")
            try first.wait(for: "Go on? [y/N]")
            try first.type("y\n")
            try first.wait(for: "status 0.")
            var problems = try container.deleted().map(\.path).sorted() == ["b", "kept"] ? [] : ["not d alone has gone"]
            let second = try terminal(container, "purge --deleted")
            try second.wait(for: "Go on? [y/N]")
            let shown = second.screen.text
            if !shown.contains("1 pinned version stays") { problems.append("it says \(shown)") }
            try second.type("n\n")
            try second.wait(for: "status 1.")
            if try container.deleted().count != 2 { problems.append("it did not wait for the answer") }
            let third = try terminal(container, "purge --deleted --yes")
            try third.wait(for: "status 0.")
            if try container.deleted().map(\.path) != ["kept"] { problems.append("the pinned one is not left alone") }
            return problems
        }
    }

    @Test("Where nobody can answer it does not ask; pins stay unless forced, and that is said")
    func piped() throws {
        try withHistory { container in
            var problems: [String] = []
            let versions = try container.history(of: "f").versions
            let named = try container.ctl(["purge", "f", "--version", versions[2].id])
            if named.status != 1 || !named.errors.contains("pinned") { problems.append("named: \(named.errors)") }
            let output = try container.must("purge", "f").text
            if output != "Removed 2 versions, 4 B.\n1 pinned version stays: purge --force removes it, too." {
                problems.append("it says \(output)")
            }
            if try contents(container) != ["4\n", "2\n"] { problems.append("left: \(try contents(container))") }
            let again = try container.ctl(["purge", "f"])
            if again.status != 1 || !again.errors.contains("--force") { problems.append("again: \(again.errors)") }
            try container.must("purge", "f", "--force")
            if try contents(container) != ["4\n"] { problems.append("forced: \(try contents(container))") }
            try container.must("purge", "--deleted")
            if try container.deleted().map(\.path) != ["kept"] { problems.append("the pinned one is not left alone") }
            try container.must("undelete", "kept")
            let count = try container.history(of: "kept").versions.count
            if count != 2 { problems.append("it came back with \(count) versions") }
            try shell("rm kept", in: container.path)
            try container.must("purge", "--deleted", "--force")
            if try !container.deleted().isEmpty { problems.append("something is left by force") }
            return problems
        }
    }

    @Test("Of a name that looks like an id the deleted file is meant; for an id the question says the document's name")
    func namedLikeID() throws {
        try withHistory { container in
            var problems: [String] = []
            let versions = try container.history(of: "f").versions
            let name = String(versions[1].id.prefix(6)), folder = String(versions[3].id.prefix(6))
            let asked = try terminal(container, "purge \(name)")
            try asked.wait(for: "This removes 1 version, 2 B of f, for good.")
            try asked.type("n\n")
            try asked.wait(for: "status 1.")
            try shell(
                """
                echo first > \(name); echo second > \(name); rm \(name); mkdir \(folder); echo x > \(folder)/x
                rm -r \(folder)
                """, in: container.path)
            let shown = try container.must("show", name).text
            if shown != "second" { problems.append("show says \(shown)") }
            try container.must("restore", name, "--version", "previous", "--to", "copy")
            let copy = container.text(of: "copy")
            if copy != "second\n" { problems.append("restored: \(copy ?? "nothing")") }
            try container.must("purge", name, "--yes")
            if try contents(container).count != 4 { problems.append("purge took the document with the id") }
            let left = try container.history(of: name).versions.count
            if left != 1 { problems.append("the deleted file has \(left) versions") }
            try container.must("purge", "--deleted", folder, "--yes")
            let deleted = try container.deleted().map(\.path)
            if deleted.contains(where: { $0.hasPrefix(folder) }) { problems.append("left: \(deleted)") }
            return problems
        }
    }

    @Test("A dry run lists what would go, and nothing goes")
    func dryRun() throws {
        try withHistory { container in
            struct Would: Decodable {
                struct Entry: Decodable { var path: String }
                var versionCount: Int, deletedCount: Int, bytes: Int
                var versions: [Entry]
                var deleted: [Entry]?
                var pinnedCount: Int?
            }
            var problems: [String] = []
            let text = try container.must("purge", "f", "--dry-run").text.split(separator: "\n")
            if text.count != 4 || text[2] != "Would remove 2 versions, 4 B." || !text[0].hasSuffix("  f") {
                problems.append("of f: \(text)")
            }
            let one: Would = try container.decode(["purge", "f", "--dry-run"])
            if one.versionCount != 2 || one.versions.count != 2 || one.pinnedCount != 1 || one.deleted != nil {
                problems.append("of f: \(one)")
            }
            let area: Would = try container.decode(["purge", "--deleted", "--dry-run"])
            if area.deleted?.map(\.path).sorted() != ["b", "d", "d/a"] || area.pinnedCount != 1 || area.bytes != 4 {
                problems.append("of the deleted area: \(area)")
            }
            let below: Would = try container.decode(["purge", "--deleted", "d", "--dry-run", "--force"])
            if below.deletedCount != 2 || below.pinnedCount != nil { problems.append("of d: \(below)") }
            if try container.history(of: "f").versions.count != 4 || container.deleted().count != 4 {
                problems.append("something has gone")
            }
            return problems
        }
    }
}
