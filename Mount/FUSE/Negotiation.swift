// INIT: the kernel's offer, the driver's wishes, and the completion of libfuse's answer.

import CFuse3
import Glibc

/// The agreement at the start of a session.
///
/// libfuse 3.14 does not know passthrough and never passes on some bits that it does know. So the driver completes its
/// answer before it is sent. A library that negotiates these bits itself sets them too, which is harmless.
struct Negotiation {
    /// The number of the INIT request, which marks its answer.
    let unique: UInt64
    let offered: InitFlags
    /// Whether this process may use passthrough: the kernel grants it to root only.
    let privileged: Bool
    /// Whether everything is ready for a ring.
    let hasRing: Bool

    static let maximumWrite = 1 << 20
    private static let wanted: InitFlags = [
        .asyncRead, .atomicTruncate, .bigWrites, .dontMask, .directoryControl, .readDirectoryPlus,
        .readDirectoryPlusAuto, .parallelDirectoryOperations, .accessLists, .cacheSymlinks,
        .explicitInvalidate, .killPrivileges, .extended, .directIOMap,
    ]
    /// The kernel keeps locks better; the other bits contradict the wanted ones.
    private static let unwanted: InitFlags = [
        .posixLocks, .wholeFileLocks, .autoInvalidate, .writebackCache, .killPrivileges1, .exportSupport,
    ]

    /// Reads the offer; nil if the message is no INIT.
    init?(_ message: UnsafeRawBufferPointer, privileged: Bool, hasRing: Bool) {
        let body = MemoryLayout<wire_header_in>.size
        guard let header = message.value(wire_header_in.self), header.opcode == Opcode.initialize,
            let flags = message.value(UInt32.self, at: body + 12)
        else { return nil }
        var offered = UInt64(flags)
        if InitFlags(rawValue: offered).contains(.extended),
            let more = message.value(UInt32.self, at: body + 16)
        {
            offered |= UInt64(more) << 32
        }
        unique = header.unique
        self.offered = InitFlags(rawValue: offered)
        self.privileged = privileged
        self.hasRing = hasRing
    }

    /// Whether `reply` answers INIT and has a body to complete.
    func recognizes(_ header: wire_header_out, bodyLength: Int) -> Bool {
        header.unique == unique && header.error == 0 && bodyLength >= MemoryLayout<wire_init_out>.size
    }

    /// Completes libfuse's answer.
    func complete(_ reply: inout wire_init_out) -> Features {
        var wanted = Self.wanted
        if privileged { wanted.insert(.passthrough) }
        // With this bit in the answer the kernel holds back all requests until entries exist.
        if hasRing { wanted.insert(.ring) }
        var agreed = InitFlags(rawValue: UInt64(reply.flags) | UInt64(reply.flags2) << 32)
        agreed.formUnion(wanted.intersection(offered))
        agreed.subtract(Self.unwanted)
        reply.flags = UInt32(truncatingIfNeeded: agreed.rawValue)
        reply.flags2 = UInt32(truncatingIfNeeded: agreed.rawValue >> 32)
        // A depth of 1 lets overlayfs stack on the mount; the kernel wants 1 or 2 with passthrough.
        if agreed.contains(.passthrough) { reply.max_stack_depth = max(reply.max_stack_depth, 1) }

        var features = Features()
        features.passthrough = agreed.contains(.passthrough)
        features.ring = hasRing && agreed.contains(.ring)
        features.parallelDirectoryOperations = agreed.contains(.parallelDirectoryOperations)
        features.killPrivileges = agreed.contains(.killPrivileges)
        features.accessLists = agreed.contains(.accessLists)
        return features
    }

    /// The settings that libfuse itself must know: it acts on these, or newer versions pass them on.
    static func prepare(_ connection: inout fuse_conn_info) {
        connection.max_write = UInt32(maximumWrite)
        connection.max_background = 64
        connection.congestion_threshold = 48
        let off: [Int32] = [
            FUSE_CAP_SPLICE_READ, FUSE_CAP_SPLICE_WRITE, FUSE_CAP_SPLICE_MOVE, FUSE_CAP_AUTO_INVAL_DATA,
            FUSE_CAP_WRITEBACK_CACHE, FUSE_CAP_POSIX_LOCKS, FUSE_CAP_FLOCK_LOCKS, FUSE_CAP_HANDLE_KILLPRIV,
            FUSE_CAP_EXPORT_SUPPORT,
        ]
        for capability in off { connection.want &= ~UInt32(bitPattern: capability) }
        connection.want |= connection.capable & UInt32(bitPattern: FUSE_CAP_EXPLICIT_INVAL_DATA)
    }
}
