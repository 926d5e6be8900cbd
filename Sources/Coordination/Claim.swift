// A claim of a plain program on an item, and the one rule of who waits for whom.

import VersionModel

/// What a claim is known by: given by whoever makes it, for instance the number of the open file.
public struct ClaimID: Hashable, Sendable {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
}

/// What a claim is for. Coordinated reads and the writes of DESIGN 4 that delete, move or merge become cases of this.
public enum ClaimKind: String, Sendable, CaseIterable {
    /// The whole content is being replaced in place: an open with O_TRUNC, or a truncation to nothing.
    case replacing
    /// Any other open for writing of a file that someone was replacing.
    case writing
}

/// A coordinated access to an item.
public struct Claim: Hashable, Sendable, Identifiable {
    public var id: ClaimID
    public var kind: ClaimKind
    public var item: ItemID
    /// Who; nil if nobody can tell. Someone unknown is nobody's kin.
    public var actor: FileActor?

    public init(id: ClaimID, kind: ClaimKind, item: ItemID, actor: FileActor?) {
        self.id = id
        self.kind = kind
        self.item = item
        self.actor = actor
    }

    /// Whether a claim keeps a later one waiting. Total, and the only place that says so.
    public static func blocks(_ earlier: Claim, _ later: Claim) -> Bool {
        guard earlier.item == later.item, !areKin(earlier, later) else { return false }
        return switch (earlier.kind, later.kind) {
        case (.replacing, .replacing), (.replacing, .writing), (.writing, .replacing): true
        // Writers in place share, as POSIX has it.
        case (.writing, .writing): false
        }
    }

    /// Whether the two never wait for one another: one process, or one in the other's lineage.
    public static func areKin(_ one: Claim, _ other: Claim) -> Bool {
        guard let first = one.actor, let second = other.actor else { return false }
        return first.isKin(of: second)
    }
}
