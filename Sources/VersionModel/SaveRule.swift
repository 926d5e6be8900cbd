// The effect of a local save on a document's versions: DESIGN 6.1 as a pure function.

/// A save for the rule: content N by actor B.
public struct Save: Hashable, Sendable {
    /// The way of the write.
    public enum Kind: String, Sendable, CaseIterable {
        /// The whole content is new: a rename over the name, or an open that truncated.
        case replacing
        /// A program appended bytes, or wrote inside the file, without emptying it first.
        case appendOrInPlace
        /// The save ended on a file whose name another save has taken meanwhile: N is not the content of the name.
        case orphaned
    }

    public var kind: Kind
    /// B; nil if it is unknown.
    public var actor: FileActor?
    /// base(B): the version that the save started from; nil if it is unknown.
    public var base: VersionID?
    /// Whether N equals the current version's content.
    public var equalsCurrent: Bool
    /// Whether the losing content (C's; N's for an orphan) is the base's, or that of another unresolved loser
    /// (``SaveRule/isLeftOut(_:besides:base:)``).
    public var isLoserLeftOut: Bool
    /// Whether base(B) descends from C: B has seen a later version (B has written to a file that had lost its name).
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

/// The effect of a save on an item's versions.
public enum SaveDecision: Hashable, Sendable {
    /// No new version: N is C. The actor has now seen C.
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
    /// Decides the effect of a save while `current` is the item's current version.
    /// - Parameters:
    ///   - current: C.
    ///   - saver: the actor that saved C; nil if it is unknown (an earlier boot, an edit outside the mount, a merge by
    ///     the daemon).
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

    /// Whether a losing content is left out, because another version holds it: the base that the winner's author
    /// continued from, or an unresolved loser. An older version does not count: an author that returns to its content
    /// has made an edit like any other.
    /// - Parameters:
    ///   - loser: the losing version.
    ///   - other: another version of the item, with the same content.
    public static func isLeftOut(_ loser: VersionID, besides other: Version, base: VersionID?) -> Bool {
        other.id != loser && (other.id == base || other.kind == .conflict)
    }

    /// The conflict version that a save continues from, if its base is one. It becomes history and a parent of N,
    /// because its author has carried it into N. So two programs that save in turns have one loser in total, not one
    /// per save.
    /// - Returns: the base; the caller ignores it unless it is a conflict version.
    public static func settled(by save: Save, _ decision: SaveDecision) -> VersionID? {
        switch decision {
        case .supersede, .conflict: save.kind == .replacing ? save.base : nil
        case .orphan(as: .conflict, _): save.base
        case .nothing, .orphan: nil
        }
    }

    /// Whether an actor would replace C from stale content: the check of `stale-writes = "refuse"` before the write
    /// (DESIGN 6.3). The caller checks whether the base descends from C.
    public static func isStale(
        _ actor: FileActor?, base: VersionID?, current: VersionID, saver: FileActor?, isQuiet: Bool
    ) -> Bool {
        let save = Save(kind: .replacing, actor: actor, base: base, equalsCurrent: false)
        return staleBase(of: save, current: current, saver: saver, isQuiet: isQuiet) != nil
    }

    /// The base if the two contents compete; nil if one simply follows the other.
    private static func staleBase(
        of save: Save, current: VersionID, saver: FileActor?, isQuiet: Bool
    ) -> VersionID? {
        guard let base = save.base, base != current, !isQuiet, !save.isLoserLeftOut, !save.baseFollowsCurrent
        else { return nil }
        if let actor = save.actor, let saver, actor.isKin(of: saver) { return nil }
        return base
    }
}
