// The kernel's switch for one FUSE connection, which works wherever the mount is by now, and for whomever.

import CLinux
import Glibc
import SystemPackage

/// `abort` of one connection in fusectl.
///
/// umount2(2) with MNT_FORCE needs a name that is mounted. A mount that was detached has none, and neither has one that
/// only another mount namespace holds; both go on being served. Opened while the mount is new, the file stays this
/// connection's, even when its number is given to another one.
final class ConnectionSwitch: Sendable {
    private let file: Int32
    /// The file system, as stat(2) has it: the connection's number too.
    private let device: UInt32

    /// - Parameter mountpoint: where the file system has just been mounted.
    /// - Returns: nil where the switch is out of reach: for a user while nobody has mounted fusectl.
    init?(_ mountpoint: FilePath) {
        guard let device = Self.device(at: mountpoint) else { return nil }
        self.device = device
        // Root's own view of fusectl, which is in nobody's way; else where systems mount it, if they do.
        let control = linux_fuse_control()
        defer { if control >= 0 { close(control) } }
        let own = control < 0 ? -1 : linux_openat(control, "\(device)/abort", O_WRONLY | O_CLOEXEC, 0)
        file = own >= 0 ? own : open("/sys/fs/fuse/connections/\(device)/abort", O_WRONLY | O_CLOEXEC)
        if file < 0 { return nil }
    }

    deinit { close(file) }

    /// Ends the connection: whoever waits for an answer gets an error, and so does all that comes.
    func abort() -> Bool { write(file, "1", 1) == 1 }

    /// Whether the file system is what is mounted at a path; somebody may have mounted another there meanwhile.
    func isMounted(at mountpoint: FilePath) -> Bool { Self.device(at: mountpoint) == device }

    /// Asks nothing of whoever serves the file system, as that may be the caller.
    private static func device(at path: FilePath) -> UInt32? {
        var status = linux_stat()
        // AT_STATX_DONT_SYNC
        guard path.withPlatformString({ linux_statx(AT_FDCWD, $0, 0x4000, &status) }) == 0, status.device_major == 0
        else { return nil }
        return status.device_minor
    }
}
