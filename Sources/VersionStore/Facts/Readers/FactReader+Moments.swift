// From times to numbers.

internal import GRDB
import Lineage
import VersionModel

extension FactReader {
    /// The last number that a fact had at a time: the number for questions about that time.
    ///
    /// The times of facts grow with their numbers, but for clocks that were set back: then it is a moment at which the
    /// clock had come to that time. Files that were there before anything was recorded have versions with old times,
    /// so a version counts only among those behind the same name row.
    public func number(at time: Timestamp) throws(StoreError) -> UInt64 {
        try look { look in
            let last = try look.lastName(at: time)
            let end = try look.statement("SELECT min(seq) FROM name WHERE seq > ?", .bound(last))
                .first { $0.optional(0) } ?? nil
            return try look.lastVersion(at: time, after: last, before: end ?? UInt64(Int64.max))
        }
    }
}

extension Look {
    /// The last name row until a time; 0 if there is none.
    fileprivate func lastName(at time: Timestamp) throws -> UInt64 {
        // A damaged catalog may have numbers below 0, which would be the largest here.
        let last = try statement("SELECT max(seq) FROM name WHERE seq >= 0").first { $0.optional(0) } ?? nil
        guard let last else { return 0 }
        // Most questions are about a short time ago.
        var (step, end): (UInt64, UInt64) = (0, last + 1)
        while true {
            let row = try statement(
                "SELECT seq, time FROM name WHERE seq <= ? AND seq > 0 ORDER BY seq DESC LIMIT 1",
                .bound(last - min(last, step))
            ).first { ($0.number(0), $0.integer(1)) }
            guard let (number, then) = row else { return try search(after: 0, before: end, time) }
            if then <= time.nanoseconds { return try search(after: number, before: end, time) }
            (step, end) = (max(1, step * 2), number)
        }
    }

    fileprivate func lastVersion(at time: Timestamp, after row: UInt64, before end: UInt64) throws -> UInt64 {
        var first = row
        // What a file held that was found has its own time.
        if stored.row(RowNumber(row))?.how == .found,
            stored.version(VersionNumber(row + 1))?.row == RowNumber(row)
        {
            first += 1
        }
        // One that was amended later has a later time than those behind it.
        let last = try statement(
            "SELECT max(seq) FROM version WHERE seq > ? AND seq < ? AND time <= ?", .bound(first), .bound(end),
            .integer(time.nanoseconds)
        ).first { $0.optional(0) } ?? nil
        return last ?? first
    }

    /// The last name row until a time, between one that is and one that is not.
    private func search(after first: UInt64, before end: UInt64, _ time: Timestamp) throws -> UInt64 {
        var (low, high) = (first, end)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            let row = try statement(
                "SELECT seq, time FROM name WHERE seq >= ? AND seq < ? ORDER BY seq LIMIT 1", .bound(middle),
                .bound(high)
            ).first { ($0.number(0), $0.integer(1)) }
            if let (number, then) = row, then <= time.nanoseconds { low = number } else { high = middle }
        }
        return low
    }
}
