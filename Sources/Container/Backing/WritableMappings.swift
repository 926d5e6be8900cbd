// Finds out whether anyone still has a file open or mapped for writing after its handles are closed.

import CLinux
import Glibc

/// A passed-through mapping lives on after RELEASE (reference: backing_file_mmap replaces the mapped file), unseen.
enum WritableMappings {
    enum Answer {
        case none
        /// The file is open or mapped for writing.
        case some
        /// No lease is to be had: the file is of another owner and the right is missing, or its file system has none.
        case unknown
    }

    /// Asks for a read lease on a file open for reading only: it is refused while the file is open for writing.
    static func ask(_ file: Int32) -> Answer {
        if linux_set_lease(file, F_RDLCK) == 0 {
            _ = linux_set_lease(file, F_UNLCK)
            return .none
        }
        return errno == EAGAIN ? .some : .unknown
    }

    /// Whether there may be some. Where that cannot be told, the answer is the safe one.
    static func exist(on file: Int32) -> Bool { ask(file) != .none }
}
