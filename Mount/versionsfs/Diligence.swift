// The mount options `sync` and `dirsync`: the changes of a call are on the disk when it returns.

import Container
import FUSE

/// Which changes are written out at once.
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
            self = options.isDirectorySynchronous == true ? .directories : .ordinary
        }
    }
}

extension ContainerFileSystem {
    /// Called when names of these directories have changed. An error of the disk is reported by the next fsync(2), too:
    /// the change is made, and an error here would say that it is not.
    func settle(_ directories: NodeID...) {
        guard diligence != .ordinary else { return }
        for node in directories { try? container.synchronizeDirectory(node: node) }
    }

    /// Called when a file was written. The kernel does this by itself for writes that pass through.
    func settleContent(of node: NodeID, _ handle: Handle) {
        guard diligence == .everything else { return }
        try? container.synchronize(node: node, handle: handle, dataOnly: true)
    }
}
