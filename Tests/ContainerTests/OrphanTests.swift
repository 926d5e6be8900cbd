// Files that lose their names while somebody has them open: what was saved before stays what it was, and what is
// written afterwards is a version too.

import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct OrphanTests {
    /// The texts of all versions that the store has, sorted; nil where a content is missing.
    private func texts(_ tree: BrowsedContainer, of item: ItemID) throws -> [String] {
        tree.container.store.flush()
        return try tree.container.store.versions(of: item).filter { $0.kind != .current }.map { version in
            let file = try tree.container.store.contents.open(version.content)
            defer { try? file.close() }
            var buffer = [UInt8](repeating: 0, count: Int(clamping: version.size))
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
        }.sorted()
    }

    private func item(_ tree: BrowsedContainer, deleted path: String) throws -> ItemID {
        let deletions = try tree.container.store.deletions(within: nil)
        return try #require(deletions.first { "\($0.path)".hasSuffix(path) }?.item)
    }

    @Test("what a name held stays what it was when the name comes back while its old file is written", arguments: [
        O_RDWR, O_WRONLY, O_WRONLY | O_APPEND,
    ])
    func writtenAfterTheNameCameBack(flags: Int32) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let old = try Writer(tree, "x", flags)
        try tree.unlink("x")
        try old.write("more", at: 7)
        try tree.save("x", "new")
        try old.write("last", at: flags & O_APPEND != 0 ? 11 : 0)
        old.close()
        #expect(try tree.live("x") == "new")
        let last = flags & O_APPEND != 0 ? "contentmorelast" : "lastentmore"
        #expect(try texts(tree, of: try tree.item("x").id) == ["content", last].sorted())
        #expect(try tree.findings() == [])
    }

    @Test("what is written to a deleted file is in the deleted file, and what it was before is history", arguments: [
        O_RDWR, O_WRONLY, O_WRONLY | O_APPEND,
    ])
    func writtenAfterDeletion(flags: Int32) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let old = try Writer(tree, "x", flags)
        try tree.unlink("x")
        try old.write("CONT", at: flags & O_APPEND != 0 ? 7 : 0)
        old.close()
        #expect(try tree.findings() == [])
        let item = try item(tree, deleted: "x")
        let versions = try tree.container.store.versions(of: item)
        #expect(versions.count == 2 && versions.contains { $0.size == 7 && $0.kind == .history })
        let deletion = try #require(try tree.container.store.deletions(within: nil).first)
        _ = try tree.container.undelete(
            deletion, as: Principal(user: getuid(), primaryGroup: getgid(), process: getpid()))
        #expect(try tree.live("x") == (flags & O_APPEND != 0 ? "contentCONT" : "CONTent"))
        #expect(try tree.findings() == [])
    }

    @Test("a deleted file that is emptied after a close is deleted as empty, and what it held is history")
    func emptiedAfterItsClose() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let own = try Writer(tree, "x", O_RDWR | O_TRUNC)
        try tree.unlink("x")
        try own.write("more", at: 0)
        // Of a duplicate.
        tree.container.flush(tree.caller, handle: own.handle)
        var edit = AttributeEdit()
        edit.size = 0
        _ = try tree.container.setAttributes(tree.caller, node: own.node, handle: own.handle, edit)
        own.close()
        tree.container.store.flush()
        let deletion = try #require(try tree.container.store.deletions(within: nil).first)
        #expect(deletion.size == 0)
        #expect(Set(try texts(tree, of: try #require(deletion.item))) == ["content", "more"])
        #expect(try tree.findings() == [])
    }

    @Test("what is written to a displaced file is never taken for what the name has now, though that is appended to")
    func writtenBesideAnAppend() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let old = try Writer(tree, "x", O_WRONLY)
        try tree.save("x.new", "new")
        try tree.move("x.new", to: "x")
        let appending = try Writer(tree, "x", O_WRONLY | O_APPEND)
        try appending.write(" more", at: 3)
        try old.write("CONT", at: 0)
        appending.close()
        old.close()
        #expect(try tree.live("x") == "new more")
        #expect(try tree.texts().sorted() == ["CONTent", "content", "new", "new more"])
        #expect(try tree.findings() == [])
    }

    @Test("what was deleted and is cut off through an open descriptor has what it was in its history")
    func truncatedAfterDeletion() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let old = try Writer(tree, "x", O_WRONLY)
        try tree.unlink("x")
        var edit = AttributeEdit()
        edit.size = 3
        _ = try tree.container.setAttributes(tree.caller, node: old.node, handle: old.handle, edit)
        old.close()
        #expect(try tree.texts().sorted() == ["con", "content"])
        #expect(try tree.findings() == [])
    }

    @Test("of two writers of a deleted file the second counts too")
    func twoWriters() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let (one, two) = (try Writer(tree, "x"), try Writer(tree, "x"))
        try tree.unlink("x")
        try one.write("1", at: 0)
        one.close()
        try two.write("2", at: 1)
        two.close()
        #expect(try tree.findings() == [])
        let versions = try tree.container.store.versions(of: try item(tree, deleted: "x"))
        let current = try #require(versions.first { $0.kind == .current })
        #expect(versions.count == 2 && current.size == 7)
    }

    @Test("what a name held stays when the file that came back loses the name before it is saved", arguments: [
        true, false,
    ], [true, false])
    func lostAgainUnsaved(closesFirst: Bool, isMoved: Bool) throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "OLDOLD")
        func lose(_ name: String) throws { try isMoved ? tree.move("x", to: name) : tree.unlink("x") }
        try lose("moved")
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array("x".utf8), mode: 0o644, flags: O_WRONLY | O_CREAT | O_TRUNC)
        let (node, handle) = (made.found.node, made.reply.handle)
        try tree.write("aaaaaaaaaaaa", node, handle, at: 0)
        try tree.unlink("x")
        func close() {
            tree.container.flush(tree.caller, handle: handle)
            tree.container.release(node: node, handle: handle)
        }
        if closesFirst { close() }
        try tree.save("x", "bbbb")
        if !closesFirst { close() }
        #expect(Set(try tree.texts()) == ["OLDOLD", "aaaaaaaaaaaa", "bbbb"])
        #expect(try tree.live("x") == "bbbb")
        #expect(try tree.findings() == [])
    }

    @Test("what replaced a deleted file stays when another goes on writing to it unseen", arguments: [true, false])
    func writtenUnseen(comesBack: Bool) throws {
        let tree = try BrowsedContainer()
        tree.container.connect(PassingKernel())
        try tree.save("x", "content")
        let (one, two) = (try Writer(tree, "x"), try Writer(tree, "x", O_WRONLY | O_TRUNC))
        try two.poke("replaced", at: 0)
        try tree.unlink("x")
        two.close()
        try one.poke("ONE", at: 0)
        if comesBack {
            try tree.save("x", "new")
            one.close()
            #expect(try texts(tree, of: try tree.item("x").id) == ["ONElaced", "content", "replaced"])
        } else {
            one.close()
            #expect(try texts(tree, of: try item(tree, deleted: "x")) == ["content", "replaced"])
        }
        #expect(try tree.findings() == [])
    }

    @Test("a deleted file that was open and never written leaves nothing more", arguments: [true, false])
    func neverWritten(isRecorded: Bool) throws {
        let tree = try BrowsedContainer()
        if isRecorded { try tree.save("x", "first") }
        try tree.save("x", "content")
        let old = try Writer(tree, "x")
        try tree.unlink("x")
        old.close()
        #expect(try tree.findings() == [])
    }

    @Test("what was written by a descriptor from before stays when its document is renamed over another")
    func writtenBesideAndRenamed() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "x"] { try tree.save(name, "first") }
        let old = try Writer(tree, "d", O_WRONLY | O_TRUNC)
        try old.write("beside", at: 0)
        try tree.save("d.new", "first")
        try tree.move("d.new", to: "d")
        old.close()
        // Of one version, as far as its ancestors go: yet it was not made to be renamed.
        try tree.move("d", to: "x")
        try tree.save("d", "again")
        #expect(try texts(tree, of: try tree.item("d").id) == ["beside", "first"])
        #expect(try tree.findings() == [])
    }

    @Test("a name that came back after its writer closed has the written content in its history")
    func cameBackAfterClose() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let old = try Writer(tree, "x")
        try tree.unlink("x")
        try old.write("CONT", at: 0)
        old.close()
        try tree.save("x", "new")
        #expect(try texts(tree, of: try tree.item("x").id) == ["CONTent", "content"])
        #expect(try tree.findings() == [])
    }

    @Test("a content that another document shares outlives a save by rename that has the same content again")
    func sharedByAnother() throws {
        let tree = try BrowsedContainer()
        // The first goes on as `target`; the next, with the same content, comes back as what it was and replaces it.
        for text in ["same", "same", "other", "same"] {
            try tree.save("t", text)
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array("t".utf8), newParent: Node.rootID,
                newName: Array("target".utf8), flags: 0)
        }
        #expect(try tree.live("target") == "same")
        #expect(try tree.findings() == [])
    }

    @Test("what one of two writers synchronizes is amended by whoever of them closes last")
    func synchronizedByOneOfTwo() throws {
        let tree = try BrowsedContainer()
        try tree.save("x", "content")
        let (one, two) = (try Writer(tree, "x", O_WRONLY), try Writer(tree, "x", O_WRONLY))
        try two.write("CONT", at: 0)
        try tree.container.synchronize(node: two.node, handle: two.handle, dataOnly: false)
        try two.write("ENT!", at: 4)
        two.close()
        one.close()
        #expect(try tree.live("x") == "CONTENT!")
        #expect(try texts(tree, of: try tree.item("x").id) == ["content"])
        #expect(try tree.findings() == [])
    }
}
