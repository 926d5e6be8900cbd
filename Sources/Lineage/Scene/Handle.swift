import VersionModel

/// A file that a program has open for writing.
public struct Handle: Hashable, Sendable {
    public var number: HandleNumber
    public var actor: ActorNumber
    public var file: FileID
    public var mode: AccessMode
    /// Its writes go past the daemon: the file may change at any time while it is open.
    public var isUnseen: Bool
    /// The place that it was opened by.
    public var place: PlaceNumber
    /// The number that the next fact had when it was opened: rows before that were there already.
    public var opened: RowNumber
    /// Whether it has written since its last save.
    public var isDirty: Bool
    /// The handle appends, and has made or emptied the file since its last save: the next save replaces the content.
    public var hasEmptied = false
    /// close(2) is over, and the release is to come.
    public var isClosed = false
    /// The version that it has saved, and goes on with: its further writes amend that (facts.md 3, "Amend").
    public var saved: VersionNumber?

    public init(
        number: HandleNumber, actor: ActorNumber, file: FileID, mode: AccessMode, isUnseen: Bool, place: PlaceNumber,
        opened: RowNumber
    ) {
        self.number = number
        self.actor = actor
        self.file = file
        self.mode = mode
        self.isUnseen = isUnseen
        self.place = place
        self.opened = opened
        isDirty = mode == .replace
    }

    /// Whether the handle's next save replaces the file's content.
    public var isReplacing: Bool { mode == .replace || hasEmptied }

    /// Whether bytes that are in the file already may change beneath the daemon.
    public var mayOverwriteUnseen: Bool { isUnseen && (mode == .write || mode == .replace) }
}
