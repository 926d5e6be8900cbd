// The rows of a directory are in the catalog before those of anything in it, whichever thread comes first: a kill
// between the two would leave documents without a path.

import Foundation
import Glibc
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct DirectoryRowsTests {
    /// The files of the state that a kill leaves as they are.
    private static let state = ["catalog.sqlite", "catalog.sqlite-wal", RedoLog.name]

    private func urls(_ path: String) -> [URL] {
        Self.state.map { URL(fileURLWithPath: "\(path)/.versionsfs/\($0)") }
    }

    /// The state as it is on the disk.
    private func saved(_ tree: BrowsedContainer) throws -> [Data] {
        tree.container.store.flush()
        return try urls(tree.path).map { try Data(contentsOf: $0) }
    }

    /// The container as another daemon finds it that comes after a kill.
    private func killed(_ tree: BrowsedContainer, with state: [Data]) throws -> BrowsedContainer {
        tree.close()
        for (file, bytes) in zip(urls(tree.path), state) { try bytes.write(to: file) }
        return try BrowsedContainer(at: tree.path, later: 60)
    }

    @Test("a document has a path while another thread records its directory, and after a kill in that moment")
    func savedByTwo() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/e"] { try tree.makeDirectory(name) }
        let (container, directory) = (tree.container, try #require(tree.container.nodes[try tree.node("d/e")]))
        let seen = Mutex<(state: [Data], findings: [String])?>(nil)
        let other = UncheckedWork {
            try? tree.save("d/e/y", "two")
            let found = (try? self.saved(tree)).map { ($0, (try? tree.findings()) ?? ["no check"]) }
            seen.withLock { $0 = found }
        }
        let hasBegun = Mutex(false)
        // Between the step that finds the directory without a row and the one that queues the document's rows.
        let look: @Sendable () -> Void = {
            guard container.recordedDirectories.contains(directory.file), !hasBegun.withLock({ $0 }) else { return }
            hasBegun.withLock { $0 = true }
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                other.body()
                done.signal()
            }
            done.wait()
        }
        tree.clock.atLook.withLock { $0 = [look] }
        try tree.save("d/e/x", "one")
        tree.clock.atLook.withLock { $0 = [] }
        let found = seen.withLock { $0 }
        let (state, findings) = try #require(found)
        #expect(findings == [])
        let after = try killed(tree, with: state)
        #expect(try after.findings() == [])
        #expect(try after.container.store.path(of: after.item("d/e/y")) == TreePath(bytes: "d/e/y".utf8))
        after.close()
    }

    @Test("a directory of documents gets the row back that it has lost", arguments: [true, false])
    func lost(isKill: Bool) throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/e"] { try tree.makeDirectory(name) }
        try tree.save("d/e/x", "one")
        let directories = try ["d", "d/e"].map { try #require(tree.container.nodes[try tree.node($0)]).file }
        tree.container.store.commit(directories.map { .removeDirectory($0) })
        let state = try saved(tree)
        #expect(try tree.findings() != [])
        if !isKill { tree.close() }
        let after = isKill ? try killed(tree, with: state) : try BrowsedContainer(at: tree.path, later: 60)
        #expect(try after.findings() == [])
        #expect(try after.container.store.path(of: after.item("d/e/x")) == TreePath(bytes: "d/e/x".utf8))
        after.close()
    }

    @Test("the row of a directory that is moved meanwhile is not queued from before")
    func moved() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        let container = tree.container
        let chain = container.nodes.chain(try #require(container.nodes[try tree.node("d")]))
        let directories = RecordedDirectories([])
        #expect(!directories.record(chain, isCurrent: { false }, queue: { _ in Issue.record("it was queued") }))
        var rows = 0
        #expect(directories.record(chain, isCurrent: { true }, queue: { rows += $0.count }))
        #expect(directories.record(chain, isCurrent: { true }, queue: { rows += $0.count }))
        #expect(rows == 1)
    }
}

/// Work for another thread while this one waits for it.
private struct UncheckedWork: @unchecked Sendable {
    let body: () -> Void
}
