// A container in a directory of its own under /var/tmp, and records to fill it with.

import CLinux
import Foundation
import Glibc
import Logging
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

/// A clock that stands where it is set.
final class TestClock: WallClock {
    private let time: Mutex<Timestamp>
    init(_ time: Timestamp = SystemClock().now()) { self.time = Mutex(time) }
    func now() -> Timestamp { time.withLock { $0 } }
    func advance(seconds: Int64) { time.withLock { $0 = $0.advanced(byNanoseconds: seconds * 1_000_000_000) } }
}

/// A directory that is removed with the fixture, and the store in it.
final class Fixture {
    let path: String
    let root: FileDescriptor
    let clock = TestClock()
    private var opened: VersionStore?
    private let removes: Bool

    init(path: String? = nil) throws {
        removes = path == nil
        self.path = path ?? "/var/tmp/versionsfs-store-\(ContentID.random().short)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        root = try FileDescriptor.open(FilePath(self.path), .readOnly, options: .directory)
    }

    deinit {
        opened?.close()
        try? root.close()
        if removes { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The store, opened if it is not.
    func store() throws -> VersionStore {
        if let opened { return opened }
        let store = try VersionStore(root: root, options: .init(clock: clock, logger: Self.quiet))
        opened = store
        return store
    }

    func close() {
        opened?.close()
        opened = nil
    }

    static let quiet: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    func write(_ path: String, _ text: String) throws {
        let url = URL(fileURLWithPath: self.path + "/" + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func read(_ file: FileDescriptor) throws -> String {
        defer { try? file.close() }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    func fileID(_ path: String, _ store: VersionStore) throws -> FileID {
        if path.isEmpty { return .root }
        let status = try System.extendedStatus(path, in: root)
        return store.fileIdentity.id(device: status.device, inode: status.inode, born: status.birth)
    }

    /// Directory rows for the ancestors of a path that exists.
    func directories(_ path: String, _ store: VersionStore) throws -> [VersionStore.Mutation] {
        let names = path.split(separator: "/").map(String.init)
        return try names.indices.dropLast().map { index in
            let id = try fileID(names[...index].joined(separator: "/"), store)
            let parent = try fileID(names[..<index].joined(separator: "/"), store)
            return .directory(Directory(id: id, place: Place(directory: parent, name: try name(names[index]))))
        }
    }

    func place(_ path: String, _ store: VersionStore) throws -> Place {
        let tree = try #require(TreePath(bytes: path.utf8))
        let parent = try #require(tree.parent)
        return Place(directory: try fileID(parent.description, store), name: try #require(tree.name))
    }

    /// A document of the live tree with a current version and one kept older content.
    @discardableResult
    func document(
        _ path: String, kinds: [VersionKind] = [.history], text: String = "now", in store: VersionStore
    ) throws -> (item: Item, versions: [Version]) {
        try write(path, text)
        let id = ItemID.random()
        let place = try place(path, store)
        var versions: [Version] = []
        for (index, kind) in kinds.enumerated() {
            let old = "\(path) \(index)"
            try write("old", old)
            var version = Records.version(item: id, kind: kind, size: UInt64(old.utf8.count), wall: Int64(index))
            version.parents = versions.last.map { [$0.id] } ?? []
            if kind == .conflict { version.base = versions.first?.id }
            version.hash = Records.hash(old)
            try store.contents.keep(
                moving: try name("old"), in: root, as: version.content,
                .init(version: version, path: try #require(TreePath(bytes: path.utf8)), place: place))
            versions.append(version)
        }
        let status = try System.extendedStatus(path, in: root)
        var current = Records.version(item: id, kind: .current, size: status.size, wall: Int64(kinds.count))
        current.parents = versions.last.map { [$0.id] } ?? []
        let item = Item(
            id: id, places: [place], current: current.id,
            file: .init(id: try fileID(path, store), size: status.size, modified: status.modification))
        store.commit(
            try directories(path, store) + versions.map { .version($0) } + [.version(current), .item(item)])
        return (item, versions + [current])
    }

    /// Deletes a document the way the container does.
    func delete(_ path: String, _ item: Item, in store: VersionStore) throws -> Deletion {
        var deletion = Records.deletion(path: path, item: item.id)
        deletion.place = try place(path, store)
        deletion.file = item.file.id
        deletion.size = item.file.size
        let parent = try #require(deletion.path.parent)
        let directory = try System.open(parent.cName, in: root, O_RDONLY | O_DIRECTORY)
        defer { System.close(directory) }
        try store.deletedArea.moveIn(deletion.place.name, of: directory, deletion)
        var gone = item
        gone.places = []
        store.commit([.deletion(deletion), .item(gone)])
        return deletion
    }
}

func name(_ text: String) throws -> FileName { try #require(FileName(text)) }
