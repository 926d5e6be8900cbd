// Questions about facts. Every reader sees everything committed before its call.

internal import GRDB
import Lineage
import VersionModel

extension FactStore {
    /// The facts, for one plan or one answer. The caller looks at ``StoredFacts/failure`` before it relies on the
    /// answers.
    public func facts() -> StoredFacts { StoredFacts(flushedCatalog) }

    /// Until when all changes of the tree are among the facts, by the clock of its files: until the end of the mount
    /// before, or its last fact if it has not ended in order. nil if there are none.
    public func watchedUntil() throws(StoreError) -> Timestamp? {
        guard identity.cleanShutdown else { return facts().lastTime }
        let bytes: [UInt8]?
        do { bytes = try catalog.meta(FactOpening.watchedKey) } catch { throw CatalogConnection.storeError(error) }
        guard let bytes else { return facts().lastTime }
        var reader = ByteReader(bytes)
        do { return Timestamp(nanoseconds: try reader.signed64()) } catch { return facts().lastTime }
    }

    var flushedCatalog: any DatabaseAccess { FlushedCatalog(catalog: catalog, queue: queue) }

    func read<Answer>(_ body: (Database) throws -> Answer) throws(StoreError) -> Answer {
        do { return try flushedCatalog.access(body) } catch {
            throw CatalogConnection.storeError(error)
        }
    }

    // MARK: What users see

    public func detail(of version: VersionNumber) throws(StoreError) -> VersionDetail? {
        try read { try FactTables.detail(of: version, $0) }
    }

    /// The same without what waits to be written: an answer for who can do without that, while there is no room for it.
    public func writtenDetail(of version: VersionNumber) throws(StoreError) -> VersionDetail? {
        do { return try catalog.access { try FactTables.detail(of: version, $0) } } catch {
            throw CatalogConnection.storeError(error)
        }
    }

    public func writtenDetail(of row: RowNumber) throws(StoreError) -> NameDetail? {
        do { return try catalog.access { try FactTables.detail(of: row, $0) } } catch {
            throw CatalogConnection.storeError(error)
        }
    }

    public func detail(of row: RowNumber) throws(StoreError) -> NameDetail? {
        try read { try FactTables.detail(of: row, $0) }
    }

    /// The times that a directory had before a removal from it; nil if they are not known.
    func times(before removal: RowNumber) throws(StoreError) -> (accessed: Timestamp, modified: Timestamp)? {
        try read { try FactTables.times(before: removal, $0) }
    }

    /// The text of a document or a version, by its number.
    public func label(of subject: UInt64) throws(StoreError) -> String? {
        try read { try FactTables.label(of: subject, $0) }
    }

    public func setting(_ key: String) throws(StoreError) -> [UInt8]? {
        try read { try FactCatalog.value("setting", key, $0) }
    }

    // MARK: Identities

    /// The identity of a version, by its number and its detail; nil for a number that is too large for one.
    public func id(of version: VersionNumber, _ detail: VersionDetail?) -> VersionID? {
        detail?.alias ?? ids.id(version.number)
    }

    /// The number that an identity of this catalog stands for, whether there is such a fact or not.
    public func number(of id: VersionID) -> VersionNumber? { ids.number(of: id).map { VersionNumber($0) } }

    /// The same for a document.
    public func number(of id: ItemID) -> DocumentNumber? { ids.number(of: id).map { DocumentNumber($0) } }

    /// The version with an identity; nil if there is none.
    public func version(_ id: VersionID) throws(StoreError) -> VersionNumber? {
        let number = ids.number(of: id).map { VersionNumber($0) }
        return try read { database in
            if let number, try FactTables.version(number, database) != nil { return number }
            return try FactTables.version(alias: id, database)
        }
    }

    /// The identity of a document, by its number and the detail of its first row.
    public func id(of document: DocumentNumber, _ detail: NameDetail?) -> ItemID? {
        detail?.document ?? ids.id(document.number)
    }

    /// The identity of an entry of the deleted list, by the number of its removal and its detail.
    public func id(ofDeletion removal: RowNumber, _ detail: NameDetail?) -> DeletionID? {
        detail?.deletion ?? ids.id(removal.number)
    }

    /// The document with an identity; nil if there is none.
    public func document(_ id: ItemID) throws(StoreError) -> DocumentNumber? {
        let number = ids.number(of: id)
        return try read { database in
            if let number, try !FactTables.names(database, "seq = ? AND item = seq", .number(number)).isEmpty {
                return DocumentNumber(number)
            }
            return try FactTables.document(alias: id, database)
        }
    }
}

/// The catalog, with everything that was committed before a question.
private struct FlushedCatalog: DatabaseAccess {
    let catalog: FactCatalog
    let queue: CommitQueue<FactCatalog>

    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
        // An answer without the last facts would be a wrong one.
        guard queue.flush() else { throw StoreError.catalog(code: 13, queue.failure ?? "it cannot be written") }
        return try catalog.access(body)
    }
}
