// The kernel's switch for FUSE over io_uring, one for the whole machine and off by default: on while we mount, then as
// it was. docs/decisions/0011-the-ring.md says why.

import CLinux
import Glibc

/// Holds the switch on from before a mount until the kernel has taken the answer to INIT; it does not look at the
/// switch again for that connection.
///
/// Daemons that mount at the same time share a lock on the switch's file, and only who is alone turns it off again.
final class RingSwitch {
    private let file: Int32
    private let wasOff: Bool

    /// Nil if the switch is not there, or cannot be turned on by us.
    init?(_ path: String = "/sys/module/fuse/parameters/enable_uring") {
        var file = open(path, O_RDWR | O_CLOEXEC)
        // Where sysfs is read-only it may be on all the same.
        if file < 0 { file = open(path, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else { return nil }
        // Waits for as long as another daemon takes to turn it off.
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

    /// Puts the switch back, unless somebody else is about to mount.
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
