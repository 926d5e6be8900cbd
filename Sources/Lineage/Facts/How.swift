/// How a place got the file that it has from a row on, or how the file left it (facts.md 1, the column `how`).
public enum How: Hashable, Sendable {
    /// The file was made there, or it had a name before that was never published.
    case created
    /// A rename or an exchange has brought it.
    case moved
    /// link(2) has given it this name, too.
    case linked
    /// It lay there after a crash, and no row tells of it.
    case found
    case undeleted
    case restored

    /// A rename has taken the file away: to that row's place, as far as that is known.
    case movedAway(to: RowNumber?)
    /// The name was removed.
    case removed
    /// The name was removed, and the deleted list does not show it: only its maker wanted it (facts.md 5).
    case hidden

    /// Whether the name was removed, shown or not.
    public var isRemoval: Bool { self == .removed || self == .hidden }
}
