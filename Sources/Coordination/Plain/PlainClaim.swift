// A claim of a plain program on an item, and the one rule of who waits for whom.

import VersionModel

/// What a plain program's claim is for.
public enum PlainClaimKind: String, Sendable, CaseIterable {
    /// The whole content is being replaced in place: an open with O_TRUNC, or a truncation to nothing.
    case replacing
    /// Any other open for writing of a file that someone was replacing.
    case writing
}

/// A plain program's claim on an item: it made none by itself, its open is one.
public struct PlainClaim: Hashable, Sendable, Identifiable {
    public var id: ClaimID
    public var kind: PlainClaimKind
    public var item: ItemID
    /// Who; nil if nobody can tell. Someone unknown is nobody's kin.
    public var actor: FileActor?

    public init(id: ClaimID, kind: PlainClaimKind, item: ItemID, actor: FileActor?) {
        self.id = id
        self.kind = kind
        self.item = item
        self.actor = actor
    }

    /// Whether a claim keeps a later one waiting. Total, and the only place that says so.
    public static func blocks(_ earlier: PlainClaim, _ later: PlainClaim) -> Bool {
        guard earlier.item == later.item, !areKin(earlier, later) else { return false }
        return switch (earlier.kind, later.kind) {
        case (.replacing, .replacing), (.replacing, .writing), (.writing, .replacing): true
        // Writers in place share, as POSIX has it.
        case (.writing, .writing): false
        }
    }

    /// Whether the two never wait for one another: one process, or one in the other's lineage.
    public static func areKin(_ one: PlainClaim, _ other: PlainClaim) -> Bool {
        guard let first = one.actor, let second = other.actor else { return false }
        return first.isKin(of: second)
    }
}
