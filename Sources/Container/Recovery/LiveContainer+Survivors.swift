// Files that a program still writes below the mount. The kernel reports no change of them, so their changes become
// versions in the same way as those of mapped files.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Marks a node that may have such a writer when the kernel first looks it up. Called with the name lock held.
    func noteSurvivor(_ node: Node) {
        guard !mappedFiles.isWatched(node) else { return }
        guard isStillWritten(node) else {
            survivors.remove(node.file, nodes.key(of: node))
            return
        }
        node.openings.state.withLock { $0.maybeMapped = true }
        mappedFiles.watchMapping(of: node, by: nil)
    }

    private func isStillWritten(_ node: Node) -> Bool {
        // Handles of this mount are writers too: then the answer is unknown, and yes is the safe choice.
        if node.hasWriters { return true }
        guard let file = try? openOwn(node, flags: O_RDONLY) else { return false }
        return withExtendedLifetime(file) { WritableMappings.exist(on: file.raw) }
    }

    /// Finds the recorded files that survivors write, before any program looks them up: each is looked up once as by
    /// the kernel.
    func lookForSurvivors() {
        let files = survivors.candidates
        guard !files.isEmpty else { return }
        do {
            for item in try store.items(ofFiles: files) {
                if let path = try store.path(of: item) { lookUp(path) }
            }
        } catch {
            logger.warning("files that programs write to from before could not be found: \(error)")
        }
    }

    private func lookUp(_ path: TreePath) {
        let kernel = Caller(user: 0, group: 0, thread: 0)
        var found: [UInt64] = []
        defer { for id in found.reversed() { forget(id, lookups: 1) } }
        for name in path.names {
            let parent = found.last ?? Node.rootID
            guard let entry = try? lookup(kernel, parent: parent, name: name.bytes) else { return }
            found.append(entry.node)
        }
    }
}
