// A container over the engine and a fresh directory, without a kernel: its disk, its facts and its deleted area.

import Foundation
import Glibc
import Lineage
import Logging
import Support
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

/// The container of one test, with the requests it makes.
final class EngineTree: Sendable {
    let path: String
    let clock = SteppingClock()
    let container: EngineContainer
    let facts: FactStore
    let store: ContainerState
    let caller = Caller(user: getuid(), group: getgid(), thread: getpid(), umask: 0o022)
    private let root: FileDescriptor

    /// - Parameter before: makes what is in the directory before the container is.
    init(before: (String) throws -> Void = { _ in }) throws {
        path = try Workplace.fresh("engine-tree")
        try before(path)
        root = try FileDescriptor.open(path, .readOnly, options: .directory)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        store = try ContainerState(root: root, options: .init(clock: clock, logger: logger))
        facts = try FactStore(of: store)
        container = try EngineContainer(
            store, facts,
            ContainerOptions(clock: clock, logger: logger, settings: Settings(), servesOthers: false))
    }

    deinit {
        container.close()
        store.close()
        try? root.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    // MARK: Requests

    private func split(_ path: String) throws -> (parent: UInt64, name: [UInt8]) {
        var names = path.split(separator: "/").map { Array($0.utf8) }
        let name = names.popLast() ?? []
        var parent = Node.rootID
        for name in names {
            guard let found = try container.lookup(caller, parent: parent, name: name) else {
                throw Errno.noSuchFileOrDirectory
            }
            parent = found.node
        }
        return (parent, name)
    }

    /// The attributes of what has a path.
    func attributes(_ path: String) throws -> stat? {
        let (parent, name) = try split(path)
        return try container.lookup(caller, parent: parent, name: name)?.attributes.stat
    }

    /// Makes something under a free name: a file with its name for a content, a symlink to its name.
    func make(_ type: EntryType, _ path: String) throws {
        let (parent, name) = try split(path)
        switch type {
        case .file, .link: try save(path, path)
        case .directory: _ = try container.makeDirectory(caller, parent: parent, name: name, mode: 0o755)
        case .symlink: _ = try container.makeSymlink(caller, parent: parent, name: name, target: Array(path.utf8))
        case .fifo, .socket, .device:
            let kind = [EntryType.fifo: S_IFIFO, .socket: S_IFSOCK, .device: S_IFCHR][type] ?? S_IFIFO
            // A device 0, 0 is what overlay file systems call a whiteout: anybody may make it.
            _ = try container.makeNode(caller, parent: parent, name: name, mode: kind | 0o640, device: 0)
        }
    }

    /// Saves a file, which is made if it is not there.
    func save(_ path: String, _ text: String) throws {
        let (parent, name) = try split(path)
        let (node, handle): (UInt64, UInt64)
        if let found = try container.lookup(caller, parent: parent, name: name) {
            node = found.node
            handle = try #require(
                try container.open(caller, node: node, flags: O_WRONLY | O_TRUNC, waiting: nil)
            ).handle
        } else {
            let made = try container.create(caller, parent: parent, name: name, mode: 0o644, flags: O_WRONLY)
            (node, handle) = (made.found.node, made.reply.handle)
        }
        _ = try Array(text.utf8).withUnsafeBytes {
            try container.write(caller, node: node, handle: handle, $0, offset: 0, flags: nil)
        }
        container.flush(caller, handle: handle)
        container.release(node: node, handle: handle)
    }

    /// unlink(2) or rmdir(2).
    func remove(_ path: String) throws {
        let (parent, name) = try split(path)
        if try attributes(path)?.isDirectory ?? false {
            try container.removeDirectory(caller, parent: parent, name: name)
        } else {
            try container.unlink(caller, parent: parent, name: name)
        }
    }

    func move(_ path: String, to newPath: String, flags: UInt32 = 0) throws {
        let (from, to) = (try split(path), try split(newPath))
        try container.rename(
            caller, parent: from.parent, name: from.name, newParent: to.parent, newName: to.name, flags: flags)
    }

    func link(_ path: String, to newPath: String) throws {
        let (from, to) = (try split(path), try split(newPath))
        guard let found = try container.lookup(caller, parent: from.parent, name: from.name) else {
            throw Errno.noSuchFileOrDirectory
        }
        _ = try container.link(caller, node: found.node, parent: to.parent, name: to.name)
    }
}

extension stat {
    fileprivate var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
}

// MARK: What is there

extension EngineTree {
    /// What the disk has: types by paths.
    func disk() throws -> [String: EntryType] {
        var found: [String: EntryType] = [:]
        for path in FileManager.default.enumerator(atPath: path)?.compactMap({ $0 as? String }) ?? []
        where !path.hasPrefix(".versionsfs") {
            found[path] = try Backing.stat(Array("\(self.path)/\(path)".utf8), in: AT_FDCWD).entryType
        }
        return found
    }

    /// What the facts say that there is, or was when a number was the last.
    func names(at number: UInt64? = nil) throws -> [String: EntryType] {
        try tree(at: number).mapValues(\.type)
    }

    private func tree(at number: UInt64? = nil) throws -> [String: NameThen] {
        let page = try facts.lists.tree(below: .root, at: number, limit: 10_000)
        let entries = page.elements.map { ($0.names.map(Self.text).joined(separator: "/"), $0.name) }
        return Dictionary(entries) { first, _ in first }
    }

    static func text(_ name: FileName) -> String { String(decoding: name.bytes, as: UTF8.self) }

    /// The deleted list: types by former names.
    func deleted() throws -> [String: EntryType] {
        let entries = try facts.lists.deleted(limit: 10_000).elements
        return Dictionary(entries.map { (Self.text($0.place.name), $0.detail.type) }) { first, _ in first }
    }

    /// How the facts, the deleted area and the disk differ, and what a check finds.
    /// - Parameter unknown: what the disk may have that no fact tells of.
    func problems(unknown: Set<String> = []) throws -> [String] {
        facts.flush()
        var problems: [String] = []
        let (disk, tree) = (try disk(), try tree())
        for (path, type) in disk where !unknown.contains(path) {
            guard let name = tree[path] else {
                problems.append("no fact tells of the \(type) \(path)")
                continue
            }
            if name.type != type { problems.append("\(path) is a \(type), not a \(name.type)") }
            let file = try attributes(path).map { UInt64($0.st_ino) }
            if file != name.row.file?.number { problems.append("\(path) is another file") }
        }
        for path in tree.keys where disk[path] == nil { problems.append("there is no \(path)") }
        let found = try container.check(repair: false, isAtRest: true, progress: { _, _ in })
        return problems + found.map { "\($0)" } + (try deletedProblems())
    }

    /// How the deleted list and the deleted area differ.
    private func deletedProblems() throws -> [String] {
        var problems: [String] = []
        var left: Set<DeletionID> = []
        try store.deletedArea.forEach { left.insert($0) }
        let entries = try facts.lists.deleted(limit: 10_000).elements
        let groups = try facts.lists.groups(of: entries)
        for entry in entries where entry.occupant.hasNoVersions {
            let name = Self.text(entry.place.name)
            let id = try #require(try facts.lists.id(ofDeletion: entry.number))
            guard left.remove(id) != nil, let label = try? store.deletedArea.label(of: id) else {
                problems.append("the deleted \(name) is not there")
                continue
            }
            if !entry.detail.isEntry { problems.append("no fact tells of the entry of \(name)") }
            let place = store.deletedArea.place(of: id)
            let stat = try Backing.stat(Array(place.name.utf8), in: place.directory.rawValue)
            let group = try facts.lists.id(ofDeletion: groups[entry.number] ?? entry.number)
            let isRight = label.place == entry.place && label.type == entry.detail.type && label.type == stat.entryType
                && label.file == entry.occupant.file && label.deleted == entry.departure.time && label.group == group
                && label.item == nil && label.attributes.mode == stat.permissions
            if !isRight { problems.append("the label of \(name) is \(label), its group \(String(describing: group))") }
        }
        if !left.isEmpty { problems.append("\(left.count) entries of the deleted area are not in the list") }
        return problems
    }
}
