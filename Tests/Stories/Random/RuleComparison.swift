// What the product says of a directory's documents beside what the model says, as sentences about what differs.

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

    func problems(_ model: RuleModel, _ pids: [Int: Int32]) throws -> [String] {
        let names = try container.names(in: directory)
        var problems: [String] = []
        if names != model.names.keys.sorted() {
            problems.append("names: \(names), the model has \(model.names.keys.sorted())")
        }
        for name in names { problems += try document(name, model, pids) }
        problems += try deletions(model)
        return problems
    }

    private func document(_ name: String, _ model: RuleModel, _ pids: [Int: Int32]) throws -> [String] {
        guard let item = model.names[name].flatMap({ model.items[$0] }) else { return [] }
        let path = directory + "/" + name
        let text = container.text(of: path)
        var problems: [String] = []
        if text != model.content(name) {
            problems.append("\(path) holds '\(text ?? "nothing")', the model has '\(model.content(name) ?? "nothing")'")
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
        let expected = item.versions.values.map { version in
            line(
                version.kind.rawValue, version.content, version.author.flatMap { pids[$0] } ?? 0,
                version.parents.compactMap { item.versions[$0]?.content })
        }.sorted()
        if found != expected {
            problems.append(
                "history of \(path):\n  it has\n    \(found.joined(separator: "\n    "))\n  the model has\n    "
                    + expected.joined(separator: "\n    "))
        }
        return problems + (try conflict(path, item, contents))
    }

    /// With one loser, the conflict's base is the one from which that parted; with several, which is shown first is a
    /// matter of taste.
    private func conflict(_ path: String, _ item: RuleModel.Item, _ contents: [String: String]) throws -> [String] {
        let losers = item.versions.values.filter { $0.kind == .conflict }
        guard losers.count == 1, let loser = losers.first else { return [] }
        let conflicts: [ConflictRecord] = try socket.call("conflicts", target: path)
        guard conflicts.count == 1, let found = conflicts.first else {
            return ["\(path): \(conflicts.count) conflicts listed"]
        }
        let base = found.base.flatMap { contents[$0.id] }
        let expected = item.current.flatMap { item.commonAncestor($0, loser.id) }.flatMap { item.versions[$0]?.content }
        return base == expected
            ? [] : ["the base of \(path) is '\(base ?? "none")', the model has '\(expected ?? "none")'"]
    }

    private func deletions(_ model: RuleModel) throws -> [String] {
        let entries: [DeletedRecord] = try socket.call("deleted", target: directory)
        let found = entries.map { "\(($0.path as NSString).lastPathComponent): \($0.size)" }.sorted()
        let expected = model.deleted.values.map { "\($0.name): \($0.content.utf8.count)" }.sorted()
        return found == expected ? [] : ["deleted: \(found), the model has \(expected)"]
    }
}
