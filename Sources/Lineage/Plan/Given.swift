// Contents that an event brings along.

import VersionModel

/// A merge of a document's current version with one that has lost against it.
public struct Merged: Hashable, Sendable {
    /// Who made it.
    public var actor: ActorNumber?
    /// A new file without a name, which has the merged content, and its look.
    public var file: FileID
    public var fingerprint: Fingerprint
    public var modified: Timestamp
    public var current: VersionNumber
    public var loser: VersionNumber

    public init(
        by actor: ActorNumber?, in file: FileID, _ fingerprint: Fingerprint, modified: Timestamp,
        of loser: VersionNumber, and current: VersionNumber
    ) {
        (self.actor, self.file, self.fingerprint, self.modified) = (actor, file, fingerprint, modified)
        (self.current, self.loser) = (current, loser)
    }
}

/// An image of a database: what its readers see, in one new file, which becomes a kept content.
public struct Captured: Hashable, Sendable {
    /// The program that has changed the database.
    public var actor: ActorNumber?
    public var content: Content
    public var fingerprint: Fingerprint

    public init(by actor: ActorNumber?, _ content: Content, _ fingerprint: Fingerprint) {
        (self.actor, self.content, self.fingerprint) = (actor, content, fingerprint)
    }
}

/// A content that is kept already, for a document to have beside its history.
public struct Added: Hashable, Sendable {
    public var actor: ActorNumber?
    public var content: Content
    public var fingerprint: Fingerprint
    public var modified: Timestamp
    /// Whether it is a conflict.
    public var isConflict: Bool
    /// What it and the current version go back to, if that goes back to nothing.
    public var base: VersionNumber?

    public init(
        by actor: ActorNumber?, _ content: Content, _ fingerprint: Fingerprint, modified: Timestamp,
        isConflict: Bool = false, base: VersionNumber? = nil
    ) {
        (self.actor, self.content, self.fingerprint) = (actor, content, fingerprint)
        (self.modified, self.isConflict, self.base) = (modified, isConflict, base)
    }
}
