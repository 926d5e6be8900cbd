// The mount options `sync` and `dirsync`: a call's changes are on the disk when it returns.

import Container
import FUSE

/// The changes that are written at once.
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
    /// Called after a change of names in these directories. The next fsync(2) reports an error of the disk as well. An
    /// error here would wrongly say that the change was not made.
    func settle(_ directories: NodeID...) {
        guard diligence != .ordinary else { return }
        for node in directories { try? container.synchronizeDirectory(node: node) }
    }

    /// Called after a write. For passthrough writes the kernel does this itself.
    func settleContent(of node: NodeID, _ handle: Handle) {
        guard diligence == .everything else { return }
        try? container.synchronize(node: node, handle: handle, dataOnly: true)
    }
}
