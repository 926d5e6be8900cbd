import VersionModel

/// The one call of an event that the file system below may refuse.
public enum SystemCall: Hashable, Sendable {
    case create(PlaceNumber, FileID)
    case open(FileID)
    case write(FileID)
    /// Without the second, to the length that the program has asked for.
    case truncate(FileID, toNothing: Bool)
    case rename(from: PlaceNumber, to: PlaceNumber)
    case exchange(PlaceNumber, PlaceNumber)
    case link(from: PlaceNumber, to: PlaceNumber)
    case unlink(PlaceNumber)
    case makeDirectory(PlaceNumber, FileID)
    case removeDirectory(PlaceNumber)
    /// A file without a name, or one that was just made, gets this name, whatever file had it.
    case name(FileID, PlaceNumber)
}
