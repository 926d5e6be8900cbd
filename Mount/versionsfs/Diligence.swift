// The mount options `sync` and `dirsync`: what a call has changed is on the disk when it returns.

import Container
import FUSE

/// How much of what is changed is written out at once.
enum Diligence {
    case ordinary
    /// Names.
    case directories
    /// Names and contents.
    case everything

    init(_ options: MountTableOptions) {
        if options.isSynchronous == true {
            self = .everything
        } else {
            self = options.isDirectorySynchronous ? .directories : .ordinary
        }
    }
}

extension ContainerFileSystem {
    /// Called when names of these directories have changed. What the disk refuses the next fsync(2) says too: the
    /// change is made, and an error would say that it is not.
    func settle(_ directories: NodeID...) {
        guard diligence != .ordinary else { return }
        for node in directories { try? container.synchronizeDirectory(node: node) }
    }

    /// Called when something was written. The kernel does this by itself for what passes through.
    func settleContent(of node: NodeID, _ handle: Handle) {
        guard diligence == .everything else { return }
        try? container.synchronize(node: node, handle: handle, dataOnly: true)
    }
}
