// The extended attributes through which the mount tells of versions (DESIGN 3.2).

import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// One of `user.versions.*`.
    func versionsAttribute(_ key: String, of node: Node) throws(Errno) -> [UInt8] {
        switch key {
        case "container": return Array(store.identity.container.hex.utf8)
        case "socket":
            guard let path = socketPath else { throw .noData }
            return Array(path.utf8)
        case "state": return Array("current".utf8)
        case "item", "version", "generation", "conflicts":
            guard node.isRegular, !node.isForeign else { return try toldOfOther(key, node) }
            let document = try document(of: node, try stat(node))
            if key == "generation" { return try generation(of: document, node) }
            let (item, version) = document.state.withLock { ($0.item, $0.current?.id) }
            if key == "item" { return Array(item.hex.utf8) }
            if key == "version" {
                guard let version else { throw .noData }
                return Array(version.hex.utf8)
            }
            let versions = try store(throwing: .ioError) { () throws(StoreError) in try store.versions(of: item) }
            return Array(String(versions.count { $0.kind == .conflict }).utf8)
        default: throw .noData
        }
    }

    /// The generation of the file at this moment, also while it is being written.
    private func generation(of document: Document, _ node: Node) throws(Errno) -> [UInt8] {
        let generation = try names.reading { () throws(Errno) in
            // Looked at under the lock: a save that ends meanwhile has its stamp.
            try document.state.withLock { state throws(Errno) in state.generation(of: try statLocked(node)) }
        }
        return Array(generation.text.utf8)
    }

    /// The same of what has no versions of its own: a directory is what stands in it now, a file of another file system
    /// what its size and time say. A directory's conflicts are those of the documents in it.
    func toldOfOther(_ key: String, _ node: Node) throws(Errno) -> [UInt8] {
        let item = DerivedIdentity.item(node.file, in: store.identity.container)
        switch key {
        case "item": return Array(item.hex.utf8)
        case "version":
            let stat = try stat(node)
            return Array(VersionID(derivedFrom: item, size: stat.size, modified: stat.modified).hex.utf8)
        case "generation": return Array(ContentGeneration(item: item, file: try stat(node)).text.utf8)
        default:
            guard node.isDirectory, !node.isForeign else { return Array("0".utf8) }
            let count = try store(throwing: .ioError) { () throws(StoreError) in
                var count = 0
                for item in try store.itemsWithOtherVersions(in: node.file) {
                    count += try store.conflicts(of: item.id).count
                }
                return count
            }
            return Array(String(count).utf8)
        }
    }
}
