// Operations on history through the container's own interface, without a kernel.

import CLinux
import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct OperationsTests {
    private let my = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())
    /// Somebody who is neither root nor the one who runs the tests.
    private let stranger = Principal(user: 54_321, primaryGroup: 54_321)

    private func path(_ text: String) throws -> TreePath { try #require(TreePath(bytes: text.utf8)) }

    private func text(_ version: Version, _ document: DocumentRecord, _ tree: BrowsedContainer) throws -> String {
        let content = try tree.container.content(of: version, in: document)
        var bytes = [UInt8](repeating: 0, count: Int(content.size))
        let count = pread(content.raw, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    private func kind(_ body: () throws -> Void) -> OperationError.Kind? {
        do {
            try body()
            return nil
        } catch { return (error as? OperationError)?.kind }
    }

    // MARK: Contents

    @Test func everyVersionCanBeReadWhereverItsBytesAre() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "second", "the third"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["the third", "second", "one"])
        #expect(document.versions.map(\.kind) == [.current, .history, .history])

        try tree.unlink("a.txt")
        let deleted = try tree.container.document(at: path("a.txt"), as: my)
        #expect(deleted.deletion != nil)
        #expect(try deleted.versions.map { try text($0, deleted, tree) } == ["the third", "second", "one"])
    }

    @Test func appendedVersionsEndWhereTheyEnded() throws {
        let tree = try BrowsedContainer()
        try tree.save("log", "one\n")
        tree.clock.advance(seconds: 100)
        try tree.save("log", "two\n", flags: O_APPEND)
        let document = try tree.container.document(at: path("log"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["one\ntwo\n", "one\n"])
    }

    // MARK: Restoring

    @Test func aRestoredVersionIsASaveWithBothParents() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a.txt", words) }
        let before = try tree.container.document(at: path("a.txt"), as: my)
        let old = try #require(before.versions.last)
        _ = try tree.container.restore(old, of: before, as: my)
        #expect(try tree.live("a.txt") == "old")
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.item == before.item)
        #expect(after.current?.parents == [before.current?.id, old.id].compactMap { $0 })
        #expect(try after.versions.map { try text($0, after, tree) } == ["old", "new", "old"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
        // And the next save keeps what was restored.
        try tree.save("a.txt", "next")
        let next = try tree.container.document(at: path("a.txt"), as: my)
        #expect(try next.versions.map { try text($0, next, tree) } == ["next", "old", "new", "old"])
    }

    @Test func aVersionIsRestoredToAFreePathOnly() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let old = try #require(document.versions.last)
        #expect(try tree.container.restore(old, of: document, to: path("b.txt"), as: my).entries == 1)
        #expect(try tree.live("b.txt") == "old")
        #expect(try tree.live("a.txt") == "new")
        #expect(kind { _ = try tree.container.restore(old, of: document, to: path("b.txt"), as: my) } == .exists)
        let copy = try tree.container.document(at: path("b.txt"), as: my)
        #expect(copy.current?.parents == [old.id])
    }

    @Test func oneFileOfSeveralNamesStaysOne() throws {
        let tree = try BrowsedContainer()
        for words in ["old", "new"] { try tree.save("a", words) }
        _ = try tree.container.link(tree.caller, node: tree.node("a"), parent: Node.rootID, name: Array("b".utf8))
        let document = try tree.container.document(at: path("a"), as: my)
        _ = try tree.container.restore(try #require(document.versions.last), of: document, as: my)
        #expect(try tree.live("a") == "old")
        #expect(try tree.live("b") == "old")
        #expect(try tree.container.document(at: path("b"), as: my).item == document.item)
    }

    // MARK: Resolving

    private func conflict(_ tree: BrowsedContainer) throws -> (document: DocumentRecord, loser: Version) {
        try tree.save("a.txt", "base")
        let base = try tree.item("a.txt").current
        try tree.save("a.txt", "mine")
        let loser = try tree.addConflict("a.txt", "theirs", base: base)
        return (try tree.container.document(at: path("a.txt"), as: my), loser)
    }

    @Test func keepingTheCurrentVersionTakesTheLoserInAsAParent() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let outcome = try tree.container.resolve(document, .current, as: my)
        #expect(outcome.resolved == [loser.id] && outcome.current == document.current?.id)
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.conflicts.isEmpty && after.versions.count == 3)
        #expect(after.current?.parents.contains(loser.id) == true)
        #expect(try tree.live("a.txt") == "mine")
        let last = try #require(try tree.container.store.changes(after: 0, limit: 1000).last).1
        #expect(last.event == .resolved && last.version == loser.id)
        #expect(kind { _ = try tree.container.resolve(after, .current, as: my) } == .nothingToDo)
        #expect(try tree.container.store.contents.label(of: loser.content).version.kind == .history)
    }

    @Test func choosingTheLoserMakesItsContentCurrent() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let outcome = try tree.container.resolve(document, .version(loser.id), as: my)
        #expect(try tree.live("a.txt") == "theirs")
        let after = try tree.container.document(at: path("a.txt"), as: my)
        #expect(after.conflicts.isEmpty && after.current?.id == outcome.current)
        #expect(after.current?.parents == [document.current?.id, loser.id].compactMap { $0 })
        #expect(try after.versions.map { try text($0, after, tree) }.sorted() == ["base", "mine", "theirs", "theirs"])
    }

    @Test func keepingAllPutsTheLosersBeside() throws {
        let tree = try BrowsedContainer()
        let (document, _) = try conflict(tree)
        try tree.save("a 2.txt", "taken")
        let outcome = try tree.container.resolve(document, .all, as: my)
        #expect(try outcome.written == [path("a 3.txt")])
        #expect(try tree.live("a 3.txt") == "theirs")
        #expect(try tree.live("a.txt") == "mine")
        #expect(try tree.container.document(at: path("a.txt"), as: my).conflicts.isEmpty)
    }

    @Test func theNewestWinsAndALoserThatWasNotSeenStays() throws {
        let tree = try BrowsedContainer()
        let (document, loser) = try conflict(tree)
        let later = try tree.addConflict("a.txt", "later")
        var seen = try tree.container.document(at: path("a.txt"), as: my)
        let outcome = try tree.container.resolve(seen, .merged, seen: [loser.id], as: my)
        #expect(outcome.remaining == 1)
        seen = try tree.container.document(at: path("a.txt"), as: my)
        #expect(seen.conflicts.map(\.id) == [later.id])
        #expect(try tree.container.resolveAll(within: .root, as: my).map(\.resolved) == [[later.id]])
        #expect(try tree.container.conflicted(within: .root, as: my).isEmpty)
        #expect(document.path == seen.path)
    }

    @Test func aSimulatedConflictCanBeResolvedLikeAnyOther() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "mine\n")
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let made = try tree.container.simulateConflict(document, as: my)
        let loser = try #require(made.conflicts.first)
        #expect(try text(loser, made, tree).hasPrefix("mine\n"))
        #expect(loser.author.program == "versionsctl" && loser.base != nil)
        _ = try tree.container.resolve(made, .version(loser.id), as: my)
        #expect(try tree.live("a.txt").hasPrefix("mine\nA line"))
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    // MARK: Undeleting

    /// Every entry below a directory with mode, times, attribute and content.
    private func photograph(_ directory: String) throws -> [String: String] {
        var result: [String: String] = [:]
        // Names that are not UTF-8 do not come through Foundation; the test looks for its one itself.
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) + [""] where !name.contains("\u{FFFD}") {
            let full = "\(directory)/\(name)"
            var status = stat()
            try #require(lstat(full, &status) == 0)
            var value = [UInt8](repeating: 0, count: 64)
            let length = linux_lgetxattr(full, "user.test", &value, 64)
            let isLink = status.st_mode & S_IFMT == S_IFLNK
            let content =
                isLink
                ? try FileManager.default.destinationOfSymbolicLink(atPath: full)
                : status.st_mode & S_IFMT == S_IFREG ? try String(contentsOfFile: full, encoding: .utf8) : ""
            result[name] = """
                \(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(value.prefix(max(0, length))) \(content)
                """
        }
        return result
    }

    @Test func aDirectoryComesBackAsItWas() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/sub", "d/sub/empty"] { try tree.makeDirectory(name) }
        try tree.save("d/a.txt", "a")
        try tree.save("d/sub/b.sh", "b", mode: 0o755)
        try tree.save("d/sub/b.sh", "bb")
        let parent = try tree.node("d")
        _ = try tree.container.makeSymlink(tree.caller, parent: parent, name: Array("link".utf8), target: Array("a.txt".utf8))
        try tree.save([[100], [255, 254]], "not UTF-8")
        let full = "\(tree.path)/d"
        #expect(linux_lsetxattr("\(full)/sub", "user.test", "x", 1, 0) == 0)
        #expect(linux_lsetxattr("\(full)/a.txt", "user.test", "y", 1, 0) == 0)
        for (name, time) in [("sub/empty", 1000), ("sub", 2000), ("a.txt", 3000), ("", 4000)] {
            let times = [timespec(tv_sec: time, tv_nsec: 7), timespec(tv_sec: time, tv_nsec: 9)]
            #expect(utimensat(AT_FDCWD, "\(full)/\(name)", times, 0) == 0)
        }
        #expect(chmod("\(full)/sub", 0o2750) == 0)
        let before = try photograph(full)

        try tree.unlink("d/sub/b.sh")
        try tree.removeDirectory("d/sub/empty")
        try tree.removeDirectory("d/sub")
        for name in [Array("a.txt".utf8), Array("link".utf8), [255, 254]] {
            try tree.container.unlink(tree.caller, parent: parent, name: name)
        }
        try tree.removeDirectory("d")
        #expect(access(full, F_OK) != 0)

        let deletion = try tree.container.deletion(at: path("d"), as: my)
        let outcome = try tree.container.undelete(deletion, as: my)
        #expect(outcome.entries == 7)
        #expect(try photograph(full) == before)
        #expect(try tree.find([[100], [255, 254]]) != nil)
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        let document = try tree.container.document(at: path("d/sub/b.sh"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["bb", "b"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
        try tree.save("d/sub/b.sh", "bbb")
        #expect(try tree.container.document(at: path("d/sub/b.sh"), as: my).versions.count == 3)
    }

    @Test func aTakenNameNeedsAnother() throws {
        let tree = try BrowsedContainer()
        try tree.save("a.txt", "old")
        try tree.unlink("a.txt")
        tree.clock.advance(seconds: 60)
        try tree.save("a.txt", "new")
        let deletion = try tree.container.deletion(at: path("a.txt"), as: my)
        #expect(kind { _ = try tree.container.undelete(deletion, as: my) } == .exists)
        _ = try tree.container.undelete(deletion, to: path("b.txt"), as: my)
        #expect(try tree.live("b.txt") == "old")
        #expect(try tree.live("a.txt") == "new")
    }

    @Test func aFileBringsItsDeletedDirectoryBack() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        try tree.save("d/a.txt", "a")
        try tree.save("d/b.txt", "b")
        for name in ["d/a.txt", "d/b.txt"] { try tree.unlink(name) }
        try tree.removeDirectory("d")
        let deletion = try tree.container.deletion(at: path("d/a.txt"), as: my)
        #expect(try tree.container.undelete(deletion, as: my).entries == 2)
        #expect(try tree.live("d/a.txt") == "a")
        #expect(access("\(tree.path)/d/b.txt", F_OK) != 0)
    }

    // MARK: Files of several names

    private func link(_ name: String, _ further: String, _ tree: BrowsedContainer) throws {
        let names = BrowsedContainer.bytes(further)
        _ = try tree.container.link(
            tree.caller, node: tree.node(name), parent: tree.find(Array(names.dropLast()))?.node ?? Node.rootID,
            name: try #require(names.last))
        // Who links and unlinks at once renames.
        tree.clock.advance(seconds: 60)
    }

    private func inode(_ name: String, _ tree: BrowsedContainer) throws -> ino_t {
        var status = stat()
        try #require(lstat("\(tree.path)/\(name)", &status) == 0, "\(name)")
        return status.st_ino
    }

    @Test(arguments: [["a", "b"], ["b", "a"]]) func allNamesOfAFileComeBackWithItsDirectory(_ order: [String]) throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        try tree.save("d/a", "old")
        try tree.save("d/a", "text")
        try link("d/a", "d/b", tree)
        let item = try tree.item("d/a").id
        for name in order { try tree.unlink("d/\(name)") }
        try tree.removeDirectory("d")
        let listed = try tree.container.deleted(within: nil, as: my)
        #expect(Set(listed.map(\.type)) == [.link, .file, .directory])
        #expect(try tree.container.undelete(tree.container.deletion(at: path("d"), as: my), as: my).entries == 3)
        #expect(try tree.live("d/a") == "text" && tree.live("d/b") == "text")
        #expect(try inode("d/a", tree) == inode("d/b", tree))
        #expect(try tree.item("d/a").id == item && tree.item("d/b").id == item)
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
        try tree.save("d/b", "next")
        let document = try tree.container.document(at: path("d/a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["next", "text", "old"])
    }

    @Test func aNameOfAFileThatStayedIsGivenBack() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        try link("a", "b", tree)
        try tree.unlink("a")
        #expect(try tree.read(".versions/.deleted/a") == "text")
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try inode("a", tree) == inode("b", tree))
        // And out of `.versions`.
        try tree.unlink("b")
        try tree.rename(".versions/.deleted/b", to: "c")
        #expect(try inode("a", tree) == inode("c", tree))
        #expect(try tree.container.document(at: path("c"), as: my).item == tree.item("a").id)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aNameWhoseFileWasReplacedComesBackWithItsContent() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text", mode: 0o640)
        try link("a", "b", tree)
        try tree.unlink("a")
        try tree.save("new", "another")
        try tree.container.rename(
            tree.caller, parent: Node.rootID, name: Array("new".utf8), newParent: Node.rootID,
            newName: Array("b".utf8), flags: 0)
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try tree.live("a") == "text" && tree.mode("a") == 0o640)
        #expect(try tree.live("b") == "another")
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func purgingOneNameLeavesTheFileToTheOther() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "text")
        try link("a", "b", tree)
        for name in ["a", "b"] { try tree.unlink(name) }
        _ = try tree.container.purgeDeleted(before: nil, within: path("b"), as: my)
        _ = try tree.container.undelete(tree.container.deletion(at: path("a"), as: my), as: my)
        #expect(try tree.live("a") == "text")
        try tree.unlink("a")
        _ = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aNameThatOnlyPassedLeavesNoTrace() throws {
        let tree = try BrowsedContainer()
        try tree.save("tmp_obj", "text")
        _ = try tree.container.link(tree.caller, node: tree.node("tmp_obj"), parent: Node.rootID, name: Array("obj".utf8))
        try tree.unlink("tmp_obj")
        #expect(try tree.container.deleted(within: nil, as: my).isEmpty)
    }

    // MARK: A directory at a time

    @Test func aDirectoryGoesBackToATime() throws {
        let tree = try BrowsedContainer()
        try tree.makeDirectory("d")
        for name in ["kept", "changed", "removed", "renamed"] { try tree.save("d/\(name)", "\(name) then") }
        tree.clock.advance(seconds: 60)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 60)
        try tree.save("d/changed", "changed since")
        try tree.unlink("d/removed")
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("renamed".utf8), newParent: tree.node("d"),
            newName: Array("other".utf8), flags: 0)
        try tree.makeDirectory("d/made")
        try tree.save("d/made/x", "x")
        let outcome = try tree.container.restoreDirectory(path("d"), at: then, as: my)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(tree.path)/d").sorted()
        #expect(names == ["changed", "kept", "removed", "renamed"])
        for name in names { #expect(try tree.live("d/\(name)") == "\(name) then") }
        #expect(outcome.displaced == 2)
        #expect(try tree.container.deletion(at: path("d/made/x"), as: my).type == .file)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aDirectoryIsCopiedAsItWas() throws {
        let tree = try BrowsedContainer()
        for name in ["d", "d/gone", "d/sub"] { try tree.makeDirectory(name) }
        for name in ["kept", "changed", "removed", "renamed", "gone/in", "sub/deep", "back"] {
            try tree.save("d/\(name)", "\(name) then", mode: 0o640)
        }
        _ = try tree.container.makeSymlink(
            tree.caller, parent: tree.node("d"), name: Array("link".utf8), target: Array("kept".utf8))
        let before = try photograph("\(tree.path)/d").mapValues { $0.split(separator: " ").last.map(String.init) }
        tree.clock.advance(seconds: 60)
        let then = tree.clock.now()
        tree.clock.advance(seconds: 60)
        try tree.save("d/changed", "changed since")
        for name in ["d/removed", "d/gone/in", "d/link", "d/back"] { try tree.unlink(name) }
        try tree.removeDirectory("d/gone")
        _ = try tree.container.undelete(tree.container.deletion(at: path("d/back"), as: my), as: my)
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("renamed".utf8), newParent: Node.rootID,
            newName: Array("outside".utf8), flags: 0)
        try tree.container.rename(
            tree.caller, parent: tree.node("d"), name: Array("sub".utf8), newParent: tree.node("d"),
            newName: Array("other".utf8), flags: 0)
        try tree.save("d/other/deep", "deep since")
        try tree.makeDirectory("d/made")
        try tree.save("d/made/x", "x")
        let now = try photograph("\(tree.path)/d")
        let outcome = try tree.container.restoreDirectory(path("d"), at: then, to: path("copy"), as: my)
        let copy = try photograph("\(tree.path)/copy")
        #expect(copy.mapValues { $0.split(separator: " ").last.map(String.init) } == before)
        #expect(copy["kept"] == now["kept"] && copy["kept"]?.hasPrefix("\(S_IFREG | 0o640) ") == true)
        #expect(outcome.entries == before.count)
        #expect(try photograph("\(tree.path)/d") == now)
        #expect(kind { _ = try tree.container.restoreDirectory(path("d"), at: then, to: path("copy"), as: my) } == .exists)
        // In place too.
        _ = try tree.container.restoreDirectory(path("d"), at: then, as: my)
        #expect(
            try photograph("\(tree.path)/d").mapValues { $0.split(separator: " ").last.map(String.init) } == before)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    // MARK: Giving up

    @Test func purgedHistoryIsGoneFromTheDisk() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two", "three"] { try tree.save("a.txt", words) }
        let document = try tree.container.document(at: path("a.txt"), as: my)
        let old = document.versions.filter { $0.kind == .history }
        #expect(kind { _ = try tree.container.purge(document, document.current, as: my) } == .invalid)
        let outcome = try tree.container.purge(document, nil, as: my)
        #expect(outcome.versions.count == 2 && outcome.bytes == 6)
        for version in old { #expect(!tree.container.store.contents.contains(version.content)) }
        #expect(try tree.container.document(at: path("a.txt"), as: my).versions.count == 1)
        #expect(try tree.live("a.txt") == "three")
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func purgingTheDeletedAreaTakesHistoryAlong() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        try tree.unlink("a.txt")
        let deletion = try tree.container.deletion(at: path("a.txt"), as: my)
        #expect(try tree.container.purgeDeleted(before: deletion.deleted, as: my).deleted == 0)
        let outcome = try tree.container.purgeDeleted(before: nil, as: my)
        #expect(outcome.deleted == 1 && outcome.versions.count == 2)
        #expect(try tree.container.store.allVersions().isEmpty)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func pinnedVersionsStayPinned() throws {
        let tree = try BrowsedContainer()
        for words in ["one", "two"] { try tree.save("a.txt", words) }
        var document = try tree.container.document(at: path("a.txt"), as: my)
        for version in document.versions { _ = try tree.container.pin(version, of: document, true, as: my) }
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.allSatisfy { $0.flags.contains(.pinned) })
        try tree.save("a.txt", "three")
        document = try tree.container.document(at: path("a.txt"), as: my)
        #expect(document.versions.map { $0.flags.contains(.pinned) } == [false, true, true])
        #expect(try tree.container.thin(dryRun: true, as: my).versions.isEmpty)
    }

    // MARK: Rights

    @Test func aStrangerMayNeitherReadNorChangeWhatTheModeForbids() throws {
        let tree = try BrowsedContainer()
        // The directory of the test is closed to strangers; what is asked here is what the files say.
        #expect(chmod(tree.path, 0o755) == 0)
        try tree.save("secret", "one", mode: 0o600)
        try tree.save("secret", "two")
        let mine = try tree.container.document(at: path("secret"), as: my)
        let seen = try tree.container.document(at: path("secret"), as: stranger)
        #expect(seen.versions.allSatisfy { !tree.container.mayRead($0, of: seen, as: stranger) })
        #expect(mine.versions.allSatisfy { tree.container.mayRead($0, of: mine, as: my) })
        let old = try #require(mine.versions.last)
        #expect(kind { _ = try tree.container.restore(old, of: mine, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.purge(mine, nil, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.pin(old, of: mine, true, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.thin(dryRun: true, as: stranger) } == .denied)
        #expect(kind { _ = try tree.container.simulateConflict(mine, as: stranger) } == .denied)
        try tree.addConflict("secret", "three")
        let conflicted = try tree.container.document(at: path("secret"), as: my)
        for choice in [ResolutionChoice.current, .newest, .all] {
            #expect(kind { _ = try tree.container.resolve(conflicted, choice, as: stranger) } == .denied)
        }
        try tree.unlink("secret")
        let deletion = try tree.container.deletion(at: path("secret"), as: stranger)
        #expect(kind { _ = try tree.container.undelete(deletion, as: stranger) } == .denied)
        #expect(try tree.container.purgeDeleted(before: nil, as: stranger).deleted == 0)
    }

    @Test func aClosedDirectoryHidesWhatIsInIt() throws {
        let tree = try BrowsedContainer()
        #expect(chmod(tree.path, 0o755) == 0)
        try tree.makeDirectory("closed")
        try tree.save("closed/a", "open to all", mode: 0o644)
        #expect(chmod("\(tree.path)/closed", 0o700) == 0)
        #expect(kind { _ = try tree.container.document(at: path("closed/a"), as: stranger) } == .denied)
        try tree.unlink("closed/a")
        #expect(try tree.container.deleted(within: nil, as: stranger).isEmpty)
        try tree.removeDirectory("closed")
        #expect(try tree.container.deleted(within: nil, as: stranger).map(\.path) == [path("closed")])
        #expect(try tree.container.deleted(within: nil, as: my).count == 2)
    }

    // MARK: Openings that overlap

    @Test func aReleaseThatComesLateSavesNothingOfTheNextOpening() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "old")
        let node = try tree.node("a")
        func write(_ text: String, _ handle: UInt64, at offset: off_t = 0) throws {
            _ = try Array(text.utf8).withUnsafeBytes {
                try tree.container.write(tree.caller, node: node, handle: handle, $0, offset: offset)
            }
        }
        let first = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
        try write("first", first)
        tree.container.flush(tree.caller, handle: first)
        let second = try #require(try tree.container.open(tree.caller, node: node, flags: O_WRONLY | O_TRUNC)).handle
        try write("sec", second)
        tree.container.release(node: node, handle: first)
        try write("ond", second, at: 3)
        tree.container.flush(tree.caller, handle: second)
        tree.container.release(node: node, handle: second)
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["second", "first", "old"])
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    // MARK: Names that come and go

    @Test func aFileMovedAwayAndBackKeepsItsContentWhenItIsOverwritten() throws {
        let tree = try BrowsedContainer()
        try tree.save("a", "precious")
        for (from, to) in [("a", "b"), ("b", "a")] {
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array(from.utf8), newParent: Node.rootID,
                newName: Array(to.utf8), flags: 0)
        }
        try tree.save("a", "new")
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["new", "precious"])
    }

    @Test("a copy that was made for a write that did not come does not keep the file from being replaced after a remount")
    func aCopyFromBefore() throws {
        let before = try BrowsedContainer()
        try before.save("a", "first")
        try before.save("a", "second")
        let node = try before.node("a")
        let handle = try #require(try before.container.open(before.caller, node: node, flags: O_RDWR)).handle
        before.container.release(node: node, handle: handle)
        before.close()
        let tree = try BrowsedContainer(at: before.path)
        try tree.save("b", "third")
        try tree.container.rename(
            tree.caller, parent: Node.rootID, name: [98], newParent: Node.rootID, newName: [97], flags: 0)
        let document = try tree.container.document(at: path("a"), as: my)
        #expect(try document.versions.map { try text($0, document, tree) } == ["third", "second", "first"])
        #expect(try tree.findings() == [])
        tree.close()
    }
}
