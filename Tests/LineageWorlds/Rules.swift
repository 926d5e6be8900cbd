/// What a run of worlds tries and checks.
public struct Rules: Sendable {
    public var actors: UInt32
    /// Whether names are made up: the third name, by each program that makes it.
    public var hasMadeUpNames: Bool
    /// A kill after every step of every plan.
    public var kills: Bool
    /// Power cuts that take the facts of the last one, two and three events along.
    public var powerCuts: Bool
    /// Power cuts after which any part of what was not synchronized has arrived.
    public var cuts: Bool
    /// Whether all that was saved must be shown somewhere. It is not in worlds with moves that hide (directories).
    public var showsAll: Bool
    /// Whether each event is planned once more over a log that has all facts: the plan must be the same.
    public var hasLog = false

    public init(
        actors: UInt32, hasMadeUpNames: Bool = true, kills: Bool = true, powerCuts: Bool = false, cuts: Bool = false,
        showsAll: Bool = true
    ) {
        self.actors = actors
        self.hasMadeUpNames = hasMadeUpNames
        self.kills = kills
        self.powerCuts = powerCuts
        self.cuts = cuts
        self.showsAll = showsAll
    }
}
