// The time that has really passed, independent of wall-clock changes: retention uses it (DESIGN 7).

/// Converts wall time to seen time. A clock that is set forward ages no version, and one that is set back keeps no
/// version forever. A container without a mount for a year ages by at most a day.
public struct RetentionClock: Hashable, Sendable {
    /// The seen time at a moment of the wall clock, from which both run together.
    public struct Anchor: Hashable, Sendable {
        public var wall: Timestamp
        /// Nanoseconds seen since the creation of the container.
        public var seen: Int64
        public init(wall: Timestamp, seen: Int64) {
            self.wall = wall
            self.seen = seen
        }
    }

    public static let day: Int64 = 86_400_000_000_000
    /// The wall clock is slewed and corrected by seconds all the time; a smaller change is no step.
    private static let tolerance: Int64 = 60_000_000_000
    private static let mostAnchors = 256

    /// The points where the wall clock and the seen time diverged, oldest first, the last one in force; at least one.
    public private(set) var anchors: [Anchor]
    /// The wall clock at the last look.
    public private(set) var wall: Timestamp
    /// Nanoseconds seen until then.
    public private(set) var seen: Int64
    /// The sum of the steps that paused thinning and purging, in nanoseconds; nil without a pause.
    public private(set) var step: Int64?
    /// Nanoseconds seen since that step.
    private var calm: Int64 = 0

    /// A clock without any seen time.
    public init(wall: Timestamp) {
        anchors = [Anchor(wall: wall, seen: 0)]
        self.wall = wall
        seen = 0
    }

    /// A stored clock.
    public init(anchors: [Anchor], wall: Timestamp, seen: Int64, step: Int64?) {
        self.anchors = anchors.isEmpty ? [Anchor(wall: wall, seen: seen)] : anchors
        self.wall = wall
        self.seen = max(0, seen)
        self.step = step
    }

    /// Whether thinning and purging must wait, and `status` reports it.
    public var isPaused: Bool { step != nil }

    /// Notes the time.
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - elapsed: nanoseconds since the last call by a clock that no program sets (CLOCK_BOOTTIME); nil if they are
    ///     unknown, as at a mount. Then the wall clock counts, up to a day.
    public mutating func advance(to now: Timestamp, elapsed: Int64?) {
        let moved = now.since(wall)
        let passed = max(0, elapsed ?? min(moved, Self.day))
        let (after, over) = seen.addingReportingOverflow(passed)
        seen = over ? .max : after
        wall = now
        let (jump, huge) = moved.subtractingReportingOverflow(passed)
        let stepped = huge ? Int64.max : jump
        if stepped.magnitude > Self.tolerance.magnitude { part() }
        // For unobserved time, only a wall clock that runs backwards shows a change.
        let isStep = elapsed == nil ? stepped < -Self.day : stepped.magnitude > Self.day.magnitude
        noteStep(isStep ? stepped : 0, passed: passed)
    }

    /// Ends the pause: a user has checked the clock.
    public mutating func resume() { step = nil }

    /// The age of a moment of the wall clock, in seen nanoseconds; never negative. If the clock showed the moment more
    /// than once, it is the smallest age.
    public func age(of moment: Timestamp) -> Int64 { max(0, seen - seenTime(of: moment)) }

    /// The seen time at a moment of the wall clock.
    public func seenTime(of moment: Timestamp) -> Int64 {
        var end = seen
        for anchor in anchors.reversed() {
            if moment >= anchor.wall {
                let since = moment.since(anchor.wall)
                let (time, over) = anchor.seen.addingReportingOverflow(since)
                return over ? end : min(time, end)
            }
            end = anchor.seen
        }
        return end
    }

    /// Starts a new relation of the two clocks.
    private mutating func part() {
        anchors.append(Anchor(wall: wall, seen: seen))
        if anchors.count > Self.mostAnchors { anchors.removeFirst() }
    }

    /// A reversed step ends the pause, and so does a day without another step.
    private mutating func noteStep(_ size: Int64, passed: Int64) {
        guard size == 0 else {
            let (sum, over) = (step ?? 0).addingReportingOverflow(size)
            step = over ? size : sum
            calm = 0
            if let now = step, now.magnitude <= Self.day.magnitude { step = nil }
            return
        }
        guard step != nil else { return }
        let (sum, over) = calm.addingReportingOverflow(passed)
        calm = over ? .max : sum
        if calm >= Self.day { step = nil }
    }
}
