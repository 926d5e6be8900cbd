// What a kill leaves between two system calls of one request, or of one program.

import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct HalfDoneTests {
    /// The container as another daemon finds it that comes after a kill.
    private func killed(_ tree: BrowsedContainer) throws -> BrowsedContainer {
        let state = ["catalog.sqlite", "catalog.sqlite-wal", RedoLog.name].map {
            URL(fileURLWithPath: "\(tree.path)/.versionsfs/\($0)")
        }
        tree.container.store.flush()
        let bytes = try state.map { try Data(contentsOf: $0) }
        tree.close()
        for (file, bytes) in zip(state, bytes) { try bytes.write(to: file) }
        return try BrowsedContainer(at: tree.path)
    }

    /// The first half of a rename over a file, or of its going without a trace: it is an object, too.
    private func link(_ tree: BrowsedContainer, _ name: String) throws {
        let item = try tree.item(name)
        let current = try #require(try tree.container.store.version(item.current))
        let path = try #require(TreePath(bytes: name.utf8)), place = try #require(item.places.first)
        var labels = try tree.container.store.versions(sharing: current.content).map { version in
            var version = version
            version.kind = .history
            return ContentStore.Label(version: version, path: path, place: place)
        }
        let first = labels.remove(at: try #require(labels.firstIndex { $0.version.id == current.id }))
        let directory = try FileDescriptor.open(
            "\(tree.path)/\(name.split(separator: "/").dropLast().joined(separator: "/"))", .readOnly)
        try directory.closeAfter {
            try tree.container.store.contents.keep(
                linking: place.name, in: directory, as: current.content, first, also: labels)
        }
    }

    private enum Change: CaseIterable { case truncated, overwritten, appendedAndOverwritten, unseen }

    @Test(
        "what was about to be replaced is not changed with the file that it was",
        arguments: Change.allCases, [true, false])
    private func linked(change: Change, isAppendedTo: Bool) throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        if isAppendedTo { try before.save("x", " more", flags: O_APPEND) }
        try link(before, "x")
        let tree = try killed(before)
        switch change {
        case .truncated: try tree.save("x", "2")
        case .appendedAndOverwritten:
            try tree.save("x", " and more", flags: O_APPEND)
            fallthrough
        case .overwritten: try tree.save("x", "NEW", flags: 0)
        case .unseen:
            tree.container.connect(PassingKernel())
            let node = try tree.node("x")
            let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDWR)).handle
            let file = try FileDescriptor.open("\(tree.path)/x", .writeOnly)
            try file.closeAfter { _ = try file.writeAll("NEW".utf8) }
            tree.container.flush(tree.caller, handle: handle)
            tree.container.release(node: node, handle: handle)
        }
        let texts = try tree.texts()
        #expect(texts.contains("one") && (!isAppendedTo || texts.contains("one more")), "\(texts)")
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test(
        "a rename over a file that was killed between its two calls is finished", arguments: [true, false], ["", "d/"])
    func exchanged(isDocument: Bool, directory: String) throws {
        let before = try BrowsedContainer()
        if !directory.isEmpty { try before.makeDirectory("d") }
        let (name, temporary) = (directory + "x", directory + "t")
        try before.save(name, "one")
        let item = try before.item(name)
        if isDocument {
            try before.save(temporary, "two")
        } else {
            try Data("two".utf8).write(to: URL(fileURLWithPath: "\(before.path)/\(temporary)"))
        }
        try link(before, name)
        let file = try FileDescriptor.open("\(before.path)/\(temporary)", .readOnly)
        _ = before.container.markWhole(file.rawValue, size: 3)
        try file.close()
        try Backing.rename(
            Array("\(before.path)/\(temporary)".utf8), in: AT_FDCWD, to: Array("\(before.path)/\(name)".utf8),
            in: AT_FDCWD, flags: 2)
        let tree = try killed(before)
        #expect(try tree.live(name) == "two")
        #expect(access("\(tree.path)/\(temporary)", F_OK) != 0)
        #expect(try tree.item(name).id == item.id)
        #expect(try Set(tree.texts()).isSuperset(of: ["one", "two"]))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a torn save that a recovery was about to set aside when it was killed is set aside by the next")
    func tornAndLinked() throws {
        let before = try BrowsedContainer()
        try before.save("x", "one")
        let item = try before.item("x")
        let current = try #require(try before.container.store.version(item.current))
        try Writer(before, "x", O_WRONLY | O_TRUNC).write("to", at: 0)
        var torn = current
        (torn.id, torn.content, torn.parents, torn.kind) = (.random(), .random(), [current.id], .history)
        (torn.size, torn.hash, torn.flags) = (2, nil, [.sealed, .unfinished])
        let path = try #require(TreePath(bytes: "x".utf8)), place = try #require(item.places.first)
        try before.container.store.contents.keep(
            linking: place.name, in: FileDescriptor(rawValue: before.container.root.raw), as: torn.content,
            .init(version: torn, path: path, place: place))
        let tree = try killed(before)
        #expect(try tree.live("x") == "one")
        #expect(try tree.texts().sorted() == ["one", "to"])
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("a big file that a kill finds half overwritten, as long as before, is set aside", arguments: [true, false])
    func tornBig(isHashed: Bool) throws {
        let before = try BrowsedContainer()
        let saved = String(repeating: "a", count: 2 << 20)
        try before.save("x", saved)
        if isHashed {
            let store = before.container.store
            var current = try #require(try store.version(try before.item("x").current))
            let file = try FileDescriptor.open("\(before.path)/x", .readOnly)
            current.hash = ContentHash.sha256(of: file.rawValue, size: current.size)
            try file.close()
            store.commit([.version(current)])
        }
        try Writer(before, "x", O_WRONLY).write(String(repeating: "b", count: 1 << 20), at: 0)
        let tree = try killed(before)
        #expect(try tree.live("x") == saved)
        #expect(try tree.texts().filter { $0 == saved }.count == 1)
        #expect(try tree.texts().contains { $0.hasPrefix("b") })
        #expect(try tree.findings() == [])
        tree.close()
    }
}
