// The feed: what was told, in the order of the numbers, from any number on.

internal import GRDB
import Lineage
import Synchronization
import VersionModel

/// A part of the feed.
public struct FactFeed: Hashable, Sendable {
    /// What a transaction has told, as it is now.
    public struct Told: Hashable, Sendable {
        /// Names and versions, and what happened to earlier ones.
        public var facts: [Fact] = []
        public var events: [FactEvent] = []
        /// The last number of the transaction.
        public var last: UInt64
    }

    public var transactions: [Told] = []
    /// The next part begins after this number.
    public var last: UInt64
    /// Whether all that was asked for is here, for now.
    public var isAll: Bool
    /// Whether events after the number that was asked for are gone.
    public var hasGap: Bool
}

extension FactStore {
    /// What is told later has a larger number.
    public var lastTold: UInt64 { numbers.withLock(\.smallestReserved) - 1 }

    /// Whole transactions that were told after a number, in the order of their numbers.
    ///
    /// It stops before numbers that are still set aside (``reserve(_:)``), so that a transaction that comes late is
    /// not left out. A version that was amended or forgotten is told as it is now.
    ///
    /// - Parameter limit: about how many rows; a transaction is never divided.
    public func feed(after number: UInt64, limit: Int) throws(StoreError) -> FactFeed {
        // Before the flush: what is recorded by then is in the catalog afterwards.
        let bound = numbers.withLock(\.smallestReserved)
        return try read { database in
            var limit = max(limit, 1)
            let after = try UpgradeTables.start(ofFeedAfter: number, database)
            while true {
                let reading = FeedReading(after: after, bound: bound, limit: limit)
                if let feed = try reading.feed(database) { return feed }
                limit = limit > Int.max / 2 ? limit : limit * 2
            }
        }
    }
}

/// One reading of the tables.
private struct FeedReading {
    let after: UInt64
    let bound: UInt64
    let limit: Int

    private struct Entry {
        var number: UInt64
        var isFollowed: Bool
        var facts: [Fact] = []
        var events: [FactEvent] = []
    }

    /// Whole transactions; nil if not even one is within the limit.
    func feed(_ database: Database) throws -> FactFeed? {
        let parts = [try names(database), try versions(database), try events(database)]
        // Behind the end of a part that was cut off, the others are not complete.
        let end = parts.filter { $0.count >= limit }.compactMap { $0.last?.number }.min()
        let entries = parts.joined().filter { entry in end.map { entry.number <= $0 } ?? true }
            .sorted { $0.number < $1.number }
        let whole = entries.lastIndex { !$0.isFollowed }.map { $0 + 1 } ?? 0
        if end != nil, whole == 0 { return nil }
        var feed = FactFeed(last: after, isAll: end == nil, hasGap: false)
        feed.hasGap = try Self.forgotten(database) > after
        var told: FactFeed.Told?
        for entry in entries[..<whole] {
            var next = told ?? FactFeed.Told(last: 0)
            next.facts += entry.facts
            next.events += entry.events
            next.last = entry.number
            told = next
            guard !entry.isFollowed else { continue }
            feed.transactions.append(next)
            feed.last = entry.number
            told = nil
        }
        // Numbers that nothing has are passed: a reader waits for the last one (``FactStore/lastTold``).
        if end == nil, whole == entries.count { feed.last = max(feed.last, max(bound, 1) - 1) }
        return feed
    }

    private static func forgotten(_ database: Database) throws -> UInt64 {
        guard let bytes = try FactCatalog.value("meta", FactCatalog.forgottenKey, database) else { return 0 }
        var reader = ByteReader(bytes)
        return (try? reader.fixed64()) ?? 0
    }

    private var range: [SQLStatement.Value] {
        [.integer(Int64(clamping: after)), .integer(Int64(clamping: bound)), .integer(Int64(clamping: limit))]
    }

    private func names(_ database: Database) throws -> [Entry] {
        typealias Flag = FactTables.NameFlag
        let condition = "seq > ? AND seq < ? AND flags & \(Flag.isLate) = 0 ORDER BY seq LIMIT ?"
        return try FactTables.flaggedNames(database, condition, range).map { row, flags in
            Entry(number: row.number.number, isFollowed: flags & Flag.isFollowed != 0, facts: [.row(row)])
        }
    }

    private func versions(_ database: Database) throws -> [Entry] {
        typealias Flag = FactTables.VersionFlag
        let condition = "seq > ? AND seq < ? AND flags & \(Flag.isLate) = 0 ORDER BY seq LIMIT ?"
        return try FactTables.flaggedVersions(database, condition, range).map { row, flags in
            // The event of its end stays.
            Entry(
                number: row.number.number, isFollowed: flags & Flag.isFollowed != 0,
                facts: row.isForgotten ? [] : [.version(row)])
        }
    }

    private func events(_ database: Database) throws -> [Entry] {
        let rows = try SQLStatement(
            database, "SELECT seq, record FROM event WHERE seq > ? AND seq < ? ORDER BY seq LIMIT ?", range
        ).rows { (number: $0.number(0), record: $0.blob(1)) }
        return try rows.map { number, record in
            var entry = Entry(number: number, isFollowed: false)
            var reader = ByteReader(record)
            for event in try reader.list({ (reader) throws(CodingError) in try reader.event() }) {
                if let facts = try facts(of: event, database) {
                    entry.facts += facts
                } else {
                    entry.events.append(event)
                }
            }
            return entry
        }
    }

    /// The facts that an event stands for; nil if it is more than facts.
    private func facts(of event: FactEvent, _ database: Database) throws -> [Fact]? {
        switch event {
        case .amended(let number):
            return try FactTables.version(number, database).flatMap { $0.isForgotten ? nil : [.amend($0)] } ?? []
        case .settled(let version): return [.settle(version)]
        case .forgotten(let version): return [.forget(version)]
        case .purged(let row): return [.purge(row)]
        case .published(let row): return try published(row, database)
        case .former: return []
        case .attributes, .lost, .marked, .labeled, .refused, .origin: return nil
        }
    }

    private func published(_ number: RowNumber, _ database: Database) throws -> [Fact] {
        guard let row = try FactTables.names(database, "seq = ?", .number(number.number)).first else { return [] }
        let late = FactTables.VersionFlag.isLate
        let versions = try FactTables.versions(
            database, "item = ? AND ifnull(row, item) = ? AND flags & \(late)", .number(row.document.number),
            .number(number.number))
        let departure = try FactTables.names(
            database, "place = ? AND seq > ? ORDER BY seq LIMIT 1", .integer(Int64(row.place.number)),
            .number(number.number)
        ).first
        let isLate = try departure.map { departure in
            try departure.file == nil && !FactTables.flaggedNames(
                database, "seq = ? AND flags & \(FactTables.NameFlag.isLate)", [.number(departure.number.number)]
            ).isEmpty
        }
        return [.row(row)] + versions.map { .version($0) } + (isLate == true ? departure.map { [.row($0)] } ?? [] : [])
    }
}
