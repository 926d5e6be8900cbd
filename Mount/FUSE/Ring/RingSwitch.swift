// The kernel's switch for FUSE over io_uring: one for the whole machine, off by default. A mount turns it on and then
// puts it back. The reason is in docs/decisions/0011-the-ring.md.

import CLinux
import Glibc

/// Holds the switch on from before a mount until the kernel has taken the answer to INIT. The kernel does not read the
/// switch again for that connection.
///
/// Daemons that mount at the same time share a lock on the switch's file. Only the last of them turns the switch off.
final class RingSwitch {
    private let file: Int32
    private let wasOff: Bool

    /// Nil if the switch is missing, or this process cannot turn it on.
    init?(_ path: String = "/sys/module/fuse/parameters/enable_uring") {
        var file = open(path, O_RDWR | O_CLOEXEC)
        // On a read-only sysfs the switch may still be on.
        if file < 0 { file = open(path, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else { return nil }
        // Waits while another daemon turns it off.
        guard linux_flock(file, LOCK_SH) == 0 else {
            close(file)
            return nil
        }
        let wasOff = Self.read(file) == UInt8(ascii: "N")
        if wasOff { _ = Self.write(file, "Y") }
        guard Self.read(file) == UInt8(ascii: "Y") else {
            close(file)
            return nil
        }
        self.file = file
        self.wasOff = wasOff
    }

    /// Puts the switch back, unless another daemon is about to mount.
    deinit {
        if wasOff, linux_flock(file, LOCK_EX | LOCK_NB) == 0 { _ = Self.write(file, "N") }
        close(file)
    }

    private static func read(_ file: Int32) -> UInt8? {
        var byte: UInt8 = 0
        return pread(file, &byte, 1, 0) == 1 ? byte : nil
    }

    private static func write(_ file: Int32, _ text: String) -> Bool {
        pwrite(file, text, text.utf8.count, 0) == text.utf8.count
    }
}
