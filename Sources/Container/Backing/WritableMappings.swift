// Finds out whether anyone still has a file open or mapped for writing after its handles are closed.

import CLinux
import Glibc

/// A passed-through mapping lives on after RELEASE (reference: backing_file_mmap replaces the mapped file), unseen.
enum WritableMappings {
    /// Whether a read lease on a file open for reading only is refused: somebody has it open for writing.
    static func exist(on file: Int32) -> Bool {
        if linux_set_lease(file, F_RDLCK) == 0 {
            _ = linux_set_lease(file, F_UNLCK)
            return false
        }
        // EAGAIN: open for writing. EINVAL and others: leases are not to be had here, so the answer is the safe one.
        return true
    }
}
