// One way of saving, and what it must leave behind: the rows of the editor tests.

import Foundation
import Support
import Testing

/// A program that saves `f.txt`, which begins as ``SaveCase/initial``.
struct SaveCase: Sendable, CustomTestStringConvertible {
    static let file = "f.txt"
    static let initial = "one\ntwo\n"

    let name: String
    /// The contents after each save, in order.
    let contents: [String]
    /// What may lie beside the document afterwards: a backup that its user asked for.
    var beside: [String] = []
    /// Does the saving.
    let perform: @Sendable (TestContainer) throws -> Void

    var testDescription: String { name }

    init(
        _ name: String, contents: [String], beside: [String] = [],
        perform: @escaping @Sendable (TestContainer) throws -> Void
    ) {
        self.name = name
        self.contents = contents
        self.beside = beside
        self.perform = perform
    }

    /// A line of shell that saves once.
    static func line(_ name: String, _ line: String, gives content: String, beside: [String] = []) -> SaveCase {
        SaveCase(name, contents: [content], beside: beside) { try shell(line, in: $0.path) }
    }

    /// Runs it in a container of its own. Throws what is wrong.
    func check() throws {
        try withContainer(named: "save", files: [SaveCase.file: SaveCase.initial]) { container in
            let before = container.isVersioned ? try container.history(of: SaveCase.file) : nil
            try perform(container)
            var problems = try plainProblems(container)
            if let before { problems += try versionProblems(container, before) }
            return problems
        }
    }

    /// Content and names, which hold on any file system.
    private func plainProblems(_ container: TestContainer) throws -> [String] {
        var problems: [String] = []
        let text = container.text(of: SaveCase.file)
        if text != contents.last { problems.append("content: \(text.debugDescription)") }
        let names = try container.names()
        let expected = ([SaveCase.file] + beside).sorted()
        if names != expected { problems.append("names: \(names), not \(expected)") }
        return problems
    }

    /// One version per save, in one line of descent, nothing else anywhere.
    private func versionProblems(_ container: TestContainer, _ before: HistoryRecord) throws -> [String] {
        var problems: [String] = []
        let after = try container.history(of: SaveCase.file)
        problems += lineProblems(after)
        if before.versions.count != 1 { problems.append("\(before.versions.count) versions before the first save") }
        if let old = before.current?.item, after.current?.item != old { problems.append("the item is another one now") }
        let found = try after.versions.map { String(decoding: try container.content(of: $0), as: UTF8.self) }
        let expected = Array(contents.reversed()) + [SaveCase.initial]
        if found != expected { problems.append("versions, newest first: \(found), not \(expected)") }
        let listed = try container.namesWithVersions()
        if listed != [SaveCase.file] { problems.append("with other versions: \(listed)") }
        let deleted = try container.deleted().map(\.path)
        if !deleted.isEmpty { problems.append("in the deleted area: \(deleted)") }
        return problems + (try container.checkFindings())
    }
}

/// What keeps a history from being one uninterrupted line without conflicts.
func lineProblems(_ history: HistoryRecord) -> [String] {
    var problems: [String] = []
    let kinds = history.versions.map(\.kind)
    let expected = ["current"] + Array(repeating: "history", count: max(0, kinds.count - 1))
    if kinds != expected { problems.append("kinds: \(kinds)") }
    for (version, older) in zip(history.versions, history.versions.dropFirst()) where version.parents != [older.id] {
        problems.append("the parents of \(version.id) are \(version.parents), not \(older.id)")
    }
    if Set(history.versions.map(\.item)).count > 1 { problems.append("several items in one history") }
    return problems
}
