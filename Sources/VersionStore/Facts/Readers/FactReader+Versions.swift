// The versions of a document.

internal import GRDB
import Lineage
import VersionModel

/// A version in a list.
public struct ListedVersion: Hashable, Sendable {
    public var row: VersionRow
    public var detail: VersionDetail
    /// The document that it was saved as. In a list of another document, that began with it, or with a later one.
    public var document: DocumentNumber
    /// What it is for the document whose list this is.
    public var kind: VersionKind

    public var number: VersionNumber { row.number }
}

/// Where a list of versions goes on: with those of a document before a number.
public struct VersionsCursor: Hashable, Sendable {
    var document: DocumentNumber
    var before: UInt64
}

/// The versions that a document stands for now.
public struct Heads: Hashable, Sendable {
    /// What its names show; nil if there are no versions.
    public var current: VersionNumber?
    /// The unsettled losers, oldest first.
    public var conflicts: [VersionNumber]
}

extension FactReader {
    /// The versions of a document, newest first.
    /// - Parameters:
    ///   - all: what the document goes back to, through its origins; else its own, and what it began with.
    ///   - cursor: where the page begins.
    public func versions(
        of document: DocumentNumber, all: Bool = false, from cursor: VersionsCursor? = nil, limit: Int
    ) throws(StoreError) -> FactPage<ListedVersion, VersionsCursor> {
        try look { look in
            let heads = look.heads(of: document)
            var versions: [ListedVersion] = []
            var at: VersionsCursor? = cursor ?? VersionsCursor(document: document, before: .max)
            while let next = at, versions.count < limit {
                // Of the document before it, only the origin, or all until that.
                let isAlone = !all && next.document != document
                let wanted = isAlone ? 1 : limit - versions.count
                let rows = try look.versions(of: next.document, before: next.before, limit: wanted)
                for row in rows { versions.append(try look.listed(row, next.document, heads)) }
                if rows.count == wanted, !isAlone, let last = rows.last {
                    at = VersionsCursor(document: next.document, before: last.number.number)
                } else {
                    at = isAlone ? nil : look.cursor(behind: next)
                }
            }
            // A page that ends with its list has no other one behind it.
            if let next = at, try look.isEmpty(next) { at = look.cursor(behind: next) }
            if let next = at, try look.isEmpty(next) { at = nil }
            return FactPage(elements: versions, next: at)
        }
    }

    /// What a document stands for now.
    public func heads(of document: DocumentNumber) throws(StoreError) -> Heads { try look { $0.heads(of: document) } }

    /// A version, with what it is for its own document; nil if there is none, or it is forgotten.
    public func version(_ number: VersionNumber) throws(StoreError) -> ListedVersion? {
        try look { look in
            guard let row = look.stored.version(number), !row.isForgotten,
                let document = look.facts.document(of: row)
            else { return nil }
            return try look.listed(row, document, look.heads(of: document))
        }
    }

    /// The version that a document's names showed at a time, as it was saved then. One that was amended since shows
    /// the one before.
    public func version(of document: DocumentNumber, at time: Timestamp) throws(StoreError) -> ListedVersion? {
        let number = try number(at: time)
        return try look { look in
            var until = number
            while let row = look.version(of: document, until: until) {
                let home = look.facts.document(of: row) ?? document
                if row.time <= time || home != document {
                    return try look.listed(row, home, look.heads(of: document))
                }
                // A damaged catalog may have it.
                guard row.number.number > 0 else { return nil }
                until = row.number.number - 1
            }
            return nil
        }
    }

    /// The version some steps before the current one, conflicts left out; through what the document began with. Nil if
    /// there are fewer.
    public func version(of document: DocumentNumber, back steps: Int) throws(StoreError) -> ListedVersion? {
        try look { look in
            let heads = look.heads(of: document)
            guard let current = heads.current, steps >= 0, let row = look.stored.version(current) else { return nil }
            if steps == 0 { return try look.listed(row, look.facts.document(of: row) ?? document, heads) }
            var (left, at): (Int, VersionsCursor?) = (
                steps, VersionsCursor(document: look.facts.document(of: row) ?? document, before: current.number)
            )
            while let next = at {
                let found = try look.versions(of: next.document, before: next.before, steps: left, heads.conflicts)
                if let row = found.row { return try look.listed(row, next.document, heads) }
                (left, at) = (left - found.passed, look.cursor(behind: next))
            }
            return nil
        }
    }
}

extension Look {
    func heads(of document: DocumentNumber) -> Heads {
        Heads(current: facts.current(of: document), conflicts: facts.conflicts(of: document))
    }

    func listed(_ row: VersionRow, _ document: DocumentNumber, _ heads: Heads) throws -> ListedVersion {
        let kind: VersionKind =
            row.number == heads.current ? .current : heads.conflicts.contains(row.number) ? .conflict : .history
        return ListedVersion(
            row: row, detail: try FactTables.detail(of: row.number, database) ?? VersionDetail(), document: document,
            kind: kind)
    }

    func versions(of document: DocumentNumber, before number: UInt64, limit: Int) throws -> [VersionRow] {
        try FactTables.versions(
            database, "item = ? AND seq < ?", .number(document.number), .bound(number),
            order: "seq DESC LIMIT \(limit)")
    }

    /// The version some steps before a number; else how many there are.
    fileprivate func versions(
        of document: DocumentNumber, before number: UInt64, steps: Int, _ conflicts: [VersionNumber]
    ) throws -> (row: VersionRow?, passed: Int) {
        let between = """
            item = ?1 AND seq < ?2 AND flags & 16 = 0
                AND seq NOT IN (\(conflicts.map { String($0.number) }.joined(separator: ",")))
            """
        let found = try statement(
            "SELECT seq FROM version WHERE \(between) ORDER BY seq DESC LIMIT 1 OFFSET ?3", .number(document.number),
            .bound(number), .integer(Int64(steps - 1))
        ).first { VersionNumber($0.number(0)) }
        if let found { return (stored.version(found), steps) }
        let passed = try statement(
            "SELECT count(*) FROM version WHERE \(between)", .number(document.number), .bound(number)
        ).first { Int(clamping: $0.integer(0)) }
        return (nil, passed ?? 0)
    }

    /// What comes before a document: the document that it began with, as far as that was its. Each origin is older than
    /// the one before, so a walk ends.
    func cursor(behind cursor: VersionsCursor) -> VersionsCursor? {
        guard let origin = facts.origin(of: cursor.document), origin.number < cursor.before,
            let before = facts.document(of: origin), before != cursor.document
        else { return nil }
        return VersionsCursor(document: before, before: origin.number + 1)
    }

    fileprivate func isEmpty(_ cursor: VersionsCursor) throws -> Bool {
        try versions(of: cursor.document, before: cursor.before, limit: 1).isEmpty
    }
}
