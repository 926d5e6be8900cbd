// What may be given up, and what holds it: for thinning, for room, and for purges.

internal import GRDB
import Lineage
import VersionModel

/// A version as thinning and the making of room look at it.
public struct SpaceVersion: Hashable, Sendable {
    public var row: VersionRow
    public var marks: VersionMarks
    public var document: DocumentNumber
    /// How many versions are in its content, this one included.
    public var sharing: Int
    public var holds: Holds
    /// Whether its document has unsettled conflicts. What a merge of them would begin with is not among what is held.
    public var isContested: Bool

    /// Why a version stays, as far as facts say.
    public struct Holds: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A user has pinned it.
        public static let pinned = Holds(rawValue: 1)
        /// The names of its document show it, or its deleted entry does.
        public static let current = Holds(rawValue: 2)
        /// It is an unsettled loser.
        public static let conflict = Holds(rawValue: 4)
        /// It is the base of its document's current version or of an unsettled loser.
        public static let base = Holds(rawValue: 8)
        /// Another document begins with it.
        public static let origin = Holds(rawValue: 16)
    }

    public var number: VersionNumber { row.number }
}

/// An entry of the deleted list as the making of room looks at it.
public struct SpaceDeletion: Hashable, Sendable {
    public var entry: DeletedFact
    /// How many versions are in its content; 0 if it has none.
    public var sharing: Int
    /// Whether a pinned version or an unsettled conflict goes with it, or with something that was deleted in it.
    public var isHeld: Bool
}

/// The versions in a content.
public struct ContentUse: Hashable, Sendable {
    public var content: Content
    public var versions: Int
    /// The length of the longest of them.
    public var size: UInt64
}

extension FactReader {
    /// The versions of the container, or of one document, oldest first, with what holds them.
    ///
    /// Ancestors that a merge may need are not among what holds a version: ``MergeBase`` finds them in the graph.
    /// - Parameters:
    ///   - removable: only those that nothing holds.
    ///   - last: where the page begins: behind this version.
    public func oldestVersions(
        of document: DocumentNumber? = nil, removable: Bool = false, after last: VersionNumber? = nil, limit: Int
    ) throws(StoreError) -> FactPage<SpaceVersion, VersionNumber> {
        try look { look in
            var found: [SpaceVersion] = []
            var heads: [DocumentNumber: Heads] = [:]
            let next = try look.walk(
                from: last, { try look.versions(of: document, removable: removable, after: $0, limit: $1) },
                cursor: { $0 },
                isFull: { found.count >= limit },
                visit: { number in
                    guard let version = try look.spaceVersion(number, &heads), !removable || version.holds.isEmpty
                    else { return }
                    found.append(version)
                })
            return FactPage(elements: found, next: next ?? nil)
        }
    }

    /// The documents that have versions, in the order of their numbers.
    public func documents(
        after last: DocumentNumber? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DocumentNumber, DocumentNumber> {
        try look { look in
            var documents: [DocumentNumber] = []
            while documents.count < limit, let next = try look.document(after: documents.last ?? last) {
                documents.append(next)
            }
            let isMore = try documents.count == limit && look.document(after: documents.last ?? last) != nil
            return FactPage(elements: documents, next: isMore ? documents.last : nil)
        }
    }

    /// The contents that versions are in, in the order of files and generations.
    public func contents(
        after last: Content? = nil, limit: Int
    ) throws(StoreError) -> FactPage<ContentUse, Content> {
        try look { look in
            var found: [ContentUse] = []
            var (at, looked) = (last, 0)
            func isFull() -> Bool { found.count >= limit || looked >= Self.looks }
            while !isFull(), let next = try look.content(after: at) {
                (at, looked) = (next, looked + 1)
                let use = try look.use(of: next)
                if use.versions > 0 { found.append(use) }
            }
            let isMore = try isFull() && at.map { try look.content(after: $0) != nil } ?? false
            return FactPage(elements: found, next: isMore ? at : nil)
        }
    }

    /// The deleted list, oldest first, with what holds its entries.
    /// - Parameter last: where the page begins: behind this number.
    public func oldestDeleted(
        after last: UInt64 = 0, limit: Int
    ) throws(StoreError) -> FactPage<SpaceDeletion, UInt64> {
        try look { look in
            var found: [SpaceDeletion] = []
            let next = try look.walk(
                from: last, { try look.oldestDepartures(after: $0, limit: $1) }, cursor: { $0.number.number },
                isFull: { found.count >= limit },
                visit: { departure in
                    guard let entry = try look.entry(of: departure) else { return }
                    let sharing = entry.version.map { look.facts.countOfVersions(in: $0.content) } ?? 0
                    found.append(SpaceDeletion(entry: entry, sharing: sharing, isHeld: try look.isHeld(entry)))
                })
            return FactPage(elements: found, next: next)
        }
    }

    /// How many versions are in a content, and how long the longest is.
    public func use(of content: Content) throws(StoreError) -> ContentUse { try look { try $0.use(of: content) } }

    /// How many versions of a document are pinned: what a purge of it needs force for.
    public func countOfPinned(in document: DocumentNumber) throws(StoreError) -> Int {
        try look { try $0.countOfPinned(in: document) }
    }
}

extension Look {
    /// - Parameter removable: whether those are left out that their documents' names show. Most versions are that, and
    ///   need no more looks then.
    fileprivate func versions(
        of document: DocumentNumber?, removable: Bool, after last: VersionNumber?, limit: Int
    ) throws -> [VersionNumber] {
        let rows: SQLStatement
        let former = !removable ? "" : """
            AND (flags & 3 <> 0 OR EXISTS (
                SELECT 1 FROM version later
                WHERE later.item = version.item AND later.seq > version.seq AND later.flags & 19 = 0
                    AND later.flags & 16 = 0))
            """
        if let document {
            rows = try statement(
                "SELECT seq FROM version WHERE item = ? AND seq > ? AND flags & 16 = 0 \(former) ORDER BY seq LIMIT ?",
                .number(document.number), .bound(last?.number ?? 0), .integer(Int64(limit)))
        } else {
            rows = try statement(
                "SELECT seq FROM version WHERE seq > ? AND flags & 16 = 0 \(former) ORDER BY seq LIMIT ?",
                .bound(last?.number ?? 0), .integer(Int64(limit)))
        }
        return try rows.rows { VersionNumber($0.number(0)) }
    }

    fileprivate func spaceVersion(
        _ number: VersionNumber, _ known: inout [DocumentNumber: Heads]
    ) throws -> SpaceVersion? {
        guard let row = stored.version(number), let document = facts.document(of: row) else { return nil }
        let heads = known[document] ?? self.heads(of: document)
        known[document] = heads
        let marks = try FactTables.detail(of: number, database)?.marks ?? []
        var holds: SpaceVersion.Holds = []
        if marks.contains(.pinned) { holds.insert(.pinned) }
        if heads.current == number { holds.insert(.current) }
        if heads.conflicts.contains(number) { holds.insert(.conflict) }
        if !heads.conflicts.isEmpty, isBase(number, heads) { holds.insert(.base) }
        if stored.documents(from: number).contains(where: facts.needsOrigin) { holds.insert(.origin) }
        return SpaceVersion(
            row: row, marks: marks, document: document, sharing: facts.countOfVersions(in: row.content), holds: holds,
            isContested: !heads.conflicts.isEmpty)
    }

    private func isBase(_ number: VersionNumber, _ heads: Heads) -> Bool {
        (heads.conflicts + (heads.current.map { [$0] } ?? [])).contains { facts[$0]?.base == number }
    }

    fileprivate func oldestDepartures(after last: UInt64, limit: Int) throws -> [NameRow] {
        try FactTables.names(
            database, "file IS NULL AND seq > ? ORDER BY seq LIMIT ?", .bound(last), .integer(Int64(limit)))
    }

    /// A document holds its entries until it has a name again; a directory is held by what was deleted in it.
    fileprivate func isHeld(_ entry: DeletedFact) throws -> Bool {
        let document = entry.occupant.document
        guard entry.occupant.hasNoVersions else {
            guard stored.names(of: document).isEmpty else { return false }
            return try !facts.conflicts(of: document).isEmpty || countOfPinned(in: document) > 0
        }
        guard let directory = entry.occupant.file, entry.detail.type == .directory else { return false }
        var before = UInt64.max
        while true {
            let departures = try departures(in: directory, before: before, limit: FactReader.portion)
            for departure in departures {
                if let entry = try self.entry(of: departure), try isHeld(entry) { return true }
            }
            guard departures.count == FactReader.portion, let last = departures.last else { return false }
            before = last.number.number
        }
    }

    fileprivate func countOfPinned(in document: DocumentNumber) throws -> Int {
        let pinned = Int64(VersionMarks.pinned.rawValue) << FactTables.VersionFlag.marksShift
        return try statement(
            "SELECT count(*) FROM version WHERE item = ? AND flags & 16 = 0 AND flags & \(pinned)",
            .number(document.number)
        ).first { Int(clamping: $0.integer(0)) } ?? 0
    }

    fileprivate func document(after last: DocumentNumber?) throws -> DocumentNumber? {
        try statement(
            "SELECT item FROM version WHERE item > ? AND flags & 16 = 0 ORDER BY item LIMIT 1",
            .bound(last?.number ?? 0)
        ).first { DocumentNumber($0.number(0)) }
    }

    /// File identities have all 64 bits, and are compared as SQLite does.
    fileprivate func content(after last: Content?) throws -> Content? {
        let columns = "SELECT file, generation FROM version"
        func content(_ row: SQLStatement) -> Content {
            Content(file: FileID(row.number(0)), generation: row.number(1))
        }
        guard let last else {
            return try statement("\(columns) WHERE file >= ? ORDER BY file, generation LIMIT 1", .integer(.min))
                .first(content)
        }
        let values = [SQLStatement.Value.number(last.file.number), .number(last.generation)]
        return try SQLStatement(
            database, "\(columns) WHERE file = ? AND generation > ? ORDER BY generation LIMIT 1", values
        ).first(content) ?? SQLStatement(
            database, "\(columns) WHERE file > ? ORDER BY file, generation LIMIT 1", [values[0]]
        ).first(content)
    }

    fileprivate func use(of content: Content) throws -> ContentUse {
        let versions = stored.versions(in: content)
        return ContentUse(
            content: content, versions: versions.count, size: versions.map(\.fingerprint.size).max() ?? 0)
    }
}
