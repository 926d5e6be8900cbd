// A moment after which a wait gives up: every wait of the fixture has one, so that a hung mount fails a test and not
// the run.

import Glibc

/// A moment on the monotonic clock.
public struct Deadline: Sendable {
    private let moment: ContinuousClock.Instant

    /// A deadline so many seconds from now.
    public static func after(seconds: Double) -> Deadline {
        Deadline(moment: .now + .milliseconds(Int64((seconds * 1000).rounded())))
    }

    private init(moment: ContinuousClock.Instant) {
        self.moment = moment
    }

    /// Whether it has passed.
    public var isOver: Bool { ContinuousClock.now >= moment }

    /// What is left, in milliseconds rounded up, as poll(2) takes it; 0 once it has passed.
    public var milliseconds: Int32 {
        let left = (moment - .now).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
        return Int32(clamping: left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// Waits until one of the descriptors has one of its events. Returns the events of each, or nil when the deadline
    /// has passed.
    public func poll(_ wanted: [(descriptor: Int32, events: Int32)]) -> [Int32]? {
        var set = wanted.map { pollfd(fd: $0.descriptor, events: Int16(truncatingIfNeeded: $0.events), revents: 0) }
        while true {
            let count = Glibc.poll(&set, nfds_t(set.count), milliseconds)
            if count > 0 { return set.map { Int32($0.revents) } }
            if count == 0 || errno != EINTR { return nil }
        }
    }
}
