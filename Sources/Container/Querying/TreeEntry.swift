// Names of the live tree for queries: the directory's information, and the document's.

import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// A name of the tree, with its file.
public struct TreeEntry: Sendable {
    public var path: TreePath
    public var file: FileID
    public var type: EntryType
    public var size: UInt64
    public var modified: Timestamp
    /// Whether the file has more names.
    public var hasOtherNames: Bool
    /// Nil if it is no document, or the caller may not read it.
    public var document: ListedDocument?
}

extension Finder {
    /// The names in a directory that the caller may list and pass through, in order.
    public func names(in directory: TreePath, as principal: Principal) throws(OperationError) -> [FileName] {
        try operation {
            try looking(as: principal) { walk in
                let node = try walk.listable(directory)
                guard !node.isForeign else { return [] }
                let descriptor = try tree.descriptor(of: node)
                return try Backing.list(descriptor.raw).map(\.name).filter { !isOurs($0, in: directory) }.sorted()
            }
        }
    }

    /// The entry at a path; nil if none exists that the caller may know.
    public func entry(at path: TreePath, as principal: Principal) throws(OperationError) -> TreeEntry? {
        guard let parent = path.parent, let name = path.name else { return nil }
        return try entries([name], in: parent, as: principal)[name]
    }

    /// The entries of some names of a directory. Left out are removed names, and documents without versions: ignored,
    /// temporary and unsaved ones, which no caller hears of.
    /// - Parameter names: sorted.
    public func entries(
        _ names: [FileName], in directory: TreePath, as principal: Principal
    ) throws(OperationError) -> [FileName: TreeEntry] {
        guard !names.isEmpty else { return [:] }
        return try operation {
            var sights: [Sight] = []
            let place = try looking(as: principal) { walk -> FileID? in
                let node = try walk.listable(directory)
                guard !node.isForeign else { return nil }
                sights = try sight(names, node, directory, principal)
                return node.file
            }
            guard let place else { return [:] }
            // The catalog is read without the lock on names: the queue may have to be written first.
            let remembered = host.remembered(names, in: place)
            let asked = sights.filter(\.mayBeDocument).map(\.name)
            let rows = try asked.isEmpty ? [:] : history.listing(of: place, asked)
            var result: [FileName: TreeEntry] = [:]
            for sight in sights {
                let (row, known) = (rows[sight.name], remembered[sight.name])
                result[sight.name] = entry(sight, row, known, in: directory)
            }
            return result
        }
    }

    /// Other paths of an entry's file.
    public func otherPaths(of entry: TreeEntry) -> [TreePath] {
        guard entry.hasOtherNames, let item = entry.document?.item, let row = try? history.item(item) else { return [] }
        return row.places.compactMap { place in
            (try? history.path(of: place.directory))?.appending(place.name)
        }.filter { $0 != entry.path }
    }

    // MARK: Helpers

    /// A name's attributes under the lock on names.
    private struct Sight {
        var name: FileName
        var stat: FileStat
        /// Whether it is a file of this container.
        var isOwnFile: Bool
        var mayBeDocument: Bool
    }

    private func isOurs(_ name: FileName, in directory: TreePath) -> Bool {
        directory == .root && name.bytes == LiveTree.stateName
    }

    private func sight(
        _ names: [FileName], _ parent: Node, _ directory: TreePath, _ principal: Principal
    ) throws -> [Sight] {
        let descriptor = try tree.descriptor(of: parent)
        return names.compactMap { name in
            guard !isOurs(name, in: directory),
                let stat = try? Backing.statIfPresent(name.bytes, in: descriptor.raw)
            else { return nil }
            guard stat.isRegular, stat.key.device == tree.rootKey.device else {
                return Sight(name: name, stat: stat, isOwnFile: false, mayBeDocument: false)
            }
            return Sight(
                name: name, stat: stat, isOwnFile: true, mayBeDocument: mayRead(name, in: descriptor, principal))
        }
    }

    private func mayRead(_ name: FileName, in directory: SharedDescriptor, _ principal: Principal) -> Bool {
        if principal.isRoot { return true }
        guard let attributes = try? Attributes(below: name.bytes, in: directory) else { return false }
        return AccessRule.allows(.read, to: principal, on: attributes)
    }

    private func entry(
        _ sight: Sight, _ listed: ListedDocument??, _ known: RememberedName?, in directory: TreePath
    ) -> TreeEntry? {
        let path = directory.appending(sight.name)
        var entry = TreeEntry(
            path: path, file: tree.fileID(sight.stat), type: sight.stat.entryType,
            size: sight.stat.isRegular ? sight.stat.size : 0, modified: sight.stat.modified,
            hasOtherNames: sight.stat.isRegular && sight.stat.links > 1, document: nil)
        guard sight.isOwnFile else { return entry }
        // Nothing was saved yet.
        if case .some(nil) = listed, known == nil { return nil }
        let row = listed ?? nil
        if row == nil, host.ignores(path) { return nil }
        switch known {
        case .untold?: return nil
        case .document(let item, let current)? where sight.mayBeDocument:
            let counted = row?.item == item ? row : nil
            entry.document = ListedDocument(
                item: item, current: current, versions: counted?.versions ?? 1, conflicts: counted?.conflicts ?? 0)
        case nil where sight.mayBeDocument:
            let derived = host.unrecorded(sight.stat)
            entry.document =
                row ?? ListedDocument(item: derived.item, current: derived, versions: 1, conflicts: 0)
        case .document?, nil: break
        }
        return entry
    }
}
