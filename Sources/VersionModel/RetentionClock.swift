// How much time has been seen to pass, whatever the wall clock does: retention counts this (DESIGN 7).

/// Turns wall time into time seen. A clock that is set forward ages nothing, one that is set back keeps nothing for
/// ever, and a container that lay unmounted for a year ages by a day at most.
public struct RetentionClock: Hashable, Sendable {
    /// From this moment of the wall clock on, so much time had been seen.
    public struct Anchor: Hashable, Sendable {
        public var wall: Timestamp
        /// Nanoseconds seen since the container was made.
        public var seen: Int64
        public init(wall: Timestamp, seen: Int64) {
            self.wall = wall
            self.seen = seen
        }
    }

    public static let day: Int64 = 86_400_000_000_000
    /// The wall clock is slewed and corrected by seconds all the time; less than this is no step.
    private static let tolerance: Int64 = 60_000_000_000
    private static let mostAnchors = 256

    /// Where the wall clock and the time seen parted, oldest first, the last one in force; at least one.
    public private(set) var anchors: [Anchor]
    /// The wall clock when it was last looked at.
    public private(set) var wall: Timestamp
    /// Nanoseconds seen until then.
    public private(set) var seen: Int64
    /// The sum of steps that stopped thinning and purging, in nanoseconds; nil while they go on.
    public private(set) var step: Int64?
    /// Nanoseconds seen since that step.
    private var calm: Int64 = 0

    /// A clock that has seen nothing yet.
    public init(wall: Timestamp) {
        anchors = [Anchor(wall: wall, seen: 0)]
        self.wall = wall
        seen = 0
    }

    /// A clock as it was stored.
    public init(anchors: [Anchor], wall: Timestamp, seen: Int64, step: Int64?) {
        self.anchors = anchors.isEmpty ? [Anchor(wall: wall, seen: seen)] : anchors
        self.wall = wall
        self.seen = max(0, seen)
        self.step = step
    }

    /// Whether thinning and purging must wait, and `status` say so.
    public var isPaused: Bool { step != nil }

    /// Takes note of the time.
    /// - Parameters:
    ///   - now: the wall clock.
    ///   - elapsed: nanoseconds since the last call by a clock that nobody sets (CLOCK_BOOTTIME); nil if nobody can
    ///     tell, as at a mount. Then the wall clock is believed up to a day.
    public mutating func advance(to now: Timestamp, elapsed: Int64?) {
        let moved = now.since(wall)
        let passed = max(0, elapsed ?? min(moved, Self.day))
        let (after, over) = seen.addingReportingOverflow(passed)
        seen = over ? .max : after
        wall = now
        let (jump, huge) = moved.subtractingReportingOverflow(passed)
        let stepped = huge ? Int64.max : jump
        if stepped.magnitude > Self.tolerance.magnitude { part() }
        // Of time that nobody saw, only its running backwards shows that the clock was set.
        let isStep = elapsed == nil ? stepped < -Self.day : stepped.magnitude > Self.day.magnitude
        noteStep(isStep ? stepped : 0, passed: passed)
    }

    /// Goes on although the clock was set: a person has looked at it.
    public mutating func resume() { step = nil }

    /// How long ago a moment of the wall clock was, in nanoseconds seen; never negative, and rather too little than too
    /// much where the clock showed that moment more than once.
    public func age(of moment: Timestamp) -> Int64 { max(0, seen - seenTime(of: moment)) }

    /// The time seen at a moment of the wall clock.
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

    /// A new relation of the two clocks begins.
    private mutating func part() {
        anchors.append(Anchor(wall: wall, seen: seen))
        if anchors.count > Self.mostAnchors { anchors.removeFirst() }
    }

    /// A step that is taken back ends the pause, and so does a day without another.
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
