import Lineage
import VersionModel

/// Facts that a plan has asked for, and that are not in memory.
enum Missing: Hashable, Sendable {
    case row(RowNumber)
    case version(VersionNumber)
    /// One more occupant of a place.
    case place(PlaceNumber)
    case lastRowOfFile(FileID)
    case namesOfFile(FileID)
    case namesFromFile(FileID)
    case successors(RowNumber)
    case lastRowOfDocument(DocumentNumber)
    case rowsOfDocument(DocumentNumber)
    case namesOfDocument(DocumentNumber)
    case departure(DocumentNumber)
    /// One more version of a document.
    case newestVersion(DocumentNumber)
    case versions(DocumentNumber)
    case equal(DocumentNumber, Fingerprint)
    case rivals(DocumentNumber)
    case content(Content)
    case lastContent(FileID)
    case origin(VersionNumber)
}
