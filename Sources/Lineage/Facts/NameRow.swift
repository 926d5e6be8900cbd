import VersionModel

/// A place has a file from now on, or none (facts.md 1).
///
/// There is one row for each system call and place. The row says which document the place shows: that is decided once,
/// when the row is written, because it depends on open handles and on the clock, which no disk remembers. It is never
/// rewritten; only `maker` goes when the row is published.
public struct NameRow: Hashable, Sendable {
    public var number: RowNumber
    public var time: Timestamp
    public var place: PlaceNumber
    /// The file that the place has; nil if the place is free from now on.
    public var file: FileID?
    public var how: How
    /// The row by which the file had its name before.
    public var from: RowNumber?
    /// Whether it goes on with the document of the place's last occupant.
    public var isContinuing = false
    public var actor: ActorNumber?
    /// Who made the name up, while the row is only in memory: nil once it is published (facts.md 5).
    public var maker: ActorNumber?
    /// It is a directory, a symlink or a special file: no document.
    public var hasNoVersions = false
    /// The document that the place shows.
    public var document: DocumentNumber
    /// On the first row of a document: the version that it begins with, of another document.
    public var origin: VersionNumber?
    /// On the first row of a document: it parted from one that went on with another file (facts.md 2, "Parting").
    public var isParted = false

    public init(
        number: RowNumber, time: Timestamp, place: PlaceNumber, file: FileID?, how: How, actor: ActorNumber?
    ) {
        self.number = number
        self.time = time
        self.place = place
        self.file = file
        self.how = how
        self.actor = actor
        document = DocumentNumber(number.number)
    }
}
