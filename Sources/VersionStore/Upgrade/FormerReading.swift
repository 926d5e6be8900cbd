// Reads the records of format 1 from its catalog.

import CLinux
internal import GRDB
import Glibc
import SystemPackage
import VersionModel

extension FormerRecords {
    private static let adoptionKey = "adopted"
    private static let versionColumns = "version.record, version.kind, version.flags, version.hash"

    /// Reads everything but what only single rows need. Records that cannot be read are left out, as everywhere.
    init(_ database: Database, _ progress: (Int, Int) throws -> Void) throws {
        let counts = try Query.statistics(database)
        let (items, versions) = (Int(counts.first ?? 0), Int(counts.dropFirst().first ?? 0))
        reserve(versions: versions, documents: items)
        try readItems(database)
        let rows = try SQLStatement(database, "SELECT \(Self.versionColumns), row FROM version ORDER BY row")
        defer { rows.reset() }
        var done = 0
        while try rows.step() {
            if let version = Query.readVersion(rows) { add(version, row: rows.integer(4)) }
            done += 1
            if done % 4096 == 0 { try progress(done, versions) }
        }
        sortVersions()
        deletions = try SQLStatement(database, "SELECT record FROM deletion ORDER BY deleted, row").rows(Query.deletion)
        directories = try Query.allDirectories(database)
        changes = try SQLStatement(database, "SELECT sequence, record FROM change ORDER BY sequence").rows { row in
            var reader = ByteReader(row.blob(1))
            return (try? reader.change()).map { (row.number(0), $0) }
        }
        let given = try SQLStatement(database, "SELECT seq FROM sqlite_sequence WHERE name = 'change'").first {
            $0.number(0)
        }
        lastSequence = max(given ?? 0, changes.last?.sequence ?? 0)
        let text = try Query.setting(Self.adoptionKey, database).map { String(decoding: $0, as: UTF8.self) }
        adoption = text.flatMap { Int64($0) }.map { Timestamp(nanoseconds: $0) }
        addEntryDocuments()
    }

    private mutating func readItems(_ database: Database) throws {
        // In the order of the ids, as the index of their places has them.
        let places = try SQLStatement(
            database, "SELECT item, directory, name FROM place ORDER BY item, directory, name")
        defer { places.reset() }
        var place: (item: [UInt8], place: Place)?
        func step() throws {
            place = nil
            while place == nil, try places.step() {
                guard let name = FileName(bytes: places.blob(2)) else { continue }
                place = (places.blob(0), Place(directory: FileID(places.number(1)), name: name))
            }
        }
        try step()
        let rows = try SQLStatement(
            database, "SELECT id, current, file, size, modified, changed FROM item ORDER BY id")
        defer { rows.reset() }
        while try rows.step() {
            let bytes = rows.blob(0)
            // Names of items without a row.
            while let (item, _) = place, item.lexicographicallyPrecedes(bytes) { try step() }
            var own: [Place] = []
            while let (item, next) = place, item == bytes {
                own.append(next)
                try step()
            }
            guard let id = ItemID(bytes: bytes), let current = VersionID(bytes: rows.blob(1)) else { continue }
            let file = Item.LiveFile(
                id: FileID(rows.number(2)), size: rows.number(3), modified: Timestamp(nanoseconds: rows.integer(4)),
                changed: rows.isNull(5) ? nil : Timestamp(nanoseconds: rows.integer(5)))
            add(Item(id: id, places: own, current: current, file: file))
        }
    }

    /// The whole record of a version.
    static func version(row: Int64, _ database: Database) throws -> Version? {
        try SQLStatement(database, "SELECT \(versionColumns) FROM version WHERE row = ?", .integer(row)).first {
            Query.readVersion($0)
        } ?? nil
    }

    /// The settings that are taken over: those of the redo log are not.
    static func settings(_ database: Database) throws -> [(String, [UInt8])] {
        try SQLStatement(database, "SELECT key, value FROM setting ORDER BY key").rows { row in
            let key = String(decoding: row.blob(0), as: UTF8.self)
            return key == RedoLog.appliedKey ? nil : (key, row.blob(1))
        }
    }
}

/// The files of a container that is being upgraded.
final class ContainerFiles: FormerFiles {
    private let tree: LiveTree
    private let contents: ContentStore
    private let deletedArea: DeletedArea
    private let objects: Set<ContentID>

    init(_ tree: LiveTree, _ contents: ContentStore, _ deletedArea: DeletedArea) throws(Errno) {
        (self.tree, self.contents, self.deletedArea) = (tree, contents, deletedArea)
        var objects: Set<ContentID> = []
        try contents.forEach { objects.insert($0) }
        self.objects = objects
    }

    func entry(_ path: TreePath) -> (file: FileID, type: EntryType)? {
        if path.bytes.isEmpty { return (.root, .directory) }
        guard let status = tree.status(path) else { return nil }
        return (tree.id(of: status), EntryType(mode: status.mode))
    }

    func hasObject(_ content: ContentID) -> Bool { objects.contains(content) }

    func label(of version: VersionID, in content: ContentID) -> ContentStore.Label? {
        guard objects.contains(content), let labels = try? contents.labels(of: content) else { return nil }
        return labels.first { $0.version.id == version } ?? labels.first
    }

    func status(of deletion: DeletionID) -> (size: UInt64, modified: Timestamp)? {
        let (directory, name) = deletedArea.place(of: deletion)
        guard let status = try? System.extendedStatus(name, in: directory) else { return nil }
        return (status.size, status.modification)
    }
}

extension EntryType {
    fileprivate init(mode: UInt32) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .directory
        case S_IFLNK: self = .symlink
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }
}
