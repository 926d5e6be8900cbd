// The time that has been seen to pass, kept over mounts: what thinning and the deleted area count by (DESIGN 7).

import Synchronization
import VersionModel

/// A ``RetentionClock`` that lives in the catalog. Lock order: last; the catalog is written outside of it.
final class Retention: Sendable {
    /// The setting that it is stored as.
    static let key = "retention-clock"

    private struct State {
        var clock: RetentionClock
        /// CLOCK_BOOTTIME at the last look; nil before the first since the mount.
        var seen: Int64?
    }

    private let store: @Sendable ([UInt8]) -> Void
    private let state: RankedMutex<State>
    private let wall: any WallClock

    /// - Parameters:
    ///   - stored: what an earlier mount has stored.
    ///   - store: stores it.
    init(stored: [UInt8]?, wall: any WallClock, store: @escaping @Sendable ([UInt8]) -> Void) {
        (self.store, self.wall) = (store, wall)
        state = RankedMutex(State(clock: stored.flatMap(Self.decode) ?? RetentionClock(wall: wall.now())))
    }

    /// Takes note of the time; to be called now and then, at least once an hour while mounted.
    @discardableResult
    func note() -> RetentionClock {
        let (now, uptime) = (wall.now(), wall.uptime())
        let clock = state.withLock { state in
            state.clock.advance(to: now, elapsed: state.seen.map { uptime - $0 })
            state.seen = uptime
            return state.clock
        }
        store(Self.encode(clock))
        return clock
    }

    /// As it was at the last look.
    var clock: RetentionClock { state.withLock(\.clock) }

    var isPaused: Bool { state.withLock(\.clock.isPaused) }

    // MARK: As text: `wall seen step|- wall:seen …`

    private static func encode(_ clock: RetentionClock) -> [UInt8] {
        let anchors = clock.anchors.map { "\($0.wall.nanoseconds):\($0.seen)" }
        let step = clock.step.map { "\($0)" } ?? "-"
        return Array((["\(clock.wall.nanoseconds)", "\(clock.seen)", step] + anchors).joined(separator: " ").utf8)
    }

    private static func decode(_ bytes: [UInt8]) -> RetentionClock? {
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard words.count >= 4, let wall = Int64(words[0]), let seen = Int64(words[1]) else { return nil }
        let anchors = words[3...].compactMap { word -> RetentionClock.Anchor? in
            let parts = word.split(separator: ":")
            guard parts.count == 2, let wall = Int64(parts[0]), let seen = Int64(parts[1]) else { return nil }
            return RetentionClock.Anchor(wall: Timestamp(nanoseconds: wall), seen: seen)
        }
        return RetentionClock(anchors: anchors, wall: Timestamp(nanoseconds: wall), seen: seen, step: Int64(words[2]))
    }
}
