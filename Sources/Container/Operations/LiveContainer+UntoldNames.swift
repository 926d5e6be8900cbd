// Names that were made since a moment and that the change feed tells nothing of, which the tree of then has not either.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// What programs have made since under names that they made up for themselves (`isUnannounced`), and what is being
    /// saved for the first time. Known in memory alone: after the next mount such a file is one that was always there.
    func untoldNames(since time: Timestamp) -> Set<Place> {
        var places: Set<Place> = []
        for document in documents.inMemory {
            document.state.withLock { state in
                guard !state.isUnversioned, let made = state.created ?? state.beginning, made > time else { return }
                places.formUnion(state.places)
            }
        }
        return places
    }

    /// Those of them that are in a directory, or below it, go to the deleted area. What is open for writing is left: a
    /// program's save in progress would fail, and what an editor keeps while it runs would be gone.
    /// - Parameter found: told of each before anything is done.
    /// - Returns: how many went, and those that were left.
    func displaceUntoldNames(
        since time: Timestamp, within path: TreePath, as principal: Principal, _ found: (TreePath) throws -> Void
    ) throws -> (count: Int, left: [TreePath]) {
        var (count, left) = (0, [TreePath]())
        for name in try paths(of: untoldNames(since: time), within: path).sorted() {
            let isWritten = try looking(as: .container) { try $0.spot(name).node?.hasWriters ?? false }
            if isWritten {
                left.append(name)
                continue
            }
            try found(name)
            count += try displace(name, principal)
        }
        return (count, left)
    }

    /// Where these are. The tree is searched only for a directory that the catalog does not know.
    private func paths(of places: Set<Place>, within path: TreePath) throws -> [TreePath] {
        var unknown: [FileID: [FileName]] = [:]
        var paths: [TreePath] = []
        for (directory, places) in Dictionary(grouping: places, by: \.directory) {
            if let above = livePath(of: directory) {
                paths += places.map { above.appending($0.name) }.filter { $0.isWithin(path) }
            } else {
                unknown[directory] = places.map(\.name)
            }
        }
        var pending = unknown.isEmpty ? [] : [path]
        while let path = pending.popLast(), !unknown.isEmpty {
            guard let (directory, entries) = try? entries(of: path) else { continue }
            paths += (unknown.removeValue(forKey: directory) ?? []).map { path.appending($0) }
            pending += entries.filter(\.isDirectory).map { path.appending($0.name) }
        }
        return paths
    }

    /// What is in a directory now, the container's state left out.
    func entries(
        of path: TreePath
    ) throws -> (directory: FileID, entries: [(name: FileName, isDirectory: Bool)]) {
        try looking(as: .container) { walk in
            let node = try walk.directory(path)
            let directory = try descriptor(of: node)
            let entries = try Backing.list(directory.raw).map { listed -> (FileName, Bool) in
                guard listed.type == 0 else { return (listed.name, listed.type == UInt32(S_IFDIR)) }
                let stat = try? Backing.stat(listed.name.bytes, in: directory.raw)
                return (listed.name, stat?.isDirectory ?? false)
            }
            return (node.file, entries.filter { path != .root || $0.0.bytes != Self.stateName })
        }
    }
}
