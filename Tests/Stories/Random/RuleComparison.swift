// What the product says of a directory's documents beside what a reference says, as sentences about what differs.

import CTestSupport
import Foundation
import Support

/// Everything that is compared of one version, as a text that can be sorted and printed.
private func line(_ kind: String, _ content: String, _ pid: Int32, _ parents: [String]) -> String {
    let show = { (text: String) in text.replacing("\n", with: "|") }
    return "\(kind) '\(show(content))' by \(pid), after \(parents.map { "'\(show($0))'" }.sorted())"
}

/// Asks the daemon for histories, conflicts and deleted entries, and compares.
struct RuleComparison {
    let container: TestContainer
    let socket: ControlSocket
    let directory: String

    func problems(_ reference: some RuleReference, _ pids: [Int: Int32]) throws -> [String] {
        let names = try container.names(in: directory)
        var problems: [String] = []
        if names != reference.present { problems.append("names: \(names), not \(reference.present)") }
        for name in names { problems += try document(name, reference, pids) }
        return problems + (try deletions(reference))
    }

    private func document(_ name: String, _ reference: some RuleReference, _ pids: [Int: Int32]) throws -> [String] {
        guard let document = reference.document(name) else { return [] }
        let path = directory + "/" + name
        let text = container.text(of: path)
        var problems: [String] = []
        if text != reference.content(name) {
            problems.append("\(path) holds '\(text ?? "nothing")', not '\(reference.content(name) ?? "nothing")'")
        }
        let history: HistoryRecord = try socket.call("history", target: path)
        var contents: [String: String] = [:]
        for version in history.versions {
            contents[version.id] =
                (try? container.content(of: version)).map { String(decoding: $0, as: UTF8.self) } ?? "UNREADABLE"
        }
        let found = history.versions.map { version in
            line(
                version.kind, contents[version.id] ?? "?", version.pid ?? 0,
                version.parents.compactMap { contents[$0] })
        }.sorted()
        let expected = document.versions.map { version in
            line(version.kind, version.content, version.author.flatMap { pids[$0] } ?? 0, version.parents)
        }.sorted()
        if found != expected {
            problems.append(
                "history of \(path):\n  it has\n    \(found.joined(separator: "\n    "))\n  the reference has\n    "
                    + expected.joined(separator: "\n    "))
        }
        return problems + (try conflict(path, document, contents))
    }

    /// With one loser, the conflict's base is the one from which that parted; with several, which is shown first is a
    /// matter of taste.
    private func conflict(_ path: String, _ document: RuleDocument, _ contents: [String: String]) throws -> [String] {
        guard let expected = document.bases else { return [] }
        let conflicts: [ConflictRecord] = try socket.call("conflicts", target: path)
        guard conflicts.count == 1, let found = conflicts.first else {
            return ["\(path): \(conflicts.count) conflicts listed"]
        }
        let base = found.base.flatMap { contents[$0.id] }
        let isExpected = base.map(expected.contains) ?? (found.base == nil && expected.isEmpty)
        return isExpected ? [] : ["the base of \(path) is '\(base ?? "none")', not of \(expected)"]
    }

    private func deletions(_ reference: some RuleReference) throws -> [String] {
        let entries: [DeletedRecord] = try socket.call("deleted", target: directory)
        let found = entries.map { "\(($0.path as NSString).lastPathComponent): \($0.size)" }.sorted()
        return found == reference.deletions ? [] : ["deleted: \(found), not \(reference.deletions)"]
    }
}
