import VersionModel

/// All that a plan may depend on (facts.md 7): the facts, what the daemon remembers, and the time.
public struct Scene: Hashable, Sendable {
    public var facts: Facts
    public var memory: Memory
    public var now: Timestamp
    /// The number of the next fact. The engine has set aside enough behind it for one plan.
    public var nextNumber: UInt64
    /// How the programs are related that the event and the facts name.
    public var kin: Kin
    /// Which places are quiet, of those that the plan asks about.
    public var quiet: Quiet

    public init(
        facts: Facts, memory: Memory, now: Timestamp, nextNumber: UInt64, kin: Kin = Kin(), quiet: Quiet = Quiet()
    ) {
        self.facts = facts
        self.memory = memory
        self.now = now
        self.nextNumber = nextNumber
        self.kin = kin
        self.quiet = quiet
    }
}
