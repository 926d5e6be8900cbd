// What becomes of the versions of a document when one device saves it: DESIGN 6.1 as a pure function.

/// A save as the rule sees it: content N by actor B.
public struct Save: Hashable, Sendable {
    /// How the bytes arrived.
    public enum Kind: String, Sendable, CaseIterable {
        /// The whole content is new: a rename over the name, or an open that truncated.
        case replacing
        /// Bytes were appended, or written inside the file, by a program that did not empty it first.
        case appendOrInPlace
        /// The save closed on a file whose name another save has taken meanwhile: N is not what the name shows.
        case orphaned
    }

    public var kind: Kind
    /// B; nil if nobody can tell.
    public var actor: FileActor?
    /// base(B): the version the save started from; nil if none is known.
    public var base: VersionID?
    /// Whether N equals the current version's content.
    public var equalsCurrent: Bool
    /// Whether the content that would lose (C's; N's for an orphan) is the base's, or that of another unresolved loser
    /// (``SaveRule/isLeftOut(_:besides:base:)``).
    public var isLoserLeftOut: Bool
    /// Whether base(B) goes back to C: what B has seen came after it (B has written to a file that had lost its name).
    public var baseFollowsCurrent: Bool

    public init(
        kind: Kind, actor: FileActor?, base: VersionID?, equalsCurrent: Bool, isLoserLeftOut: Bool = false,
        baseFollowsCurrent: Bool = false
    ) {
        self.kind = kind
        self.actor = actor
        self.base = base
        self.equalsCurrent = equalsCurrent
        self.isLoserLeftOut = isLoserLeftOut
        self.baseFollowsCurrent = baseFollowsCurrent
    }
}

/// What a save does to an item's versions.
public enum SaveDecision: Hashable, Sendable {
    /// No version: N is C. The actor has now seen C.
    case nothing
    /// N becomes current with parent C; C becomes history.
    case supersede
    /// N becomes current with parent `base`, not C; C is kept as a conflict version.
    case conflict(base: VersionID)
    /// C stays current; N is kept as history or as a conflict version, with parent `base`.
    case orphan(as: VersionKind, base: VersionID?)
}

/// The rule of DESIGN 6.1.
public enum SaveRule {
    /// Decides what a save means while `current` is the item's current version.
    /// - Parameters:
    ///   - current: C.
    ///   - saver: who saved C; nil if nobody can tell (an earlier boot, an edit outside the mount, a merge by us).
    ///   - isQuiet: whether the item never conflicts.
    public static func decide(
        _ save: Save, current: VersionID, saver: FileActor?, isQuiet: Bool
    ) -> SaveDecision {
        if save.equalsCurrent { return .nothing }
        let stale = staleBase(of: save, current: current, saver: saver, isQuiet: isQuiet)
        switch (save.kind, stale) {
        case (.appendOrInPlace, _), (.replacing, nil): return .supersede
        case (.replacing, .some(let base)): return .conflict(base: base)
        case (.orphaned, nil): return .orphan(as: .history, base: save.base)
        case (.orphaned, .some(let base)): return .orphan(as: .conflict, base: base)
        }
    }

    /// Whether a content is left out, because another version that has it allows that: the base, from which the
    /// winner's author has gone on, or a loser that is still to be resolved. An older version does not: an author that
    /// goes back to its content has made an edit like any other.
    /// - Parameters:
    ///   - loser: the version that would lose.
    ///   - other: another version of the item, with the same content.
    public static func isLeftOut(_ loser: VersionID, besides other: Version, base: VersionID?) -> Bool {
        other.id != loser && (other.id == base || other.kind == .conflict)
    }

    /// The conflict version that a save goes on from, if its base is one: it becomes history and a parent of N, since
    /// its author has carried it on into N. So two programs that save in turns have one loser between them, not one
    /// each time.
    /// - Returns: the base; to be ignored unless it is a conflict version.
    public static func settled(by save: Save, _ decision: SaveDecision) -> VersionID? {
        switch decision {
        case .supersede, .conflict: save.kind == .replacing ? save.base : nil
        case .orphan(as: .conflict, _): save.base
        case .nothing, .orphan: nil
        }
    }

    /// Whether an actor that is about to replace C would do so from stale content: what `stale-writes = "refuse"`
    /// asks before anything has happened (DESIGN 6.3). Whether its base goes back to C is asked by the caller.
    public static func isStale(
        _ actor: FileActor?, base: VersionID?, current: VersionID, saver: FileActor?, isQuiet: Bool
    ) -> Bool {
        let save = Save(kind: .replacing, actor: actor, base: base, equalsCurrent: false)
        return staleBase(of: save, current: current, saver: saver, isQuiet: isQuiet) != nil
    }

    /// The base if it makes the two contents rivals; nil if one simply follows the other.
    private static func staleBase(
        of save: Save, current: VersionID, saver: FileActor?, isQuiet: Bool
    ) -> VersionID? {
        guard let base = save.base, base != current, !isQuiet, !save.isLoserLeftOut, !save.baseFollowsCurrent
        else { return nil }
        if let actor = save.actor, let saver, actor.isKin(of: saver) { return nil }
        return base
    }
}
