import VersionModel

/// A program has seen a version, by reading or by saving it (facts.md 3, "Conflict inputs").
public struct Observation: Hashable, Sendable {
    public var actor: ActorNumber
    /// The version; nil says that from now on it works on the document without having seen any.
    public var version: VersionNumber?
    /// The document that it was seen as. An observation counts for each document whose history has the version.
    public var document: DocumentNumber
    public var time: Timestamp
    /// Whether it has read it, and not only saved it.
    public var isRead = false
    /// Whether a read has made the observation last, and not a save.
    public var isByRead = false
    /// Whether the program had read the version before that; nil if the program had not seen the version.
    public var hadRead: Bool?

    public init(actor: ActorNumber, version: VersionNumber?, document: DocumentNumber, time: Timestamp) {
        self.actor = actor
        self.version = version
        self.document = document
        self.time = time
    }
}
