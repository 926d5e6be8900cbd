// Other file systems to test on: made in an image file, mounted through a loop device, gone at the end.

import CTestSupport
import Foundation

/// What an image is formatted as.
public enum FileSystemType: String, Sendable, CaseIterable {
    /// Without reflinks.
    case ext4
    /// With reflinks.
    case xfs
    /// With reflinks, and an fsync(2) that is for one file alone.
    case btrfs

    /// The command that makes one, but for the name of the image.
    public var format: [String] {
        switch self {
        case .ext4: ["mkfs.ext4", "-q", "-F", "-E", "nodiscard"]
        case .xfs: ["mkfs.xfs", "-q", "-K", "-m", "reflink=1"]
        case .btrfs: ["unshare", "-m", "sh", "-c", Self.formatBtrfs, "mkfs.btrfs"]
        }
    }

    /// mkfs.btrfs looks at the source of each mount, and fails at one that root may not look at: a container that a
    /// user has mounted. In a mount namespace of its own it finds none.
    private static let formatBtrfs = "umount -i -l -a -t fuse.versionsfs; exec mkfs.btrfs -q -K -f -m single \"$@\""
}

/// Makes a file system of a given size, runs a test with the path at which it is mounted, and takes it down again.
/// Needs root.
///
/// - Parameter megabytes: its size; an xfs has at least 300, a btrfs 120.
public func withFileSystem(_ type: FileSystemType, megabytes: Int, body: (String) throws -> Void) throws {
    let place = try Workplace.fresh(type.rawValue)
    let image = place + "/image"
    let path = place + "/at"
    try mustRun("truncate", ["-s", "\(megabytes)M", image])
    try mustRun(type.format[0], Array(type.format.dropFirst()) + [image])
    guard mkdir(path, 0o755) == 0 else { throw Failure.call("mkdir \(path)") }
    // The loop device frees itself with the last unmount.
    try mustRun("mount", ["-o", "loop", image, path])
    var isWhole = false
    defer {
        if umount2(path, 0) != 0 { umount2(path, VFS_MNT_DETACH) }
        if isWhole || environmentNow()["VERSIONSFS_KEEP"] != "1" { try? FileManager.default.removeItem(atPath: place) }
    }
    chmod(path, 0o755)
    try body(path)
    isWhole = true
}
