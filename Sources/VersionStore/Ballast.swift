// Reserved disk space, so that the records needed to make room can be written even to a full disk.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// The file `ballast` of the state directory: allocated while there is room, and emptied when there is none for the
/// label of a removed or replaced item, or for the catalog. Thread-safe.
public final class Ballast: Sendable {
    static let name = "ballast"
    /// The largest size; on a small file system it is a fraction.
    private static let most: UInt64 = 2 << 20
    private static let part: UInt64 = 128
    private static let least: UInt64 = 32 << 10

    /// Nil in a read-only container.
    private let file: FileDescriptor?
    /// The reserved bytes. Guards the file's size, too.
    private let held = Mutex<UInt64>(0)

    init(in state: FileDescriptor, readOnly: Bool) {
        file = readOnly ? nil : try? System.openRegular(Self.name, in: state, O_RDWR | O_CREAT, mode: 0o600)
        // On a full disk there is no more than this.
        if let file, let status = try? System.status(file) {
            held.withLock { $0 = UInt64(clamping: status.st_blocks) &* 512 }
        }
        take()
    }

    deinit { if let file { System.close(file) } }

    /// Frees the space; ``take()`` should follow soon, before other programs use it up.
    /// - Returns: whether there was any.
    public func release() -> Bool {
        guard let file else { return false }
        return held.withLock { held in
            guard held > 0, ftruncate(file.rawValue, 0) == 0 else { return false }
            held = 0
            return true
        }
    }

    /// Reserves the space again, or nearly all of it that there is: not all free space can be allocated, and what is
    /// left over goes to the next program that writes.
    public func take() {
        guard let file else { return }
        held.withLock { held in
            guard held < Self.most else { return }
            var system = statvfs()
            guard fstatvfs(file.rawValue, &system) == 0 else { return }
            let block = UInt64(system.f_frsize)
            let free = UInt64(geteuid() == 0 ? system.f_bfree : system.f_bavail) &* block
            let most = min(Self.most, UInt64(system.f_blocks) &* block / Self.part)
            var step = min(most - min(most, held), free)
            while step >= Self.least {
                // XFS wants as much room for the call as its range is long, whatever has blocks already.
                if linux_fallocate(file.rawValue, 0, off_t(held), off_t(step)) == 0 { held += step }
                step = min(step / 2, most - min(most, held))
            }
        }
    }
}
