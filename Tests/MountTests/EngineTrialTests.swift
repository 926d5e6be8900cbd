// The engine serves a mount: every way of saving has its history, by facts alone.

import Foundation
import Support
import Testing

@Suite struct EngineTrialTests {
    @Test("An editor's save is one version of the engine", arguments: Editors.all)
    func editorSaves(_ row: SaveCase) throws { try row.checkByFacts() }

    @Test("A tool's save is one version of the engine", arguments: Tools.all)
    func toolSaves(_ row: SaveCase) throws { try row.checkByFacts() }

    @Test("The save sequence of a program that is not here is one version of the engine", arguments: Replays.all)
    func replayedSaves(_ row: SaveCase) throws { try row.checkByFacts() }
}

extension SaveCase {
    fileprivate func checkByFacts() throws {
        try withContainer(
            named: "engine", files: [SaveCase.file: SaveCase.initial], environment: ["VERSIONSFS_ENGINE": "1"],
            level: .mounted
        ) { container in
            try perform(container)
            let names = try container.names()
            let problems = container.text(of: SaveCase.file) == contents.last ? [] : ["the content is another one"]
            try container.unmount()
            return problems + (try factProblems(EngineHistory(container.path), names))
        }
    }

    /// One version per save, in one line of descent, nothing else anywhere.
    private func factProblems(_ history: EngineHistory, _ names: [String]) throws -> [String] {
        defer { try? history.close() }
        var problems: [String] = []
        let expectedNames = ([SaveCase.file] + beside).sorted()
        if names != expectedNames { problems.append("names: \(names), not \(expectedNames)") }
        let found = try history.contents(of: SaveCase.file)
        let expected = Array(contents.reversed()) + [SaveCase.initial]
        if found != expected { problems.append("versions, newest first: \(found), not \(expected)") }
        if try !history.isOneLine(SaveCase.file) { problems.append("the history is not one line") }
        let conflicts = try history.conflicts(of: SaveCase.file)
        if !conflicts.isEmpty { problems.append("conflicts: \(conflicts)") }
        let deleted = try history.deleted()
        if !deleted.isEmpty { problems.append("deleted: \(deleted)") }
        return problems
    }
}
