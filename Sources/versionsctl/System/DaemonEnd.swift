// Waiting until a daemon is gone as a process, not only as a mount.

import CLinux
import Glibc

/// The end of a process that is known by now.
final class DaemonEnd {
    /// Says when it has ended; -1 where that cannot be known: in another namespace, say.
    private let handle: CInt

    init(of process: Int32?) {
        handle = process.map { $0 > 0 ? linux_pidfd_open($0) : -1 } ?? -1
    }

    deinit { if handle >= 0 { close(handle) } }

    /// - Returns: whether it has ended by then; false also where that cannot be known.
    @discardableResult
    func wait(atMost patience: Duration) -> Bool {
        guard handle >= 0 else { return false }
        var item = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&item, 1, CInt(patience.components.seconds) * 1000)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }
}
