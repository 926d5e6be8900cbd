// The time that orders this container's versions.

import Synchronization
import VersionModel

/// Gives each event a hybrid logical time later than all before. Lock order: last.
final class ContainerClock: Sendable {
    private let wall: any WallClock
    private let last = RankedMutex(HybridTime(wall: Timestamp(nanoseconds: 0), logical: 0))

    /// - Parameter last: the newest time that was given before, as ``bytes`` had it: a wall clock that was set back
    ///   must not put new versions behind old ones.
    init(wall: any WallClock, last bytes: [UInt8]?) {
        self.wall = wall
        guard let bytes, bytes.count == 12 else { return }
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        let wall = Timestamp(nanoseconds: Int64(bitPattern: number(0..<8)))
        last.withLock { $0 = HybridTime(wall: wall, logical: UInt32(truncatingIfNeeded: number(8..<12))) }
    }

    /// The newest time given, to be kept for the next use of the container.
    var bytes: [UInt8] {
        let last = last.withLock { $0 }
        let wall = UInt64(bitPattern: last.wall.nanoseconds)
        return (0..<8).map { UInt8(truncatingIfNeeded: wall >> (8 * $0)) }
            + (0..<4).map { UInt8(truncatingIfNeeded: UInt64(last.logical) >> (8 * $0)) }
    }

    func next() -> HybridTime {
        let now = wall.now()
        return last.withLock { last in
            last = last.next(now: now)
            return last
        }
    }
}
