// A mount whose daemon died stays in its place and answers no request. The next daemon there removes it first.

import Glibc
import SystemPackage

/// Mounts of this program without a daemon.
enum DeadMount {
    /// Detaches the dead mounts at a path as it was typed; several may be stacked.
    static func detach(at path: [UInt8]) {
        // A bound for stacked mounts. If the path is still dead afterwards, the open that follows reports it.
        for _ in 0..<16 where isDead(path) {
            guard detachOnce(path) else { return }
        }
    }

    private static func isDead(_ path: [UInt8]) -> Bool {
        var status = statvfs()
        // The kernel may still have the attributes of a dead mount's root in its cache. statvfs(3) always sends a
        // request.
        return withCString(path) { statvfs($0, &status) } != 0 && errno == ENOTCONN
    }

    private static func detachOnce(_ path: [UInt8]) -> Bool {
        let resolved = withCString(path) { realpath($0, nil) }
        defer { free(resolved) }
        let point = resolved.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? path
        guard FileSystemsBelow.isOurs(point) else { return false }
        // MNT_DETACH, UMOUNT_NOFOLLOW
        if geteuid() == 0 { return withCString(point) { umount2($0, 2 | 8) } == 0 }
        var words = ["fusermount3", "-u", "-q", "-z", "--"].map { (word: String) in strdup(word) }
        words.append(withCString(point) { strdup($0) })
        defer { words.forEach { free($0) } }
        var child = pid_t()
        guard posix_spawnp(&child, "fusermount3", nil, nil, words + [nil], environ) == 0 else { return false }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return true }
        }
        return status == 0
    }

    private static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
    }
}
