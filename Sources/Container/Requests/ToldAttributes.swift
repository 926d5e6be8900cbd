// The extended attributes through which a mount over the engine tells of versions (DESIGN 3.2).

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Answers `user.versions.*`.
final class ToldAttributes: Sendable {
    private let recorded: RecordedTree
    private let past: FactHistory
    private let container: ContainerID
    private let socket = RankedMutex<String?>(nil)

    init(_ recorded: RecordedTree, _ past: FactHistory, of container: ContainerID) {
        (self.recorded, self.past, self.container) = (recorded, past, container)
    }

    /// The path of the control socket; nil if the container has none.
    var socketPath: String? {
        get { socket.withLock(\.self) }
        set { socket.withLock { $0 = newValue } }
    }

    /// - Throws: ENODATA for a key that is not told.
    func value(_ key: String, of node: Node) throws(Errno) -> [UInt8] {
        switch key {
        case "container": return Array(container.hex.utf8)
        case "socket":
            guard let socketPath else { throw .noData }
            return Array(socketPath.utf8)
        case "state": return Array("current".utf8)
        case "item", "version", "generation", "conflicts": return try ofContent(key, node)
        default: throw .noData
        }
    }

    /// What is told of a file's content. A file of which no fact tells has no history: what its identity, size and time
    /// say is told of it.
    private func ofContent(_ key: String, _ node: Node) throws(Errno) -> [UInt8] {
        guard node.isRegular, !node.isForeign, let document = try document(of: node) else {
            return try ofOther(key, node)
        }
        do {
            let lists = past.lists
            guard let item = try lists.id(of: document) else { throw Errno.ioError }
            if key == "item" { return Array(item.hex.utf8) }
            let heads = try lists.heads(of: document)
            if key == "conflicts" { return Array(String(heads.conflicts.count).utf8) }
            let current = try heads.current.flatMap { try lists.version($0) }
            if key == "generation" { return Array(try generation(of: node, item, current).text.utf8) }
            guard let current, let id = try lists.id(of: current.number) else { throw Errno.noData }
            return Array(id.hex.utf8)
        } catch let error as Errno { throw error } catch { throw .ioError }
    }

    /// The document that a node's name stands for; nil if no fact tells of it.
    private func document(of node: Node) throws(Errno) -> DocumentNumber? {
        guard let name = recorded.tree.nodes.location(node).name else { return nil }
        let place = try recorded.place(name.name, in: name.parent)
        return try recorded.engine.names(of: node.file).first { $0.place == place }?.document
    }

    /// The generation of the file at this moment, also while it is being written.
    private func generation(of node: Node, _ item: ItemID, _ current: ListedVersion?) throws -> ContentGeneration {
        let stat = try recorded.tree.stat(node)
        guard let current, current.row.fingerprint.size == stat.size,
            try current.row.file == node.file && current.row.modified == stat.modified
                || holds(node, stat, current.row),
            let id = try past.lists.id(of: current.number)
        else { return ContentGeneration(item: item, file: stat) }
        // A version may be amended, so the time of the last save counts as well.
        return ContentGeneration(version: id, saved: HybridTime(wall: current.row.time, logical: 0))
    }

    /// Whether a file has the bytes of a version, as one does whose time was set, or that another one was renamed over.
    private func holds(_ node: Node, _ stat: FileStat, _ version: VersionRow) throws(Errno) -> Bool {
        guard stat.size <= FileLooks.hashedAtOnce else { return false }
        let file = try recorded.tree.names.reading { () throws(Errno) in
            try recorded.tree.openOwn(node, flags: O_RDONLY)
        }
        return FileLooks.fingerprint(of: file.raw, stat, as: version.content) == version.fingerprint
    }

    /// The same of what has no versions of its own: a directory is what stands in it now, a file of another file system
    /// what its size and time say. A directory's conflicts are those of the documents in it.
    func ofOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8] {
        let item = DerivedIdentity.item(node.file, in: container)
        if key == "item" { return Array(item.hex.utf8) }
        let stat = try recorded.tree.stat(node)
        switch key {
        case "version":
            return Array(VersionID(derivedFrom: item, size: stat.size, modified: stat.modified).hex.utf8)
        // Of a file that is to be its first version.
        case "generation" where node.isRegular:
            let version = VersionID(derivedFrom: item, size: stat.size, modified: stat.modified)
            let saved = HybridTime(wall: stat.modified, logical: 0)
            return Array(ContentGeneration(version: version, saved: saved).text.utf8)
        case "generation": return Array(ContentGeneration(item: item, file: stat).text.utf8)
        default: return Array(String(try conflicts(in: node)).utf8)
        }
    }

    private func conflicts(in node: Node) throws(Errno) -> Int {
        guard node.isDirectory, !node.isForeign else { return 0 }
        do throws(StoreError) {
            var count = 0
            for item in try past.itemsWithOtherVersions(in: node.file) {
                count += try past.conflicts(of: item.id).count
            }
            return count
        } catch { throw .ioError }
    }
}
