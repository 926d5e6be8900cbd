// `restore DIR --at T` over the engine: what ends it, what it is refused for, and what nobody knows any more.

import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container

@Suite("The engine: a directory's past") struct EnginePastTests: OperationTesting {
    private func restore(
        _ tree: EngineTree, _ directory: String = "", at time: Timestamp, to target: String? = nil,
        as principal: Principal? = nil, report: (Int) throws -> Void = { _ in }
    ) throws -> RestoreOutcome {
        let (from, to) = (directory.isEmpty ? TreePath.root : try path(directory), try target.map { try path($0) })
        return try tree.container.operations.restoreDirectory(
            from, at: time, to: to, as: principal ?? my, report: report)
    }

    /// The present moment; what follows is later.
    private func moment(_ tree: EngineTree) -> Timestamp {
        let now = tree.clock.now()
        tree.clock.advance(seconds: 20)
        return now
    }

    private func text(_ name: String, _ tree: EngineTree) -> String? {
        try? String(contentsOfFile: "\(tree.path)/\(name)", encoding: .utf8)
    }

    private func names(_ tree: EngineTree) throws -> [String] { try tree.disk().keys.sorted() }

    @Test("What ends it in the middle is told with what was done; asked again it goes on")
    func middle() throws {
        let tree = try EngineTree()
        for name in ["a", "b", "c"] { try tree.save(name, "one") }
        let then = moment(tree)
        for name in ["a", "b", "c"] { try tree.save(name, "two") }
        for target in [nil, "copy"] {
            do {
                _ = try restore(tree, at: then, to: target) { done in
                    if done == 2 { throw OperationError(.cancelled, "enough") }
                }
                Issue.record("it went on")
            } catch let error as OperationError {
                #expect(error.message.contains(target == nil ? "2 came back" : "in copy"), "\(error)")
            }
        }
        #expect(try restore(tree, at: then).entries == 1)
        #expect(try restore(tree, at: then).entries == 0)
        #expect(["a", "b", "c"].allSatisfy { text($0, tree) == "one" })
    }

    @Test("Who may not do it all does nothing", arguments: ["unlink", "rename", "save", "make", "closed"])
    func allOrNothing(what: String) throws {
        let tree = try EngineTree()
        #expect(chmod(tree.path, 0o777) == 0)
        for name in ["d", "e"] { try tree.make(.directory, name) }
        for name in ["d/a", "e/a"] { try tree.save(name, "one") }
        #expect(chmod("\(tree.path)/d", 0o777) == 0 && chmod("\(tree.path)/e", 0o755) == 0)
        let then = moment(tree)
        try tree.save("d/new", "new")
        try tree.move("d/a", to: "d/b")
        switch what {
        case "unlink": try tree.remove("e/a")
        case "rename": try tree.move("e/a", to: "d/c")
        case "save": try tree.save("e/a", "two")
        case "make": try tree.save("e/new", "new")
        default:
            try tree.make(.directory, "d/closed")
            try tree.save("d/closed/x", "x")
        }
        let before = try (names(tree), text("e/a", tree))
        #expect(kind { _ = try restore(tree, at: then, as: stranger) } == .denied)
        #expect(try names(tree) == before.0 && text("e/a", tree) == before.1)
        #expect(try restore(tree, at: then).problems.isEmpty)
        #expect(try names(tree) == ["d", "d/a", "e", "e/a"] && text("e/a", tree) == "one")
        #expect(try tree.problems() == [])
    }

    @Test("Times that have not come, or are from before the container or the directory, are refused")
    func times() throws {
        let tree = try EngineTree()
        let before = moment(tree)
        try tree.make(.directory, "d")
        try tree.save("d/a", "a")
        let then = moment(tree)
        let hour: Int64 = 3_600_000_000_000
        let (later, earlier) = (then.advanced(byNanoseconds: hour), before.advanced(byNanoseconds: -hour))
        let wrong = [("d", before), ("d", later), ("", earlier)]
        for (name, time) in wrong {
            for target in [nil, "copy"] {
                #expect(kind { _ = try restore(tree, name, at: time, to: target) } == .invalid, "\(name) \(time)")
            }
        }
        #expect(kind { _ = try restore(tree, "d/a", at: then) } == .notFound)
        #expect(kind { _ = try restore(tree, "d", at: then, to: "d") } == .exists)
        // Under another name it was there.
        try tree.move("d", to: "e")
        try tree.save("e/a", "newer")
        #expect(kind { _ = try restore(tree, "e", at: before) } == .invalid)
        _ = try restore(tree, "e", at: then)
        #expect(text("e/a", tree) == "a")
        _ = try restore(tree, at: before)
        #expect(try names(tree) == [])
    }

    @Test("A directory that is gone, or was renamed, comes back in place; below one that was renamed it does not")
    func lostDirectory() throws {
        let tree = try EngineTree()
        for name in ["d", "d/sub"] { try tree.make(.directory, name) }
        try tree.save("d/sub/a", "a")
        let then = moment(tree)
        try tree.move("d", to: "e")
        try tree.save("e/sub/a", "newer")
        #expect(kind { _ = try restore(tree, "d/sub", at: then) } == .notFound)
        _ = try restore(tree, "d", at: then)
        #expect(try names(tree) == ["d", "d/sub", "d/sub/a"] && text("d/sub/a", tree) == "a")
        for name in ["d/sub/a", "d/sub", "d"] { try tree.remove(name) }
        _ = try restore(tree, "d/sub", at: then)
        #expect(try names(tree) == ["d", "d/sub", "d/sub/a"] && text("d/sub/a", tree) == "a")
        #expect(try tree.problems() == [])
    }

    @Test("A name of a file of several does not get what another one holds out of the directory")
    func furtherNames() throws {
        let tree = try EngineTree()
        for name in ["d", "e"] { try tree.make(.directory, name) }
        try tree.save("d/a", "one")
        try tree.link("d/a", to: "e/a")
        let then = moment(tree)
        try tree.remove("e/a")
        try tree.save("d/a", "two")
        _ = try restore(tree, "e", at: then)
        #expect(text("e/a", tree) == "one" && text("d/a", tree) == "two")
        _ = try restore(tree, at: then)
        #expect(text("e/a", tree) == "one" && text("d/a", tree) == "one")
        #expect(try restore(tree, at: then).entries == 0)
    }

    @Test("What is being written stays, and is in no copy; of what was changed in the middle it is told", arguments: [
        "x.tmp\(getpid())", "x",
    ])
    func beingWritten(name: String) throws {
        let tree = try EngineTree()
        try tree.save("a", "a")
        let then = moment(tree)
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY)
        defer { tree.container.release(node: made.found.node, handle: made.reply.handle) }
        _ = try restore(tree, at: then, to: "copy")
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/copy") == ["a"])
        let outcome = try restore(tree, at: then)
        #expect(outcome.problems.map(\.path) == [try path(name)])
        #expect(access("\(tree.path)/\(name)", F_OK) == 0)
    }

    @Test("A file whose time was set since it was saved is copied with it")
    func touched() throws {
        let tree = try EngineTree()
        try tree.save("a", "a")
        var edit = AttributeEdit()
        edit.modified = timespec(tv_sec: 1_600_000_000, tv_nsec: 0)
        let node = try #require(try tree.container.lookup(tree.caller, parent: Node.rootID, name: Array("a".utf8))).node
        _ = try tree.container.setAttributes(tree.caller, node: node, handle: nil, edit)
        let then = moment(tree)
        _ = try restore(tree, at: then, to: "copy")
        let copy = try #require(try tree.attributes("copy/a"))
        #expect(copy.st_mtim.tv_sec == 1_600_000_000 && text("copy/a", tree) == "a")
    }
}
