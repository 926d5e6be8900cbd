// A claim of a plain program on an item, and the one rule for waits between such claims.

import VersionModel

/// The reason for a plain program's claim.
public enum PlainClaimKind: String, Sendable, CaseIterable {
    /// The program replaces the whole content in place: an open with O_TRUNC, or a truncation to 0.
    case replacing
    /// Any other open for writing of a file during a replacement.
    case writing
}

/// A plain program's claim on an item. The program makes no claim itself; its open counts as one.
public struct PlainClaim: Hashable, Sendable, Identifiable {
    public var id: ClaimID
    public var kind: PlainClaimKind
    public var item: ItemID
    /// The process; nil if it is unknown. An unknown process has no kin.
    public var actor: FileActor?

    public init(id: ClaimID, kind: PlainClaimKind, item: ItemID, actor: FileActor?) {
        self.id = id
        self.kind = kind
        self.item = item
        self.actor = actor
    }

    /// Whether a claim blocks a later one. Total, and the only place with this rule.
    public static func blocks(_ earlier: PlainClaim, _ later: PlainClaim) -> Bool {
        guard earlier.item == later.item, !areKin(earlier, later) else { return false }
        return switch (earlier.kind, later.kind) {
        case (.replacing, .replacing), (.replacing, .writing), (.writing, .replacing): true
        // Writers in place share the file, as in POSIX.
        case (.writing, .writing): false
        }
    }

    /// Whether the two never wait for one another: the same process, or one is in the other's lineage.
    public static func areKin(_ one: PlainClaim, _ other: PlainClaim) -> Bool {
        guard let first = one.actor, let second = other.actor else { return false }
        return first.isKin(of: second)
    }
}
