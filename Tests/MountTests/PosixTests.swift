// The POSIX suite: Tests/Posix runs the same operations on a bare directory and on the mount; whatever differs must be listed
// here, with its reason, and in docs/posix.md.

import Foundation
import Support
import Testing

@Suite struct PosixTests {
    /// A difference that we know of: in which cases, in which lines, and why.
    struct Difference {
        /// A regular expression for the case's name.
        var cases: Regex<Substring>
        /// A regular expression for each line that may differ, on either side.
        var lines: Regex<Substring>
        /// For docs/posix.md.
        var reason: String
    }

    /// What differs for everyone.
    static let known: [Difference] = []

    /// Runs the suite in a directory; the outcome of each case by its name, in the order run.
    private func outcomes(in directory: String, asUser user: UInt32? = nil) throws -> [(name: String, lines: [String])] {
        struct Outcome: Decodable {
            var `case`: String
            var lines: [String]
        }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Posix/posix.py").standardized.path
        let output = try mustRun("python3", ["-B", script, directory], asUser: user, seconds: 900)
        return try output.text.split(separator: "\n").map { line in
            let outcome = try JSONDecoder().decode(Outcome.self, from: Data(line.utf8))
            return (outcome.case, outcome.lines)
        }
    }

    /// What differs between two runs and is not allowed to.
    private func problems(_ bare: [(name: String, lines: [String])], _ mounted: [(name: String, lines: [String])]) -> [String] {
        guard bare.map(\.name) == mounted.map(\.name) else {
            return ["not the same cases were run: \(bare.count) on the bare directory, \(mounted.count) on the mount"]
        }
        return zip(bare, mounted).compactMap { bare, mounted in
            let lines = mounted.lines.difference(from: bare.lines).compactMap { change -> String? in
                let (sign, text) = switch change {
                case .remove(_, let text, _): ("bare directory: ", text)
                case .insert(_, let text, _): ("mount: ", text)
                }
                let isKnown = Self.known.contains { bare.name.wholeMatch(of: $0.cases) != nil && text.wholeMatch(of: $0.lines) != nil }
                return isKnown ? nil : sign + text
            }
            return lines.isEmpty ? nil : "\(bare.name)\n    " + lines.prefix(12).joined(separator: "\n    ")
        }
    }

    @Test("2,500 operations have the same results, errors and attributes as on the file system below")
    func sameAsBelow() throws {
        let bare = try Workplace.fresh("bare")
        let expected = try outcomes(in: bare)
        try withContainer(named: "posix", seconds: 900) { container in
            var problems = expected.count >= 1000 ? [] : ["only \(expected.count) cases were run"]
            problems += expected.filter { $0.lines.contains { $0.hasPrefix("FAILED") } }.map { "\($0.name) is broken: \($0.lines)" }
            problems += self.problems(expected, try outcomes(in: container.path))
            return problems + (container.isVersioned ? try container.checkFindings() : [])
        }
        _ = try run("rm", ["-rf", bare], seconds: 60)
    }

    @Test("The same for an ordinary user's own mount")
    func sameForUser() throws {
        let user: UInt32 = 1001
        let bare = try Workplace.fresh("bare")
        chown(bare, user, user)
        let expected = try outcomes(in: bare, asUser: user)
        try withContainer(named: "posix-user", asUser: user, seconds: 900) { container in
            let few = expected.count >= 1000 ? [] : ["only \(expected.count) cases were run"]
            return few + problems(expected, try outcomes(in: container.path, asUser: user))
        }
        _ = try run("rm", ["-rf", bare], seconds: 60)
    }
}
