// Names made since a moment and that the change feed tells nothing of, which the tree of then has not either.

import VersionModel
import VersionStore

extension Past {
    /// Names of ``untoldNames(since:)`` that are in a directory, or below it, go to the deleted area. What is open for
    /// writing is left: a program's save in progress would fail, and what an editor keeps while it runs would be gone.
    /// - Parameter found: told of each before anything is done.
    /// - Returns: how many went, and those that were left.
    func displaceUntoldNames(
        since time: Timestamp, within path: TreePath, in tree: any ReturningTree, as principal: Principal,
        _ found: (TreePath) throws -> Void
    ) throws -> (count: Int, left: [TreePath]) {
        let (going, left) = try untoldToDisplace(since: time, within: path, in: tree)
        var count = 0
        for name in going {
            try found(name)
            count += try tree.displace(name, principal)
        }
        return (count, left)
    }

    /// Those of them that would go, and those that would be left.
    func untoldToDisplace(
        since time: Timestamp, within path: TreePath, in present: any PresentTree
    ) throws -> (going: [TreePath], left: [TreePath]) {
        let names = try paths(of: untoldNames(since: time), within: path, in: present).sorted()
        let left = try names.filter { try present.isBeingWritten($0) }
        return (names.filter { !left.contains($0) }, left)
    }

    /// Where these are. The tree is searched only for a directory that the catalog does not know.
    private func paths(
        of places: Set<Place>, within path: TreePath, in present: any PresentTree
    ) throws -> [TreePath] {
        var unknown: [FileID: [FileName]] = [:]
        var paths: [TreePath] = []
        for (directory, places) in Dictionary(grouping: places, by: \.directory) {
            if let above = present.livePath(of: directory) {
                paths += places.map { above.appending($0.name) }.filter { $0.isWithin(path) }
            } else {
                unknown[directory] = places.map(\.name)
            }
        }
        var pending = unknown.isEmpty ? [] : [path]
        while let path = pending.popLast(), !unknown.isEmpty {
            guard let (directory, entries) = try? present.entries(of: path) else { continue }
            paths += (unknown.removeValue(forKey: directory) ?? []).map { path.appending($0) }
            pending += entries.filter(\.isDirectory).map { path.appending($0.name) }
        }
        return paths
    }
}
