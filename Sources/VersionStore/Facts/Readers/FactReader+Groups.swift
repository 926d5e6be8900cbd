// Deletions that belong together (DESIGN 3.2).

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// Removals by one program within so long of one another are one group.
    public static let groupNanoseconds: Int64 = 10_000_000_000

    /// The groups of removals: of each the first removal of its group.
    ///
    /// The groups are chains of removals by one program. Those of which no program is known, because they were found
    /// at a mount, are by one. Of an entry that is not a removal it is that itself.
    public func groups(of entries: [DeletedFact]) throws(StoreError) -> [RowNumber: RowNumber] {
        try look { look in
            var groups: [RowNumber: RowNumber] = [:]
            var chains: [ActorNumber?: RowNumber] = [:]
            for entry in entries.sorted(by: { $0.number > $1.number }) {
                let departure = entry.departure
                let actor = departure.actor
                guard departure.how == .removed else {
                    groups[entry.number] = entry.number
                    continue
                }
                // One walk to the beginning of a group serves all of it.
                let known = chains[actor].flatMap { $0 <= entry.number ? $0 : nil }
                let first = try known ?? look.first(ofGroup: departure, by: actor)
                (chains[actor], groups[entry.number]) = (first, first)
            }
            return groups
        }
    }

    /// Where the list of a group goes on: behind a row, with the group's last removal before it.
    public struct GroupCursor: Hashable, Sendable {
        var row: RowNumber
        var removal: RowNumber
    }

    /// The entries of a group that are there still, oldest first, by pages.
    /// - Parameter first: the removal that the group begins with.
    public func deleted(
        ofGroup first: RowNumber, from cursor: GroupCursor? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DeletedFact, GroupCursor> {
        try look { look in
            var (entries, at) = ([DeletedFact](), cursor ?? GroupCursor(row: first, removal: first))
            guard let begin = try look.stored.row(at.removal) else { return FactPage(elements: [], next: nil) }
            if cursor == nil, let entry = try look.entry(of: begin) { entries.append(entry) }
            guard begin.how == .removed else { return FactPage(elements: entries, next: nil) }
            var time = begin.time
            let rows = try FactTables.names(
                look.database, "file IS NULL AND seq > ? ORDER BY seq LIMIT ?", .bound(at.row.number),
                .integer(Int64(Self.looks)))
            for row in rows {
                guard entries.count < limit else { return FactPage(elements: entries, next: at) }
                guard row.time.since(time) <= Self.groupNanoseconds else {
                    return FactPage(elements: entries, next: nil)
                }
                at.row = row.number
                guard row.how == .removed, row.actor == begin.actor else { continue }
                (at.removal, time) = (row.number, row.time)
                if let entry = try look.entry(of: row) { entries.append(entry) }
            }
            return FactPage(elements: entries, next: rows.count < Self.looks ? nil : at)
        }
    }
}

extension Look {
    /// The first removal of a group: the beginning of the chain that goes back from a removal.
    fileprivate func first(ofGroup removal: NameRow, by actor: ActorNumber?) throws -> RowNumber {
        // Only what decides is read, because a group may be long.
        let rows = try statement(
            "SELECT seq, time, actor, how FROM name WHERE file IS NULL AND seq < ? ORDER BY seq DESC",
            .bound(removal.number.number))
        var (first, time) = (removal.number, removal.time)
        defer { rows.reset() }
        while try rows.step() {
            let then = Timestamp(nanoseconds: rows.integer(1))
            guard time.since(then) <= FactReader.groupNanoseconds else { break }
            guard rows.integer(3) == FactTables.removed, rows.optional(2) == actor.map({ UInt64($0.number) })
            else { continue }
            (first, time) = (RowNumber(rows.number(0)), then)
        }
        return first
    }
}
