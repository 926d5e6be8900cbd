// One program renames a file, and another saves it in the same moment: the rows of the first come first. Else the
// catalog goes back to the version before, and the newer one is marked current for good. Nothing is lost, either.

import Foundation
import Glibc
import Support
import Synchronization
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct LateRowsTests {
    /// A file that somebody has open, with something written to it.
    private func written(_ tree: BrowsedContainer) throws -> Writer {
        let file = try Writer(tree, "x", O_WRONLY | O_TRUNC)
        try file.write("second one", at: 0)
        return file
    }

    /// What is wrong with the container, before it is closed and after it was opened again.
    private func findings(_ tree: BrowsedContainer, _ node: UInt64, _ handle: UInt64) throws -> [String] {
        tree.container.release(node: node, handle: handle)
        let before = try tree.findings()
        tree.close()
        let again = try BrowsedContainer(at: tree.path, later: 60)
        for name in ["x", "y"] where FileManager.default.fileExists(atPath: "\(tree.path)/\(name)") {
            let node = try again.node(name)
            let reply = try #require(try again.container.open(again.caller, node: node, flags: O_RDONLY))
            again.container.release(node: node, handle: reply.handle)
        }
        return before + (try again.findings())
    }

    /// Runs a change of names up to where its document is unlocked, and something else there.
    private func between(
        _ tree: BrowsedContainer, _ item: ItemID, _ change: @escaping () throws -> Void,
        _ then: @escaping () -> Void
    ) throws {
        let failed = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        // The names' thread asks for this once the document is free, and before the names are.
        tree.container.expiring.withLock { _ in
            let work = UncheckedWork { do { try change() } catch { failed.withLock { $0 = true } } }
            Thread.detachNewThread {
                work.body()
                done.signal()
            }
            // By a thread that holds nothing.
            let other = DispatchSemaphore(value: 0)
            let look = UncheckedWork {
                while tree.container.tombstones.document(of: item) == nil { sched_yield() }
                then()
            }
            Thread.detachNewThread {
                look.body()
                other.signal()
            }
            other.wait()
        }
        done.wait()
        #expect(!failed.withLock { $0 })
    }

    @Test("a save that comes while its file is renamed stays the current version")
    func renamed() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "first")
        let item = try tree.item("x").id
        let file = try written(tree)
        try between(tree, item) { try tree.move("x", to: "y") } _: {
            tree.container.flush(tree.caller, handle: file.handle)
        }
        let current = try #require(try tree.container.store.version(try tree.item("y").current))
        #expect(current.size == 10)
        #expect(try findings(tree, file.node, file.handle) == [])
    }

    @Test("a save that comes while the old name of its file comes back stays the current version")
    func cameBack() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "first")
        let file = try written(tree)
        try tree.move("x", to: "y")
        let documents = tree.container.documents
        let elsewhere = FileID(7)
        while documents.count < DocumentIndex.limit {
            let name = try #require(FileName("\(documents.count)"))
            let place = Place(directory: elsewhere, name: name)
            let document = Document(Document.State(item: .random(), places: [place]))
            try tree.container.names.writing { names throws in try documents.insert(names, document, at: place) }
        }
        // The name is one more, and the index says so, between two steps.
        let calls = Mutex(0)
        let close = UncheckedWork { tree.container.flush(tree.caller, handle: file.handle) }
        documents.whenCrowded {
            calls.withLock { $0 += 1 }
            close.body()
        }
        try tree.save("x", "third")
        // What it does keeps the container, which would keep its directory.
        documents.whenCrowded {}
        #expect(calls.withLock { $0 } == 1)
        let current = try #require(try tree.container.store.version(try tree.item("y").current))
        #expect(current.size == 10)
        #expect(try findings(tree, file.node, file.handle) == [])
    }

    @Test("what is renamed over a document is kept if another program empties it meanwhile", arguments: 1...6)
    func emptied(look: Int) throws {
        let tree = try BrowsedContainer()
        let container = tree.container
        try tree.save("y", "old")
        try tree.save("x", "what was saved")
        let node = try #require(container.nodes[try tree.node("x")])
        let document = try #require(container.documents.documentInMemory(at: try tree.place("x")))
        let flags = O_WRONLY | O_TRUNC
        let writing = OpenForWriting(
            node: node, descriptor: SharedDescriptor(open("\(tree.path)/x", O_RDWR)), flags: flags,
            caller: tree.caller, requester: container.requester(tree.caller, isOpening: true),
            claim: container.serving.arbiter.newClaim(), coordinated: nil, patience: Patience(until: Scheduler.now))
        // Its open has found the file, and goes on between two steps of the rename.
        let looks = Mutex(0)
        let opened = Mutex<UInt64?>(nil)
        let atLook: @Sendable () -> Void = {
            let isIt = looks.withLock { looks in
                looks += 1
                return looks == look
            }
            guard isIt, document.state.withLockIfAvailable({ _ in true }) == true else { return }
            let reply = try? container.goOn(writing, document)
            opened.withLock { $0 = reply?.handle }
        }
        tree.clock.atLook.withLock { $0 = [atLook] }
        try tree.move("x", to: "y")
        tree.clock.atLook.withLock { $0 = [] }
        if let handle = opened.withLock({ $0 }) {
            tree.container.flush(tree.caller, handle: handle)
            tree.container.release(node: node.id, handle: handle)
        }
        #expect(try tree.texts().contains("what was saved"))
        #expect(try tree.findings() == [])
    }

    @Test("a version that was current a moment ago, without a file of its own, goes along with its content")
    func superseded() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "one")
        try tree.move("x", to: "y")
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array("x".utf8), mode: 0o644, flags: O_WRONLY)
        let seen = try #require(try tree.container.store.version(try tree.item("x").current))
        #expect(seen.kind == .current && tree.container.rename(seen, to: seen.content))
        try tree.write("second one", made.found.node, made.reply.handle, at: 0)
        tree.container.flush(tree.caller, handle: made.reply.handle)
        #expect(tree.container.rename(seen, to: seen.content))
        #expect(try findings(tree, made.found.node, made.reply.handle) == [])
    }

    @Test("a save of a document whose content another one's rename takes over stays the current version")
    func shared() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "one")
        try tree.save("z", "one")
        try tree.move("x", to: "y")
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array("x".utf8), mode: 0o644, flags: O_WRONLY)
        let handle = made.reply.handle
        try tree.write("second one", made.found.node, handle, at: 0)
        let document = try #require(tree.container.documents.documentInMemory(at: try tree.place("x")))
        let content = document.state.withLock { $0.current?.content }
        let calls = Mutex(0)
        let close = UncheckedWork { tree.container.flush(tree.caller, handle: handle) }
        // Once the content is another one's, and before the rename has told the catalog.
        let look: @Sendable () -> Void = {
            let isOther = document.state.withLockIfAvailable { $0.current?.content != content } ?? false
            guard isOther, calls.withLock({ $0 }) == 0 else { return }
            calls.withLock { $0 += 1 }
            close.body()
        }
        tree.clock.atLook.withLock { $0 = [look] }
        try tree.move("y", to: "z")
        #expect(calls.withLock { $0 } == 1)
        tree.clock.atLook.withLock { $0 = [] }
        let current = try #require(try tree.container.store.version(try tree.item("x").current))
        #expect(current.size == 10)
        #expect(try findings(tree, made.found.node, handle) == [])
    }
}

/// What another thread does for a test that waits for it.
private struct UncheckedWork: @unchecked Sendable {
    let body: () -> Void
}
