// Versions whose content nobody had hashed yet when the daemon was killed, or when the container was closed.

import CLinux
import Crypto
import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct UnhashedTests: OperationTesting {
    /// What is the first to happen to the file after the next mount.
    private enum Touch: CaseIterable {
        case removed, renamed, renamedOver, renamedOverAnother, exchanged, truncatedByOpening, truncated, overwritten
        case appendedTo, chmod, utimes
    }

    /// How the version came to be.
    private enum Origin: CaseIterable { case renamed, inPlace }

    /// What was done to the file before the kill, and had not been heard of.
    private enum Change: CaseIterable { case appended, touched, none }

    /// Around the sizes up to which a content is hashed at once, or when it is renamed.
    private static let sizes = [10_000, 70_000, (1 << 20) - 1, (1 << 20) + 70_000]

    private typealias Story = (size: Int, origin: Origin, change: Change)

    private static let stories = sizes.flatMap { size in
        Origin.allCases.flatMap { origin in Change.allCases.map { Story(size, origin, $0) } }
    }

    /// Lines that are different all the way.
    private static func lines(_ size: Int, _ word: String = "line") -> String {
        var text = ""
        var number = 0
        while text.utf8.count < size {
            text += "\(word) \(number)\n"
            number += 1
        }
        return String(text.prefix(size))
    }

    /// Leaves the catalog as a kill does.
    private func kill(_ tree: BrowsedContainer) throws {
        let state = ["catalog.sqlite", "catalog.sqlite-wal", RedoLog.name].map {
            URL(fileURLWithPath: "\(tree.path)/.versionsfs/\($0)")
        }
        tree.container.store.flush()
        let bytes = try state.map { try Data(contentsOf: $0) }
        // Without an end of the container: nobody saves what is open.
        tree.container.store.close()
        for (file, bytes) in zip(state, bytes) { try bytes.write(to: file) }
    }

    /// The container as the next daemon finds it.
    private func reopened(_ tree: BrowsedContainer, isKilled: Bool = true) throws -> BrowsedContainer {
        if isKilled { try kill(tree) } else { tree.close() }
        return try BrowsedContainer(at: tree.path, later: 1)
    }

    private func save(_ text: String, _ origin: Origin, in tree: BrowsedContainer) throws -> Version {
        switch origin {
        case .inPlace: try tree.save("x", text)
        case .renamed:
            let name = "x.tmp.\(getpid()).abc"
            try tree.save(name, text)
            try tree.move(name, to: "x")
        }
        return try current(tree)
    }

    private func current(_ tree: BrowsedContainer) throws -> Version {
        tree.container.store.flush()
        return try #require(try tree.container.store.version(tree.item("x").current))
    }

    private func change(_ change: Change, in tree: BrowsedContainer) throws {
        switch change {
        case .none: break
        case .appended:
            let end = off_t(try tree.live("x").utf8.count)
            try Writer(tree, "x", O_WRONLY | O_APPEND).write("more", at: end)
        case .touched: try setTimes(tree)
        }
    }

    private func setTimes(_ tree: BrowsedContainer) throws {
        var edit = AttributeEdit()
        edit.modified = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
        _ = try tree.container.setAttributes(tree.caller, node: tree.node("x"), handle: nil, edit)
    }

    /// The first that the new daemon hears of the file, but for the kernel's look-ups.
    private func touch(_ touch: Touch, in tree: BrowsedContainer) throws {
        _ = try tree.find("x")
        switch touch {
        case .removed: try tree.unlink("x")
        case .renamed: try tree.move("x", to: "z")
        case .renamedOver:
            _ = try tree.find("y")
            try tree.move("y", to: "x")
        case .renamedOverAnother:
            _ = try tree.find("y")
            try tree.move("x", to: "y")
        case .exchanged:
            _ = try tree.find("y")
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array("x".utf8), newParent: Node.rootID,
                newName: Array("y".utf8), flags: linux_RENAME_EXCHANGE)
        case .truncatedByOpening: try tree.save("x", "two")
        case .truncated:
            var edit = AttributeEdit()
            edit.size = 3
            _ = try tree.container.setAttributes(tree.caller, node: tree.node("x"), handle: nil, edit)
        case .overwritten: try tree.save("x", "NEW", flags: 0)
        case .appendedTo: try tree.save("x", " and more", flags: O_APPEND)
        case .chmod:
            var edit = AttributeEdit()
            edit.mode = 0o600
            _ = try tree.container.setAttributes(tree.caller, node: tree.node("x"), handle: nil, edit)
            // The document is not asked for by that alone.
            _ = try tree.container.document(at: path("x"), as: my)
        case .utimes:
            try setTimes(tree)
            _ = try tree.container.document(at: path("x"), as: my)
        }
    }

    @Test(
        "a version that nobody had hashed before a kill is not lost with what was done to the file unheard",
        arguments: stories, Touch.allCases)
    private func unheard(_ story: Story, _ first: Touch) throws {
        let text = Self.lines(story.size)
        let before = try BrowsedContainer()
        try before.save("y", "another")
        let saved = try save(text, story.origin, in: before)
        let limit = story.origin == .inPlace ? LiveContainer.hashedAtOnce : LiveContainer.hashedOnLeaving
        #expect((saved.hash == nil) == (saved.size > limit))
        try change(story.change, in: before)
        let tree = try reopened(before)
        defer { tree.close() }
        let held = try tree.live("x")
        try touch(first, in: tree)
        try expect([text, held, "another"], in: tree)
    }

    @Test("a version that nobody had hashed is not made anew because its times were set", arguments: [true, false])
    func onlyTouched(isKilled: Bool) throws {
        let text = Self.lines((1 << 20) + 70_000)
        let before = try BrowsedContainer()
        let saved = try save(text, .inPlace, in: before)
        try change(.touched, in: before)
        let tree = try reopened(before, isKilled: isKilled)
        defer { tree.close() }
        #expect(try tree.container.document(at: path("x"), as: my).versions.map(\.id) == [saved.id])
        #expect(try tree.texts() == [text])
    }

    /// What was done to the file while nobody had it mounted.
    private enum Edit: CaseIterable { case replacedByLonger, writtenLonger, shortened }

    @Test(
        "a version that nobody had hashed is not said to be in another file, a shorter one, or one written to unseen",
        arguments: Edit.allCases, [true, false])
    private func edited(_ edit: Edit, isKilled: Bool) throws {
        let (text, other) = (Self.lines(70_000), Self.lines(edit == .shortened ? 60_000 : 80_000, "word"))
        let before = try BrowsedContainer()
        _ = try save(text, .renamed, in: before)
        // Nothing tells a file that grew after a kill from one that had grown before.
        if isKilled, edit == .writtenLonger { return }
        if isKilled { try kill(before) } else { before.close() }
        try other.write(toFile: "\(before.path)/x", atomically: edit == .replacedByLonger, encoding: .utf8)
        let after = try BrowsedContainer(at: before.path, later: 1)
        defer { after.close() }
        let versions = try after.container.document(at: path("x"), as: my).versions
        #expect(versions.map { $0.flags.contains(.contentLost) } == [false, true])
        #expect(try after.texts().contains(other))
        #expect(try after.findings() == [])
    }

    @Test("a version that nobody had hashed may lack what is a hole after a kill, and says so")
    func holes() throws {
        let before = try BrowsedContainer()
        let size = 70_000
        let name = "x.tmp.\(getpid()).abc"
        let made = try before.container.create(
            before.caller, parent: Node.rootID, name: Array(name.utf8), mode: 0o644, flags: O_WRONLY)
        try before.write("end", made.found.node, made.reply.handle, at: off_t(size - 3))
        before.container.flush(before.caller, handle: made.reply.handle)
        before.container.release(node: made.found.node, handle: made.reply.handle)
        try before.move(name, to: "x")
        let saved = try current(before)
        try change(.appended, in: before)
        let tree = try reopened(before)
        defer { tree.close() }
        let versions = try tree.container.document(at: path("x"), as: my).versions
        let former = try #require(versions.first { $0.id == saved.id })
        #expect(former.flags.contains(.unfinished) && !former.flags.contains(.contentLost))
        #expect(try tree.texts().map(\.utf8.count).sorted() == [size, size + 4])
        #expect(try tree.findings() == [])
    }

    @Test("an unhashed version stays if a program goes on with its file after a kill", arguments: [true, false])
    func survivor(isSealed: Bool) throws {
        let text = Self.lines((1 << 20) + 70_000)
        let before = try BrowsedContainer()
        if isSealed {
            _ = try save(text, .inPlace, in: before)
            try change(.appended, in: before)
        } else {
            try before.save("x", "old")
            let writer = try Writer(before, "x", O_WRONLY | O_TRUNC)
            try writer.write(text, at: 0)
            before.container.flush(before.caller, handle: writer.handle)
            // It has a duplicate of what it has closed.
            try writer.write("more", at: off_t(text.utf8.count))
        }
        let saved = try current(before)
        #expect(saved.hash == nil && saved.size == text.utf8.count && saved.flags.contains(.sealed) == isSealed)
        let tree = try reopened(before)
        defer { tree.close() }
        let node = try #require(tree.container.nodes[tree.node("x")])
        node.openings.state.withLock { $0.maybeMapped = true }
        try touch(.removed, in: tree)
        let former = try #require(try tree.container.store.version(saved.id))
        #expect(former.flags.contains(.unfinished) != isSealed)
        try expect([text, text + "more"], in: tree)
    }

    @Test(
        "a version that nobody has hashed is not lost if the last to close the file has not appended to it",
        arguments: [true, false], [true, false])
    func closedByAnother(isUnlinked: Bool, isForBoth: Bool) throws {
        let text = Self.lines((1 << 20) + 70_000)
        let tree = try BrowsedContainer()
        defer { tree.close() }
        try tree.save("x", text)
        try tree.save("y", "another")
        let last = try Writer(tree, "x", isForBoth ? O_RDWR : O_WRONLY)
        let first = try Writer(tree, "x", O_WRONLY | O_APPEND)
        try first.write("more", at: off_t(text.utf8.count))
        if isUnlinked { try tree.unlink("x") } else { try tree.move("y", to: "x") }
        first.close()
        last.close()
        try expect([text, text + "more"], in: tree)
    }

    @Test("a version that nobody has hashed is not lost if its replacer closes after another has appended to it")
    func closedByReplacer() throws {
        let text = Self.lines((1 << 20) + 70_000)
        let tree = try BrowsedContainer()
        defer { tree.close() }
        try tree.save("x", "old")
        let replacer = try Writer(tree, "x", O_WRONLY | O_TRUNC)
        try replacer.write(text, at: 0)
        var length = off_t(text.utf8.count)
        var appenders: [Writer] = []
        for words in ["more", "yet more"] {
            let appender = try Writer(tree, "x", O_WRONLY | O_APPEND)
            try appender.write(words, at: length)
            length += off_t(words.utf8.count)
            if words == "more" { appender.close() } else { appenders.append(appender) }
        }
        replacer.close()
        for appender in appenders { appender.close() }
        try expect(["old", text + "more", text + "moreyet more"], in: tree)
    }

    private func expect(_ texts: [String], in tree: BrowsedContainer, lost: Int = 0) throws {
        let found = try tree.texts()
        let summary = try tree.summary().joined(separator: "\n")
        for text in texts where !found.contains(text) {
            Issue.record("\(text.utf8.count) bytes are nowhere:\n\(summary)")
        }
        let versions = try tree.container.store.allItems().flatMap { try tree.container.store.versions(of: $0.id) }
        #expect(versions.filter { $0.flags.contains(.contentLost) }.count == lost, "\(summary)")
        #expect(try tree.findings() == [])
    }
}
