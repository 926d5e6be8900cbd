// Waiting until a daemon is gone as a process, not only as a mount.

import CLinux
import Glibc

/// The end of a process that is known by now.
final class DaemonEnd {
    /// How long the last of its work may take, in milliseconds.
    private static let patience: CInt = 10_000
    /// Says when it has ended; -1 where that cannot be known: in another namespace, say.
    private let handle: CInt

    init(of process: Int32?) {
        handle = process.map { $0 > 0 ? linux_pidfd_open($0) : -1 } ?? -1
    }

    deinit { if handle >= 0 { close(handle) } }

    func wait() {
        guard handle >= 0 else { return }
        var item = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        while poll(&item, 1, Self.patience) < 0, errno == EINTR {}
    }
}
