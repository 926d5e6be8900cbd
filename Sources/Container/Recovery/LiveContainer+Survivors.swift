// Files that somebody goes on writing to beneath the mount: the kernel keeps nothing of them, and once they are let go
// what was written becomes a version.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// How often such a file is looked at.
    private static let survivorNanoseconds: Int64 = 1_000_000_000

    /// Marks a node whose file has such a writer, when the kernel first hears of it. Called with the name lock held.
    func noteSurvivor(_ node: Node) {
        guard node.isRegular, !node.isForeign, survivors.mayInclude(node.file, nodes.key(of: node)) else { return }
        guard isStillWritten(node) else { return survivors.remove(node.file, nodes.key(of: node)) }
        let isNew = node.openings.state.withLock { state in
            defer { state.maybeMapped = true }
            return !state.maybeMapped
        }
        guard isNew else { return }
        survivors.watch(node)
        lookAfter(node)
    }

    private func lookAfter(_ node: Node) {
        timers.after(Self.survivorNanoseconds) { [weak self, weak node] in
            guard let self, let node, self.nodes[node.id] === node else { return }
            let isWritten = self.names.reading { self.isStillWritten(node) }
            if isWritten { self.lookAfter(node) } else { self.release(survivor: node) }
        }
    }

    private func isStillWritten(_ node: Node) -> Bool {
        // Handles of this mount are writers too: then nothing can be told, and the answer is the safe one.
        if node.hasWriters { return true }
        guard let file = try? openOwn(node, flags: O_RDONLY) else { return false }
        return withExtendedLifetime(file) { WritableMappings.exist(on: file.raw) }
    }

    /// At the end of the mount, what was written beneath it until now is a version.
    func settleSurvivors() {
        for node in survivors.watched { release(survivor: node) }
    }

    /// The last writer from before has let go: what the file holds now is a version.
    private func release(survivor node: Node) {
        survivors.endWatching(node)
        survivors.remove(node.file, nodes.key(of: node))
        node.openings.state.withLock { $0.maybeMapped = false }
        kernel.side?.invalidate(node: node.id, data: true)
        names.reading {
            guard case .live = nodes.location(node).whereabouts, let stat = try? statLocked(node),
                let document = try? document(of: node, stat), let parent = nodes.location(node).name?.parent,
                document.state.withLock({ $0.differs(from: stat) })
            else { return }
            adoptUnseenEdit(document, node, in: parent, stat)
        }
    }
}
