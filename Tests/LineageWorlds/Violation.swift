/// What does not hold, and where.
public struct Violation: Error, CustomStringConvertible, Sendable {
    /// Each broken invariant, in words.
    public var problems: [String]
    /// The moment: after a move, or after a crash in the middle of one.
    public var moment: String
    /// The world in which they do not hold.
    public var world: World

    public var description: String {
        (["\(moment):"] + problems.map { "  ! \($0)" }).joined(separator: "\n") + "\n" + world.description
    }
}
