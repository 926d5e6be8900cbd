// Changes that programs see before listeners hear of them.

import VersionModel
import VersionStore

extension Finder {
    /// Waits a moment until programs see changes that readers of the feed are about to be told of. The caller holds no
    /// lock that a system call needs.
    public func awaitSight(of changes: [Change]) {
        var directories: Set<TreePath> = []
        for change in changes {
            directories.insert(change.path.parent ?? .root)
            if let former = change.from { directories.insert(former.parent ?? .root) }
        }
        renewAttributes(changes)
        // A directory that the kernel has not looked up has no names there.
        host.serving.shownNames.wait(for: directories.compactMap { path in
            guard !path.bytes.isEmpty else { return tree.nodes.root.id }
            return stat(path).flatMap { tree.nodes.node($0.key)?.id }
        })
    }

    /// Has the kernel ask for attributes that have changed: it keeps the former ones until it has the answer to the
    /// change. No directory is held meanwhile, so no wait for one helps.
    private func renewAttributes(_ changes: [Change]) {
        guard let side = host.passthrough.kernel.side else { return }
        for change in changes where change.event == .attributes {
            guard let stat = stat(change.path), let node = tree.nodes.node(stat.key) else { continue }
            side.invalidate(node: node.id, data: false)
        }
    }

    private func stat(_ path: TreePath) -> FileStat? {
        let root = tree.root.raw
        return path.bytes.isEmpty ? try? Backing.stat(root) : try? Backing.statIfPresent(path.bytes, in: root)
    }
}
