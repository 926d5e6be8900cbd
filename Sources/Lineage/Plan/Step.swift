import VersionModel

/// Something that the executor does beside the system call; each has one function there.
public enum Step: Hashable, Sendable {
    /// The present content of the file is kept outside it. The executor chooses how: the inode itself, a reflink, a
    /// copy, an undo log (facts.md 4).
    case keep(Content, [Label])
    /// A new file without a name gets the content of a version, and its modification time; nil for a document that was
    /// never saved.
    case make(FileID, VersionRow?)
    /// The file has no name and no handle any more, and no version needs it.
    case forget(FileID)
}
