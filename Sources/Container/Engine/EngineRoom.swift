// Room for the calls of events, on a file system that is full.

import Lineage
import SystemPackage
import VersionModel

/// What a call lacks room for.
struct Shortage {
    /// The free bytes that it needs.
    var wanted: UInt64 = 0
    /// Whether it writes the record of a removal or a replacement, without which no room could be made.
    var isRecord = false
    /// Whether nothing goes unless so many bytes certainly become free.
    var mustSucceed = false
    /// Whether a content that a truncation overwrites need not be kept, because there is no room left for it.
    var discards = false
    /// Whether every content is kept, whatever its size and the room: no program makes the call for itself.
    var keepsAll = false
}

/// Makes room, and hears of what takes some.
protocol EngineRoom: AnyObject, Sendable {
    /// Repeats a call that failed for lack of space. No lock is held.
    func retrying<Result>(
        _ shortage: () -> Shortage, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result
    /// An event was carried out. No lock is held.
    func note(_ plan: Plan)
    /// Whether users have nothing against the loss of versions: none of them is pinned.
    func mayLose(_ versions: [VersionNumber]) -> Bool
    /// A version is pinned from now on, or is no more.
    func note(_ version: VersionNumber, isPinned: Bool)
    /// Something has gone for good because there was no room for it.
    func noteLoss(bytes: UInt64)
    /// Removes contents that the versions were in, which are forgotten.
    func release(_ forgotten: Plan)
}

/// The room of an engine, which is given later than the engine is made.
final class EngineRoomLink: Sendable {
    /// A reference in a lock by itself would be wrapped once more with each look.
    private struct Link { weak var room: (any EngineRoom)? }
    /// Innermost.
    private let link = RankedMutex(Link())

    func connect(_ room: any EngineRoom) { link.withLock { $0.room = room } }

    var room: (any EngineRoom)? { link.withLock { $0.room } }

    /// Carries out a request for which there may be no room. It is repeated once there is some.
    /// - Parameter body: says in the shortage what it lacks room for.
    func retrying<Result>(
        _ shortage: Shortage = Shortage(), _ body: (inout Shortage) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        var shortage = shortage
        guard let room else { return try body(&shortage) }
        do throws(Errno) {
            return try room.retrying({ shortage }) { () throws(Errno) in try body(&shortage) }
        } catch {
            guard error.isFull, !shortage.discards, !shortage.keepsAll else { throw error }
            // Otherwise no program could make room by a truncation.
            shortage.discards = true
            return try body(&shortage)
        }
    }
}
