// Whether a message is complete. libfuse trusts the lengths and NULs in a message; the driver checks them first.

import CFuse3
import Glibc

/// The parts of a request behind its header: a structure, then names that end with NUL, then bytes that the structure
/// counts. Layouts: include/uapi/linux/fuse.h.
struct RequestShape {
    private var fixed: Int
    private var names = 0
    /// The offset in the structure of the count of further bytes, and the number of bytes per unit.
    private var counted: (offset: Int, unit: Int)?

    /// Whether libfuse or the driver may read the message.
    static func isWhole(_ message: UnsafeRawBufferPointer, _ header: wire_header_in) -> Bool {
        guard Int(header.length) == message.count else { return false }
        // libfuse refuses a request without a handler and does not look further.
        guard header.opcode < UInt32(byOpcode.count), let shape = byOpcode[Int(header.opcode)] else { return true }
        return shape.fits(UnsafeRawBufferPointer(rebasing: message[MemoryLayout<wire_header_in>.size...]))
    }

    /// Whether a caller waits for an answer.
    static func wantsAnswer(_ opcode: UInt32) -> Bool { !unanswered.contains(opcode) }

    private func fits(_ body: UnsafeRawBufferPointer) -> Bool {
        guard body.count >= fixed else { return false }
        var rest = UnsafeRawBufferPointer(rebasing: body[fixed...])
        for _ in 0..<names {
            guard let end = rest.firstIndex(of: 0) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        guard let counted else { return true }
        guard let count = body.value(UInt32.self, at: counted.offset) else { return false }
        return Int(count) * counted.unit <= rest.count
    }

    /// FORGET, INTERRUPT, NOTIFY_REPLY, BATCH_FORGET.
    private static let unanswered: Set<UInt32> = [2, 36, 41, 42]

    /// The same by number, because every request is looked up.
    private static let byOpcode: [RequestShape?] = (0...(shapes.keys.max() ?? 0)).map { shapes[$0] }

    private static let shapes: [UInt32: RequestShape] = [
        1: .init(fixed: 0, names: 1),  // LOOKUP
        2: .init(fixed: 8),  // FORGET
        3: .init(fixed: 16),  // GETATTR
        4: .init(fixed: 88),  // SETATTR
        6: .init(fixed: 0, names: 2),  // SYMLINK
        8: .init(fixed: 16, names: 1),  // MKNOD
        9: .init(fixed: 8, names: 1),  // MKDIR
        10: .init(fixed: 0, names: 1),  // UNLINK
        11: .init(fixed: 0, names: 1),  // RMDIR
        12: .init(fixed: 8, names: 2),  // RENAME
        13: .init(fixed: 8, names: 1),  // LINK
        14: .init(fixed: 8),  // OPEN
        15: .init(fixed: 40),  // READ
        16: .init(fixed: 40, counted: (16, 1)),  // WRITE
        18: .init(fixed: 24),  // RELEASE
        20: .init(fixed: 16),  // FSYNC
        21: .init(fixed: 8, names: 1, counted: (0, 1)),  // SETXATTR
        22: .init(fixed: 8, names: 1),  // GETXATTR
        23: .init(fixed: 8),  // LISTXATTR
        24: .init(fixed: 0, names: 1),  // REMOVEXATTR
        25: .init(fixed: 24),  // FLUSH
        26: .init(fixed: 16),  // INIT
        27: .init(fixed: 8),  // OPENDIR
        28: .init(fixed: 40),  // READDIR
        29: .init(fixed: 24),  // RELEASEDIR
        30: .init(fixed: 16),  // FSYNCDIR
        31: .init(fixed: 48), 32: .init(fixed: 48), 33: .init(fixed: 48),  // GETLK, SETLK, SETLKW
        34: .init(fixed: 8),  // ACCESS
        35: .init(fixed: 16, names: 1),  // CREATE
        36: .init(fixed: 8),  // INTERRUPT
        37: .init(fixed: 16),  // BMAP
        39: .init(fixed: 32, counted: (24, 1)),  // IOCTL
        40: .init(fixed: 24),  // POLL
        41: .init(fixed: 40),  // NOTIFY_REPLY
        42: .init(fixed: 8, counted: (0, 16)),  // BATCH_FORGET
        43: .init(fixed: 32),  // FALLOCATE
        44: .init(fixed: 40),  // READDIRPLUS
        45: .init(fixed: 16, names: 2),  // RENAME2
        46: .init(fixed: 24),  // LSEEK
        47: .init(fixed: 56),  // COPY_FILE_RANGE
        51: .init(fixed: 16),  // TMPFILE
        52: .init(fixed: 24),  // STATX
    ]
}
