// A little room that is held back, so that what has to be written down for making room can be, on a full disk too.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// The file `ballast` of the state directory: allocated while there is room, emptied when there is none left for the
/// label of something that is removed or replaced, or for the catalog. Thread-safe.
public final class Ballast: Sendable {
    static let name = "ballast"
    /// At most so much; of a small file system a part.
    private static let most: UInt64 = 2 << 20
    private static let part: UInt64 = 128
    private static let least: UInt64 = 32 << 10

    /// Nil where nothing may be written.
    private let file: FileDescriptor?
    /// How many bytes are held. Guards the file's size, too.
    private let held = Mutex<UInt64>(0)

    init(in state: FileDescriptor, readOnly: Bool) {
        file = readOnly ? nil : try? System.openRegular(Self.name, in: state, O_RDWR | O_CREAT, mode: 0o600)
        // On a full disk this is all that there will be.
        if let file, let status = try? System.status(file) {
            held.withLock { $0 = UInt64(clamping: status.st_blocks) &* 512 }
        }
        take()
    }

    deinit { if let file { System.close(file) } }

    /// Gives the room free; ``take()`` is to follow soon, or others use it up.
    /// - Returns: whether there was any.
    public func release() -> Bool {
        guard let file else { return false }
        return held.withLock { held in
            guard held > 0, ftruncate(file.rawValue, 0) == 0 else { return false }
            held = 0
            return true
        }
    }

    /// Holds the room again, or as much of it as there is.
    public func take() {
        guard let file else { return }
        held.withLock { held in
            guard held < Self.most else { return }
            var system = statvfs()
            guard fstatvfs(file.rawValue, &system) == 0 else { return }
            let block = UInt64(system.f_frsize)
            let free = UInt64(geteuid() == 0 ? system.f_bfree : system.f_bavail) &* block
            var size = min(Self.most, UInt64(system.f_blocks) &* block / Self.part, held + free)
            while size >= held + Self.least {
                if linux_fallocate(file.rawValue, 0, 0, off_t(size)) == 0 {
                    held = size
                    return
                }
                // What is free is not all to be had.
                size -= (size - held) / 4
            }
        }
    }
}
