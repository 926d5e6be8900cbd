// Operations over the engine: what stands in their way, and what a kill behind them leaves.

import Foundation
import Glibc
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("The engine: operations") struct EngineOperationsTests {
    private let me = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())

    private func document(_ path: String, in served: ServedContainer) throws -> DocumentRecord {
        try served.container.finder.document(at: #require(TreePath(bytes: Array(path.utf8))), as: me)
    }

    /// The contents of a document's versions, newest first.
    private func contents(_ path: String, in served: ServedContainer) throws -> [String] {
        let found = try document(path, in: served)
        return try found.versions.map { version in
            let content = try served.container.finder.content(of: version, in: found)
            var bytes = [UInt8](repeating: 0, count: Int(content.size))
            let count = pread(content.raw, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    private func restore(_ steps: Int, _ path: String, in served: ServedContainer) throws {
        let found = try document(path, in: served)
        let version = try #require(found.versions.dropFirst(steps).first)
        _ = try served.container.operations.restore(version, of: found, to: nil, as: me)
    }

    private func undelete(_ path: String, in served: ServedContainer) throws {
        let path = try #require(TreePath(bytes: Array(path.utf8)))
        let what = try served.container.operations.undeletable(at: path, elsewhere: false, as: me)
        _ = try served.container.operations.undelete(
            what, to: nil, as: me, report: { _ in }, expecting: { _ in })
    }

    @Test("A kill behind a restore loses no version")
    func killedRestore() throws {
        let served = try ServedContainer()
        for text in ["one", "two"] { try served.save("f", text) }
        let state = try served.state().merging(try served.marks(["f"])) { $1 }
        try restore(1, "f", in: served)
        #expect(served.text("f") == "one")
        try served.kill(leaving: state)
        #expect(served.text("f") == "one")
        #expect(try contents("f", in: served).prefix(3) == ["one", "two", "one"])
        #expect(try served.problems() == [])
    }

    @Test("A kill behind an undeletion loses nothing of the file")
    func killedUndelete() throws {
        let served = try ServedContainer()
        for text in ["one", "two"] { try served.save("f", text) }
        try served.unlink("f")
        let state = try served.state().merging(try served.marks(["f"])) { $1 }
        try undelete("f", in: served)
        try served.kill(leaving: state)
        #expect(served.text("f") == "two")
        #expect(try contents("f", in: served).first == "two")
        #expect(try served.problems() == [])
    }

    @Test("A file in the middle of a save is not restored, and is once that has ended")
    func busy() throws {
        let served = try ServedContainer()
        for text in ["one", "two"] { try served.save("f", text) }
        let handle = try served.open("f")
        try served.put("xyz", handle, "f")
        var kind: OperationError.Kind?
        do { try restore(1, "f", in: served) } catch let error as OperationError { kind = error.kind }
        #expect(kind == .busy && served.text("f") == "xyz")
        try served.close(handle, "f")
        try restore(1, "f", in: served)
        #expect(try contents("f", in: served) == ["two", "xyz", "two", "one"] && served.text("f") == "two")
    }

    @Test("A version that is purged goes, and a document that began with it keeps its content")
    func purgedOrigin() throws {
        let served = try ServedContainer()
        for text in ["one", "two"] { try served.save("f", text) }
        let found = try document("f", in: served)
        let version = try #require(found.versions.last)
        let operations = served.container.operations
        for name in ["copy", "saved"] {
            _ = try operations.restore(version, of: found, to: TreePath(bytes: Array(name.utf8)), as: me)
        }
        try served.save("saved", "three")
        _ = try operations.purge(found, version, dryRun: false, force: true, as: me)
        func check() throws {
            #expect(try contents("f", in: served) == ["two"])
            #expect(try contents("copy", in: served) == ["one"])
            #expect(try contents("saved", in: served).sorted() == ["one", "three"])
            #expect(served.text("copy") == "one" && served.text("saved") == "three")
            #expect(try served.problems() == [])
        }
        try check()
        try served.remount()
        try check()
        // The kept content says whose it is now: the version does not come back where the catalog is lost.
        try served.remount { try FileManager.default.removeItem(atPath: "\(served.path)/.versionsfs/catalog2.sqlite") }
        #expect(try contents("f", in: served) == ["two"])
        #expect(try contents("copy", in: served).contains("one"))
    }

    @Test("A directory that was removed with what was in it comes back, and its entries are none any more")
    func directories() throws {
        let served = try ServedContainer()
        try served.makeDirectory("d")
        try served.save("d/f", "one")
        try served.unlink("d/f")
        try served.container.removeDirectory(served.caller, parent: Node.rootID, name: Array("d".utf8))
        try undelete("d", in: served)
        #expect(served.text("d/f") == "one")
        #expect(try served.facts.lists.deleted(limit: 10).elements.isEmpty)
        try served.remount()
        #expect(try contents("d/f", in: served) == ["one"])
        #expect(try served.problems() == [])
    }
}
