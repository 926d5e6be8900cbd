// The time that orders this container's versions.

import Synchronization
import VersionModel

/// Gives each event a hybrid logical time later than all before. Lock order: last.
final class ContainerClock: Sendable {
    private let wall: any WallClock
    private let last = Mutex(HybridTime(wall: Timestamp(nanoseconds: 0), logical: 0))

    init(wall: any WallClock) { self.wall = wall }

    func next() -> HybridTime {
        last.withLock { last in
            last = last.next(now: wall.now())
            return last
        }
    }
}
