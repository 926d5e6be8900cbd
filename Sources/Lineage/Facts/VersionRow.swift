import VersionModel

/// One saved state (facts.md 1). A version belongs to a name row, and so to that row's document.
public struct VersionRow: Hashable, Sendable {
    public var number: VersionNumber
    public var time: Timestamp
    /// The row under which it was saved.
    public var row: RowNumber
    /// Where its bytes are. It is the first `fingerprint.size` bytes of that.
    public var content: Content
    public var fingerprint: Fingerprint
    /// The file that was saved; its content may be another file's, if the two were equal.
    public var file: FileID
    /// The modification time that the file had.
    public var modified: Timestamp
    public var author: ActorNumber?
    /// What its author had seen last of the document's history.
    public var base: VersionNumber?
    public var parents = Parents()
    /// The version that lost against it: a conflict until that is settled.
    public var loser: VersionNumber?
    public var beside = Beside.no
    /// Whether it was made by appending.
    public var isAppended = false
    /// Whether its document is at home under the row's name since this save: it was saved there by a rename, or through
    /// a handle that was opened there (facts.md 2, "D comes back").
    public var isAtHome = false
    /// Whether its content is an image of a database, as the readers of that see it. The file that was saved may have
    /// other bytes, and goes on with them; its modification time tells whether they are still the ones of then.
    public var isImage = false
    /// Whether it went with the removal of a name that its maker had made up.
    public var isForgotten = false

    /// Whether a file does not have the version's bytes, although it was saved from it.
    public func isImage(of file: FileID) -> Bool { isImage && self.file == file }

    public init(
        number: VersionNumber, time: Timestamp, row: RowNumber, content: Content, fingerprint: Fingerprint,
        file: FileID,
        modified: Timestamp, author: ActorNumber?
    ) {
        self.number = number
        self.time = time
        self.row = row
        self.content = content
        self.fingerprint = fingerprint
        self.file = file
        self.modified = modified
        self.author = author
    }
}
