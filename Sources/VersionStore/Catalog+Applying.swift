// The effect of each mutation on the rows.

internal import GRDB
internal import GRDBSQLite
import VersionModel

extension Catalog {
    /// Applies one call. Removed versions are handled together, because each removal reads its whole item.
    static func apply(
        _ call: [VersionStore.Mutation], to database: Database, _ rows: inout [Row], _ written: inout WrittenParents
    ) throws {
        var going: [VersionID] = []
        for mutation in call {
            if case .removeVersion(let id) = mutation {
                going.append(id)
                continue
            }
            if !going.isEmpty { try remove(going, database, &written) }
            going = []
            try apply(mutation, to: database, &rows, &written)
        }
        if !going.isEmpty { try remove(going, database, &written) }
    }

    private static func apply(
        _ mutation: VersionStore.Mutation, to database: Database, _ rows: inout [Row], _ written: inout WrittenParents
    ) throws {
        switch mutation {
        case .item(let item): try put(item, database)
        case .forgetItem(let id):
            written.forget(id)
            try SQLStatement.run(database, "DELETE FROM place WHERE item = ?", .blob(id.bytes))
            try SQLStatement.run(database, "DELETE FROM version WHERE item = ?", .blob(id.bytes))
            try SQLStatement.run(database, "DELETE FROM item WHERE id = ?", .blob(id.bytes))
        case .version(let version): try put(version, database, &written)
        case .kind(let id, let kind):
            try SQLStatement.run(
                database, "UPDATE version SET kind = ? WHERE id = ?", .integer(Int64(kind.code)), .blob(id.bytes))
        case .flags(let id, let flags):
            try SQLStatement.run(
                database, "UPDATE version SET flags = ? WHERE id = ?", .integer(Int64(flags.rawValue)), .blob(id.bytes))
        case .hash(let id, let hash):
            try SQLStatement.run(database, "UPDATE version SET hash = ? WHERE id = ?", .blob(hash), .blob(id.bytes))
        case .content(let id, let content):
            guard var version = try Query.version(id, database) else { return }
            version.content = content
            try write(version, database, &written)
        case .parents(let id, let parents):
            guard var version = try Query.version(id, database) else { return }
            version.parents = parents
            try write(version, database, &written)
        case .removeVersion(let id): try remove([id], database, &written)
        case .deletion(let deletion): try put(deletion, database)
        case .removeDeletion(let id):
            try SQLStatement.run(database, "DELETE FROM deletion WHERE id = ?", .blob(id.bytes))
        case .directory(let directory):
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO directory (id, parent, name) VALUES (?, ?, ?)",
                .number(directory.id.number), .number(directory.place.directory.number),
                .blob(directory.place.name.bytes))
        case .removeDirectory(let id):
            try SQLStatement.run(database, "DELETE FROM directory WHERE id = ?", .number(id.number))
        case .change(let change): rows.append((try append(change, database), change))
        case .setting(let key, let value): try set(key, value, database)
        }
    }

    private static func put(_ item: Item, _ database: Database) throws {
        let id = item.id.bytes
        try SQLStatement.run(
            database,
            """
            INSERT INTO item (id, current, file, size, modified, changed) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET current = excluded.current, file = excluded.file, size = excluded.size,
                modified = excluded.modified, changed = excluded.changed
            """,
            .blob(id), .blob(item.current.bytes), .number(item.file.id.number), .number(item.file.size),
            .integer(item.file.modified.nanoseconds), item.file.changed.map { .integer($0.nanoseconds) } ?? .null)
        // Most saves change only the version; then the two trees of places stay unchanged.
        let known = try Query.places(of: item.id, database)
        if known.count == item.places.count, Set(known) == Set(item.places) { return }
        if !known.isEmpty { try SQLStatement.run(database, "DELETE FROM place WHERE item = ?", .blob(id)) }
        for place in item.places {
            try SQLStatement.run(
                database, "INSERT OR REPLACE INTO place (directory, name, item) VALUES (?, ?, ?)",
                .number(place.directory.number), .blob(place.name.bytes), .blob(id))
        }
    }

    /// Most versions are new, or were last written by the same caller: neither needs a read of the row.
    private static func put(_ version: Version, _ database: Database, _ written: inout WrittenParents) throws {
        var version = version
        if let parents = written[version.id] {
            version.parents = try Self.parents(of: version, known: parents, database)
        } else if !version.parents.isEmpty {
            if try write(version, database, &written, onlyIfNew: true) { return }
            if let known = try Query.version(version.id, database) {
                version.parents = try Self.parents(of: version, known: known.parents, database)
            }
        }
        try write(version, database, &written)
    }

    /// Removes versions from the graph (``Splice``) and from the table.
    private static func remove(_ ids: [VersionID], _ database: Database, _ written: inout WrittenParents) throws {
        let gone = Set(ids)
        let going = Dictionary(grouping: try ids.compactMap { try Query.version($0, database) }, by: \.item)
        for (item, versions) in going {
            let versions = try Query.neighbors(of: versions.map(\.id), in: item, database)
            let parents = Splice.parents(without: gone, in: versions.map { HistoryNode($0) })
            for var version in versions {
                guard let named = parents[version.id] else { continue }
                version.parents = named
                try write(version, database, &written)
            }
        }
        written.forget(ids)
        for id in ids { try SQLStatement.run(database, "DELETE FROM version WHERE id = ?", .blob(id.bytes)) }
    }

    /// The parents for a version's row. A caller that amends a version may have read it before one of its parents was
    /// removed; the replacements of that parent stay. A descendant of the version is never taken as its parent, because
    /// a version in a circle has no beginning.
    /// - Parameter known: the parents in the row.
    private static func parents(
        of version: Version, known: [VersionID], _ database: Database
    ) throws -> [VersionID] {
        if version.parents.isEmpty || known == version.parents { return version.parents }
        let new = try version.parents.filter { parent in
            try !known.contains(parent) && Query.version(parent, database) != nil
        }
        if new.isEmpty { return known }
        let nodes = try Query.versions(of: version.item, database).map { HistoryNode($0) }
        return new.reduce(into: known) { parents, parent in
            let goesBack = parent == version.id || HeadRule.goesBack(parent, to: version.id, in: nodes)
            if !goesBack, !parents.contains(parent) { parents.append(parent) }
        }
    }

    /// - Returns: whether it was written; false for an existing row with `onlyIfNew`.
    @discardableResult
    private static func write(
        _ version: Version, _ database: Database, _ written: inout WrittenParents, onlyIfNew: Bool = false
    ) throws -> Bool {
        var writer = ByteWriter()
        writer.version(version)
        try SQLStatement.run(
            database, onlyIfNew ? insertion : upsert,
            .blob(version.id.bytes), .blob(version.item.bytes), .blob(version.content.bytes),
            .integer(Int64(version.kind.code)), .integer(Int64(version.flags.rawValue)), .number(version.size),
            .integer(version.time.wall.nanoseconds), .integer(Int64(version.time.logical)), .optional(version.hash),
            .blob(writer.bytes))
        if onlyIfNew, database.changesCount == 0 { return false }
        written.note(version)
        return true
    }

    private static let row = """
        INSERT INTO version (id, item, content, kind, flags, size, wall, logical, hash, record)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO
        """
    private static let insertion = row + " NOTHING"
    private static let upsert = row + """
         UPDATE SET item = excluded.item, content = excluded.content, kind = excluded.kind, flags = excluded.flags,
            size = excluded.size, wall = excluded.wall, logical = excluded.logical, hash = excluded.hash,
            record = excluded.record
        """

    private static func put(_ deletion: Deletion, _ database: Database) throws {
        var writer = ByteWriter()
        writer.deletion(deletion)
        try SQLStatement.run(
            database,
            """
            INSERT INTO deletion (id, directory, path, item, size, deleted, groupid, record)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET directory = excluded.directory, path = excluded.path, item = excluded.item,
                size = excluded.size, deleted = excluded.deleted, groupid = excluded.groupid, record = excluded.record
            """,
            .blob(deletion.id.bytes), .number(deletion.place.directory.number), .blob(deletion.path.bytes),
            .optional(deletion.item?.bytes), .number(deletion.size), .integer(deletion.deleted.nanoseconds),
            .blob(deletion.group.bytes), .blob(writer.bytes))
    }

    private static func append(_ change: Change, _ database: Database) throws -> UInt64 {
        var writer = ByteWriter()
        writer.change(change)
        try SQLStatement.run(database, "INSERT INTO change (record) VALUES (?)", .blob(writer.bytes))
        let sequence = sqlite3_last_insert_rowid(database.sqliteConnection)
        // Now and then, so that it costs little per change.
        if sequence % 1000 == 0 {
            try SQLStatement.run(database, "DELETE FROM change WHERE sequence <= ?", .integer(sequence - feedLength))
        }
        return UInt64(bitPattern: sequence)
    }

    private static func set(_ key: String, _ value: [UInt8]?, _ database: Database) throws {
        guard let value else {
            return try SQLStatement.run(database, "DELETE FROM setting WHERE key = ?", .text(key))
        }
        try SQLStatement.run(
            database, "INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)", .text(key), .blob(value))
    }
}
