// The room of the file system below, and the bounds that the settings derive from it.

import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// Asks the file system for its room. Lock order: last.
final class FreeSpace: Sendable {
    /// Bytes of the whole file system, and those that are free for everyone.
    typealias Room = (total: UInt64, free: UInt64)

    private struct Look {
        var room: Room
        /// By ``Scheduler/now``.
        var time: Int64
    }

    private static let recentNanoseconds: Int64 = 20_000_000

    private let root: SharedDescriptor
    private let policy: Policy
    /// The last answer, only while much is free.
    private let recent = RankedMutex<Look?>(nil)

    init(root: SharedDescriptor, policy: Policy) { (self.root, self.policy) = (root, policy) }

    func statistics() throws(Errno) -> statvfs {
        var result = statvfs()
        try Backing.check { fstatvfs(root.raw, &result) }
        return result
    }

    var room: Room? {
        var result = statvfs()
        guard fstatvfs(root.raw, &result) == 0 else { return nil }
        let block = UInt64(result.f_frsize)
        return (UInt64(result.f_blocks) &* block, UInt64(result.f_bavail) &* block)
    }

    /// The same as it was a moment ago, where there is so much of it that a moment does not matter: every opening for
    /// writing and every save asks.
    var recentRoom: Room? {
        let time = Scheduler.now
        if let recent = recent.withLock({ $0 }), time - recent.time < Self.recentNanoseconds { return recent.room }
        guard let room else { return nil }
        let isPlenty = room.free / 4 > Self.reserve(of: room.total)
        recent.withLock { $0 = isPlenty ? Look(room: room, time: time) : nil }
        return room
    }

    /// What is to stay free of a file system of this size: 2 %, but at least 1 GiB, and at most a tenth.
    static func reserve(of total: UInt64) -> UInt64 { min(max(total / 50, 1 << 30), total / 10) }

    /// The bytes of history that may be kept.
    var historyLimit: UInt64 { bound(policy.settings.historyShare) }
    /// The bytes that the deleted area may have.
    var deletedLimit: UInt64 { bound(policy.settings.deletedShare) }
    /// How long something may be in the deleted area.
    var keepDeletedNanoseconds: Int64 { policy.settings.keepDeletedNanoseconds }

    private func bound(_ share: Settings.Share) -> UInt64 {
        switch share {
        case .bytes(let bytes): return bytes
        case .percent(let percent):
            let bytes = Double(recentRoom?.total ?? .max) * max(0, percent) / 100
            return bytes < Double(UInt64.max) ? UInt64(bytes) : .max
        }
    }
}
