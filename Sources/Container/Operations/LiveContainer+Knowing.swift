// Changes that programs see before listeners hear of them.

import VersionModel
import VersionStore

extension LiveContainer {
    /// Waits a moment until programs see changes that readers of the feed are about to be told of. The caller holds no
    /// lock that a system call needs.
    public func awaitSight(of changes: some Sequence<Change>) {
        var directories: Set<TreePath> = []
        for change in changes {
            directories.insert(change.path.parent ?? .root)
            if let former = change.from { directories.insert(former.parent ?? .root) }
        }
        renewAttributes(changes)
        // A directory that the kernel has not looked up has no names there.
        serving.shownNames.wait(for: directories.compactMap { path in
            guard !path.bytes.isEmpty else { return nodes.root.id }
            let stat = try? Backing.statIfPresent(path.bytes, in: root.raw)
            return stat.flatMap { nodes.node($0.key)?.id }
        })
    }

    /// Has the kernel ask for attributes that have changed: it keeps the former ones until it has the answer to the
    /// change. No directory is held meanwhile, so no wait for one helps.
    private func renewAttributes(_ changes: some Sequence<Change>) {
        guard let side = serving.passthrough.kernel.side else { return }
        for change in changes where change.event == .attributes {
            let stat = change.path.bytes.isEmpty
                ? try? Backing.stat(root.raw) : try? Backing.statIfPresent(change.path.bytes, in: root.raw)
            guard let stat, let node = nodes.node(stat.key) else { continue }
            side.invalidate(node: node.id, data: false)
        }
    }
}
