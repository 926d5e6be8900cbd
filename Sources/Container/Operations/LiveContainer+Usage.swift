// How much the tree, other versions and the deleted area take.

import VersionModel
import VersionStore

extension LiveContainer {
    /// Adds up what lies at or below a path, as far as the caller may look into it.
    ///
    /// - Parameter limit: nanoseconds after which the tree is not walked any further; nil: no limit.
    public func space(
        within path: TreePath, limit: Int64? = nil, as principal: Principal,
        report: (_ entries: Int) throws -> Void = { _ in }
    ) throws(OperationError) -> SpaceOutcome {
        try operation {
            var outcome = SpaceOutcome()
            let usage = LiveUsage(finder: finder, tree: tree, clock: options.clock)
            try usage.add(path, limit: limit, as: principal, to: &outcome, report: report)
            if path == .root {
                let space = store.space
                outcome.history = UInt64(max(0, space.history))
                outcome.deleted = UInt64(max(0, space.deleted))
                return outcome
            }
            outcome.deleted = try store.deletedBytes(within: path)
            outcome.history = try historyBytes(within: path)
            return outcome
        }
    }

    /// The disk usage of the contents that documents at or below the path have kept, each counted once.
    private func historyBytes(within path: TreePath) throws -> UInt64 {
        let (parent, name) = try looking(as: .container) { walk -> (FileID, FileName?) in
            let spot = try walk.spot(path)
            if let node = spot.node, node.isDirectory { return (node.file, nil) }
            return (spot.parent.file, spot.name)
        }
        var contents = try store.keptContents(in: parent, name: name)
        var (waiting, seen) = (name == nil ? try store.directories(in: parent) : [], Set([parent]))
        // Piece by piece: others ask the catalog, too.
        while let directory = waiting.popLast() {
            guard seen.insert(directory).inserted else { continue }
            contents.formUnion(try store.keptContents(in: directory, name: nil))
            waiting += try store.directories(in: directory)
        }
        var bytes: UInt64 = 0
        for content in contents { bytes.addCapped(store.contents.allocated(content)) }
        return bytes
    }
}
