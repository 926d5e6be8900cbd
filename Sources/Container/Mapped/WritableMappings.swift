// Finds out whether a program still has a file open or mapped for writing after its handles are closed.

import CLinux
import Glibc

/// A mapping with passthrough outlives RELEASE, unseen by the daemon (reference: backing_file_mmap replaces the mapped
/// file).
enum WritableMappings {
    enum Answer {
        case none
        /// The file is open or mapped for writing.
        case some
        /// No lease is possible: the file has another owner and the right is missing, or its file system has no leases.
        case unknown
    }

    /// Asks for a read lease on a file that is open read-only: the kernel refuses it while the file is open for
    /// writing.
    static func ask(_ file: Int32) -> Answer {
        if linux_set_lease(file, F_RDLCK) == 0 {
            _ = linux_set_lease(file, F_UNLCK)
            return .none
        }
        return errno == EAGAIN ? .some : .unknown
    }

    /// Whether there may be some. An unknown answer counts as yes, the safe choice.
    static func exist(on file: Int32) -> Bool { ask(file) != .none }
}
