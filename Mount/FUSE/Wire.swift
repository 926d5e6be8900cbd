// Bits of the kernel's protocol, and the layout of the driver's values in its messages.

import CFuse3
import Glibc

/// The operations that the driver serves itself: those that libfuse 3.14 does not know or does not keep completely, and
/// the most frequent ones.
enum Opcode {
    static let lookup: UInt32 = 1
    static let forget: UInt32 = 2
    static let attributes: UInt32 = 3
    static let unlink: UInt32 = 10
    static let rename: UInt32 = 12
    static let open: UInt32 = 14
    static let release: UInt32 = 18
    static let extendedAttribute: UInt32 = 22
    static let flush: UInt32 = 25
    static let renameWithFlags: UInt32 = 45
    static let write: UInt32 = 16
    static let initialize: UInt32 = 26
    static let create: UInt32 = 35
    static let interrupt: UInt32 = 36
    static let forgetMany: UInt32 = 42
    static let temporary: UInt32 = 51
    static let extendedStat: UInt32 = 52
}

/// The bits of INIT's offer and answer: `flags` and, from bit 32 on, `flags2`.
struct InitFlags: OptionSet {
    let rawValue: UInt64
    init(rawValue: UInt64) { self.rawValue = rawValue }
    private init(bit: Int) { rawValue = 1 << UInt64(bit) }

    static let asyncRead = InitFlags(bit: 0)
    static let posixLocks = InitFlags(bit: 1)
    static let atomicTruncate = InitFlags(bit: 3)
    static let exportSupport = InitFlags(bit: 4)
    static let bigWrites = InitFlags(bit: 5)
    static let dontMask = InitFlags(bit: 6)
    static let wholeFileLocks = InitFlags(bit: 10)
    static let directoryControl = InitFlags(bit: 11)
    static let autoInvalidate = InitFlags(bit: 12)
    static let readDirectoryPlus = InitFlags(bit: 13)
    static let readDirectoryPlusAuto = InitFlags(bit: 14)
    static let asyncDirectIO = InitFlags(bit: 15)
    static let writebackCache = InitFlags(bit: 16)
    static let parallelDirectoryOperations = InitFlags(bit: 18)
    static let killPrivileges1 = InitFlags(bit: 19)
    static let accessLists = InitFlags(bit: 20)
    static let cacheSymlinks = InitFlags(bit: 23)
    static let explicitInvalidate = InitFlags(bit: 25)
    static let killPrivileges = InitFlags(bit: 28)
    static let extended = InitFlags(bit: 30)
    static let directIOMap = InitFlags(bit: 36)
    static let passthrough = InitFlags(bit: 37)
    static let ring = InitFlags(bit: 41)
}

/// Flags inside OPEN, CREATE and WRITE requests.
enum KillFlag {
    /// FUSE_OPEN_KILL_SUIDGID
    static let open: UInt32 = 1
    /// FUSE_WRITE_KILL_SUIDGID
    static let write: UInt32 = 4
}

extension UnsafeRawBufferPointer {
    /// The value at an offset, or nil if the message is too short. Only for the trivial structures of the protocol.
    func value<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int = 0) -> Value? {
        guard offset >= 0, offset <= count, MemoryLayout<Value>.size <= count - offset else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }
}

/// Seconds and nanoseconds of a time to live: never negative, without overflow, 0 for NaN.
private func split(_ seconds: Double) -> (UInt64, UInt32) {
    let bounded = seconds > 0 ? min(seconds, 1e9) : 0
    let whole = bounded.rounded(.down)
    return (UInt64(whole), UInt32((bounded - whole) * 999_999_999))
}

/// The same for libfuse.
func boundedTimeout(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 1e9) : 0 }

extension wire_attributes {
    init(_ stat: stat) {
        self.init(
            inode: UInt64(stat.st_ino), size: UInt64(bitPattern: Int64(stat.st_size)),
            blocks: UInt64(bitPattern: Int64(stat.st_blocks)),
            accessed: UInt64(bitPattern: Int64(stat.st_atim.tv_sec)),
            modified: UInt64(bitPattern: Int64(stat.st_mtim.tv_sec)),
            changed: UInt64(bitPattern: Int64(stat.st_ctim.tv_sec)),
            accessed_ns: UInt32(truncatingIfNeeded: stat.st_atim.tv_nsec),
            modified_ns: UInt32(truncatingIfNeeded: stat.st_mtim.tv_nsec),
            changed_ns: UInt32(truncatingIfNeeded: stat.st_ctim.tv_nsec), mode: stat.st_mode,
            links: UInt32(truncatingIfNeeded: stat.st_nlink), user: stat.st_uid, group: stat.st_gid,
            device: UInt32(truncatingIfNeeded: stat.st_rdev), block_size: UInt32(truncatingIfNeeded: stat.st_blksize),
            flags: 0)
    }
}

extension wire_attributes_out {
    init(_ attributes: NodeAttributes) {
        let (valid, validNano) = split(attributes.valid)
        self.init(valid: valid, valid_ns: validNano, padding: 0, attributes: wire_attributes(attributes.stat))
    }
}

extension wire_statx_out {
    /// All fields of `stat`, and the birth time.
    init(_ attributes: NodeAttributes) {
        let stat = attributes.stat
        func time(_ time: timespec) -> wire_statx_time {
            wire_statx_time(
                seconds: Int64(time.tv_sec), nanoseconds: UInt32(truncatingIfNeeded: time.tv_nsec), padding: 0)
        }
        self.init()
        let (valid, validNano) = split(attributes.valid)
        (self.valid, valid_ns) = (valid, validNano)
        // STATX_BASIC_STATS, STATX_BTIME
        mask = attributes.born == nil ? 0x7ff : 0xfff
        block_size = UInt32(truncatingIfNeeded: stat.st_blksize)
        links = UInt32(truncatingIfNeeded: stat.st_nlink)
        (user, group) = (stat.st_uid, stat.st_gid)
        mode = UInt16(truncatingIfNeeded: stat.st_mode)
        inode = UInt64(stat.st_ino)
        size = UInt64(bitPattern: Int64(stat.st_size))
        blocks = UInt64(bitPattern: Int64(stat.st_blocks))
        (accessed, changed, modified) = (time(stat.st_atim), time(stat.st_ctim), time(stat.st_mtim))
        born = time(attributes.born ?? timespec())
        device_major = UInt32(truncatingIfNeeded: (stat.st_rdev >> 8) & 0xfff)
        device_minor = UInt32(truncatingIfNeeded: (stat.st_rdev & 0xff) | ((stat.st_rdev >> 12) & 0xfff00))
    }
}

extension wire_entry_out {
    init(_ entry: Entry) {
        let (entryValid, entryValidNano) = split(entry.entryValid)
        let (attributesValid, attributesValidNano) = split(entry.attributes.valid)
        self.init(
            node: entry.node, generation: entry.generation, entry_valid: entryValid, attributes_valid: attributesValid,
            entry_valid_ns: entryValidNano, attributes_valid_ns: attributesValidNano,
            attributes: wire_attributes(entry.attributes.stat))
    }
}

extension wire_open_out {
    init(_ opened: Opened) {
        let backing = opened.flags.contains(.passthrough) ? opened.backing : 0
        self.init(handle: opened.handle, flags: opened.flags.rawValue, backing: backing)
    }
}
