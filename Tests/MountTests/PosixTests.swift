// The POSIX suite: Tests/Posix runs the same operations on a bare directory and on the mount; whatever differs must be
// listed here, with its reason, and in docs/posix.md.

import Foundation
import Support
import Testing

@Suite struct PosixTests {
    /// A difference that we know of: in which cases, in which lines, and why.
    struct Difference {
        /// A regular expression for the whole name of a case.
        var cases: String
        /// A regular expression for each whole line that may differ, on either side.
        var lines: String
        /// As docs/posix.md says it.
        var reason: String

        func allows(_ name: String, _ line: String) -> Bool {
            func matches(_ text: String, _ pattern: String) -> Bool {
                text.range(of: "^(?:\(pattern))$", options: .regularExpression) != nil
            }
            return matches(name, cases) && matches(line, lines)
        }
    }

    static let known = [
        Difference(
            cases: "fallocate (collapse|insert) .*", lines: ".*",
            reason: "FUSE knows neither FALLOC_FL_COLLAPSE_RANGE nor FALLOC_FL_INSERT_RANGE: EOPNOTSUPP"),
        Difference(
            cases: "set-id .* chown self|chown -1 -1|times after chown", lines: ".*",
            reason: """
                chown(path, -1, -1) is not passed to a file system in user space: it changes nothing, not even ctime \
                or set-id bits
                """),
        Difference(
            cases: "set-id bob .* chown", lines: "(stat: |x ).*",
            reason: """
                a chown(2) that fails takes the set-id bits of a file that a program has open for writing: the kernel \
                asks the same question before a write that it passes through
                """),
        Difference(
            cases: "rename (directory|full) to full whiteout", lines: "  from: .*",
            reason: "ext4 touches the directory although RENAME_WHITEOUT onto a full directory fails"),
        Difference(
            cases: "write direct", lines: ".*",
            reason: "without passthrough O_DIRECT takes any length and alignment"),
        Difference(
            cases: ".*", lines: "(.*: )?blocks: [0-9]+",
            reason: """
                a file may carry attributes of ours (its label, or the mark of a save in progress), which may take a \
                block
                """),
        Difference(
            cases: "unlinked and open", lines: "reopen: .*",
            reason: """
                an unlinked file cannot be opened for writing again through /proc/self/fd: what was deleted does not \
                change
                """),
        Difference(
            cases: "working directory replaced", lines: "stat: .*",
            reason: "a directory that was replaced shows the size 0 of a removed one"),
        Difference(
            cases: "times after fsync", lines: "  d/x: (ctime|unchanged)",
            reason: "fsync notes in an attribute of ours that the file is whole, which moves ctime"),
        Difference(
            cases: "copy .*", lines: "  x: (atime|unchanged)",
            reason: "after copy_file_range the source's access time shows when the kernel asks for it next"),
    ]

    /// Runs the suite in a directory; the outcome of each case by its name, in the order run.
    private func outcomes(in directory: String, asUser user: UInt32? = nil) throws -> [(name: String, lines: [String])]
    {
        struct Outcome: Decodable {
            var `case`: String
            var lines: [String]
        }
        let output = try mustRun("/usr/bin/python3", ["-B", Self.script, directory], asUser: user, seconds: 900)
        return try output.text.split(separator: "\n").map { line in
            let outcome = try JSONDecoder().decode(Outcome.self, from: Data(line.utf8))
            return (outcome.case, outcome.lines)
        }
    }

    /// What differs between two runs and is not allowed to.
    private func problems(_ bare: [(name: String, lines: [String])], _ mounted: [(name: String, lines: [String])])
        -> [String]
    {
        guard bare.map(\.name) == mounted.map(\.name) else {
            return ["not the same cases were run: \(bare.count) on the bare directory, \(mounted.count) on the mount"]
        }
        return zip(bare, mounted).compactMap { bare, mounted in
            // What only the mount says comes first: it is what to look for.
            let changes = mounted.lines.difference(from: bare.lines)
            let lines = (changes.insertions + changes.removals).compactMap { change -> String? in
                let (sign, text) = switch change {
                case .remove(_, let text, _): ("bare directory: ", text)
                case .insert(_, let text, _): ("mount: ", text)
                }
                return Self.known.contains { $0.allows(bare.name, text) } ? nil : sign + text
            }
            return lines.isEmpty ? nil : "\(bare.name)\n    " + lines.prefix(12).joined(separator: "\n    ")
        }
    }

    /// The names of all cases, which stay as they are.
    private func names() throws -> [String] {
        try mustRun("/usr/bin/python3", ["-B", Self.script, "--list"]).text.split(separator: "\n").map(String.init)
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../Posix/posix.py").standardized.path

    @Test("Every case that docs/posix.md cites exists, and every difference that is allowed for is cited there")
    func cited() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/posix.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## What the suite finds").last)
        let table = try #require(section.components(separatedBy: "Beside the suite:").first)
        // The first column: `write direct`, `copy *`.
        let cited = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            (line.dropFirst(2).components(separatedBy: " | ").first ?? "").split(separator: "`").map(String.init)
                .filter { $0 != ", " }
        }
        let names = try names()
        #expect(Set(names).count == names.count && names.count > 2000)
        let patterns = cited.map { NSRegularExpression.escapedPattern(for: $0).replacing("\\*", with: ".*") }
        func found(_ pattern: String) -> [String] {
            names.filter { $0.range(of: "^(?:\(pattern))$", options: .regularExpression) != nil }
        }
        #expect(cited.count >= 8, "\(cited)")
        for (name, pattern) in zip(cited, patterns) where found(pattern).isEmpty { Issue.record("no case \(name)") }
        let all = Set(patterns.flatMap(found))
        for difference in Self.known where difference.cases != ".*" {
            let cases = found(difference.cases)
            #expect(!cases.isEmpty, "no case \(difference.cases)")
            #expect(all.isSuperset(of: cases), "not cited: \(Set(cases).subtracting(all).sorted().prefix(3))")
        }
    }

    @Test("2,500 operations have the same results, errors and attributes as on the file system below")
    func sameAsBelow() throws {
        let bare = try Workplace.fresh("bare")
        let expected = try outcomes(in: bare)
        try withContainer(named: "posix", seconds: 900) { container in
            var problems = expected.count >= 1000 ? [] : ["only \(expected.count) cases were run"]
            problems += expected.filter { $0.lines.contains { $0.hasPrefix("FAILED") } }.map {
                "\($0.name) is broken: \($0.lines)"
            }
            problems += self.problems(expected, try outcomes(in: container.path))
            return problems + (try container.checkFindings())
        }
        _ = try run("rm", ["-rf", bare], seconds: 60)
    }

    @Test("The same for an ordinary user's own mount")
    func sameForUser() throws {
        let user: UInt32 = 65534
        let bare = try Workplace.fresh("bare")
        chown(bare, user, user)
        let expected = try outcomes(in: bare, asUser: user)
        try withContainer(named: "posix-user", asUser: user, seconds: 900) { container in
            let few = expected.count >= 1000 ? [] : ["only \(expected.count) cases were run"]
            return few + problems(expected, try outcomes(in: container.path, asUser: user))
                + (try container.checkFindings(asUser: user))
        }
        _ = try run("rm", ["-rf", bare], seconds: 60)
    }
}
