import VersionModel

/// Facts that are recorded, each found by a key, so that a plan's work does not grow with their number.
///
/// The engine answers from its tables, and from the catalog. Forgotten versions are none. Numbers begin at 1.
public protocol FactLog: AnyObject, Sendable {
    /// The largest number that a fact has; 0 if there is none.
    var lastNumber: UInt64 { get }

    func row(_ number: RowNumber) -> NameRow?
    /// A version, also if it is forgotten.
    func version(_ number: VersionNumber) -> VersionRow?
    func isSettled(_ version: VersionNumber) -> Bool
    /// The purge of a removal.
    func purge(of removal: RowNumber) -> Facts.Purged?

    // MARK: Places

    /// The last row of a place.
    func lastRow(at place: PlaceNumber) -> NameRow?
    /// The last row before a number that gave the place a file.
    func lastOccupant(of place: PlaceNumber, before number: RowNumber) -> NameRow?
    /// The first row of a place after a number.
    func firstRow(at place: PlaceNumber, after number: RowNumber) -> NameRow?

    /// The rows that say of their file that it had its name by this row before.
    func successors(of number: RowNumber) -> [NameRow]

    // MARK: Files

    /// The names that a file has, oldest first.
    func names(of file: FileID) -> [NameRow]
    /// How many these are, and of which documents, each of them once. A file may have thousands of names.
    func countOfNames(of file: FileID) -> Int
    func documents(of file: FileID) -> [DocumentNumber]
    /// The names whose rows go back, each to the one before, to a row that gave this file a name.
    func namesOfFiles(from file: FileID) -> [NameRow]
    /// The last row that gave a file a name.
    func lastRow(of file: FileID) -> NameRow?
    /// The versions in a content, oldest first.
    func versions(in content: Content) -> [VersionRow]
    func countOfVersions(in content: Content) -> Int
    /// The last of a file's contents that a version was in, also a forgotten one. Generations only grow.
    func lastContent(of file: FileID) -> Content?

    // MARK: Documents

    /// The names that a document has, oldest first.
    func names(of document: DocumentNumber) -> [NameRow]
    /// The files that have them, each of them once.
    func files(of document: DocumentNumber) -> [FileID]
    /// The rows after a number that give a document a name, oldest first.
    func rows(of document: DocumentNumber, after number: RowNumber) -> [NameRow]
    /// The last row that gave a document a name.
    func lastRow(of document: DocumentNumber) -> NameRow?
    /// The last row by which a document lost a name, also one of several.
    func lastDeparture(of document: DocumentNumber) -> NameRow?
    /// The rows of a document that have a maker.
    func unpublishedRows(of document: DocumentNumber) -> [NameRow]
    /// The documents that begin with a version of another one.
    func documents(from version: VersionNumber) -> [DocumentNumber]
    /// The versions of a document, oldest first.
    func versions(of document: DocumentNumber) -> [VersionRow]
    /// The versions of a document with these bytes, oldest first. Older ones than the newest may be missing.
    func versions(of document: DocumentNumber, equalTo content: Fingerprint) -> [VersionRow]
    /// The newest version of a document until a number, of those that its names showed or of all.
    func newestVersion(of document: DocumentNumber, until number: UInt64, isShown: Bool) -> VersionRow?
    /// The versions of a document that have a loser, or lie beside it as a conflict, oldest first. One of which all is
    /// settled may be missing.
    func rivals(of document: DocumentNumber) -> [VersionRow]
    /// Whether a document was saved at home under a name that it has had since a row (``VersionRow/isAtHome``).
    func isSavedAtHome(_ document: DocumentNumber, after row: RowNumber) -> Bool
}

extension FactLog {
    public func countOfNames(of file: FileID) -> Int { names(of: file).count }
    public func documents(of file: FileID) -> [DocumentNumber] { Array(Set(names(of: file).map(\.document))) }
    public func files(of document: DocumentNumber) -> [FileID] { Array(Set(names(of: document).compactMap(\.file))) }
    public func countOfVersions(in content: Content) -> Int { versions(in: content).count }
}
