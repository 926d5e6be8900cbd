// The kernel's switch that aborts one FUSE connection. It works wherever the mount is by now.

import CLinux
import Glibc
import SystemPackage

/// `abort` of one connection in fusectl.
///
/// umount2(2) with MNT_FORCE needs a mounted name. A detached mount has none, and neither has a mount that only another
/// mount namespace holds. Both are still served. This type opens the file while the mount is new: the open file stays
/// this connection's, even if its number is given to another connection.
final class ConnectionSwitch: Sendable {
    private let file: Int32
    /// The file system's device number in stat(2), which is also the connection's number.
    private let device: UInt32

    /// - Parameter mountpoint: the directory of the new mount.
    /// - Returns: nil where the switch is out of reach: for a user, as long as fusectl is not mounted.
    init?(_ mountpoint: FilePath) {
        guard let device = Self.device(at: mountpoint) else { return nil }
        self.device = device
        // Root uses a view of fusectl of its own, which needs no mount point. Otherwise the usual mount point is tried.
        let control = linux_fuse_control()
        defer { if control >= 0 { close(control) } }
        let own = control < 0 ? -1 : linux_openat(control, "\(device)/abort", O_WRONLY | O_CLOEXEC, 0)
        file = own >= 0 ? own : open("/sys/fs/fuse/connections/\(device)/abort", O_WRONLY | O_CLOEXEC)
        if file < 0 { return nil }
    }

    deinit { close(file) }

    /// Ends the connection: waiting and later requests fail.
    func abort() -> Bool { write(file, "1", 1) == 1 }

    /// Whether the mount at this path is still this one. Another file system may be mounted there meanwhile.
    func isMounted(at mountpoint: FilePath) -> Bool { Self.device(at: mountpoint) == device }

    /// Sends no request to the daemon of the file system: the caller may be that daemon.
    private static func device(at path: FilePath) -> UInt32? {
        var status = linux_stat()
        // AT_STATX_DONT_SYNC
        guard path.withPlatformString({ linux_statx(AT_FDCWD, $0, 0x4000, &status) }) == 0, status.device_major == 0
        else { return nil }
        return status.device_minor
    }
}
