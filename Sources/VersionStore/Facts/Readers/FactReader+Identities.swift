// What identities stand for, and the first digits of some.

internal import GRDB
import Lineage
import VersionModel

/// What an identity stands for.
public enum FactNamed: Hashable, Sendable {
    case document(DocumentNumber)
    case version(VersionNumber)
    /// An entry of the deleted list.
    case deletion(RowNumber)
}

/// What the first digits of an identity stand for.
public struct FactsNamed: Sendable {
    /// In no order that means something.
    public var found: [FactNamed]
    /// Whether there are more than were asked for.
    public var isMore: Bool
}

extension FactReader {
    /// What begins with these hex digits: documents, versions and deletions, by identities of their own and by those
    /// from elsewhere; at most so many.
    /// - Returns: nil for text that is no beginning of an identity.
    public func named(byDigits digits: String, limit: Int) throws(StoreError) -> FactsNamed? {
        guard let range = IDRange(digits) else { return nil }
        return try look { look in
            var found = try look.named(byAliasIn: range, limit: limit + 1)
            let last = try FactTables.lastNumber(look.database)
            _ = try ids.numbers(startingWith: digits, through: last, limit: limit + 1) { number in
                guard let named = try look.named(number), !found.contains(named) else { return false }
                found.append(named)
                return true
            }
            return FactsNamed(found: Array(found.prefix(limit)), isMore: found.count > limit)
        }
    }

    /// The identity of a document.
    public func id(of document: DocumentNumber) throws(StoreError) -> ItemID? {
        try look { try $0.alias("name", document.number).flatMap { ItemID(bytes: $0) } ?? ids.id(document.number) }
    }

    /// The identity of a version.
    public func id(of version: VersionNumber) throws(StoreError) -> VersionID? {
        try look { try $0.alias("version", version.number).flatMap { VersionID(bytes: $0) } ?? ids.id(version.number) }
    }

    /// The identities of what versions go back to for their users, of each in their order.
    func parents(of versions: [VersionRow]) throws(StoreError) -> [[VersionID]] {
        try look { look in
            var ancestry = Ancestry(look.facts)
            return try versions.map { version in
                try ancestry.ancestors(of: version).compactMap { parent in
                    try look.alias("version", parent.number).flatMap { VersionID(bytes: $0) } ?? ids.id(parent.number)
                }
            }
        }
    }

    /// The identity of an entry of the deleted list.
    public func id(ofDeletion removal: RowNumber) throws(StoreError) -> DeletionID? {
        try look { try $0.alias("name", removal.number).flatMap { DeletionID(bytes: $0) } ?? ids.id(removal.number) }
    }
}

extension Look {
    fileprivate func alias(_ table: String, _ number: UInt64) throws -> [UInt8]? {
        try statement("SELECT alias FROM \(table) WHERE seq = ? AND alias IS NOT NULL", .number(number))
            .first { $0.blob(0) }
    }

    fileprivate func named(byAliasIn range: IDRange, limit: Int) throws -> [FactNamed] {
        var found: [FactNamed] = []
        for (table, number, id) in [("name", "seq", "alias"), ("version", "seq", "alias"), ("alias", "version", "id")] {
            let numbers = try statement(
                "SELECT \(number) FROM \(table) WHERE \(id) BETWEEN ? AND ? ORDER BY \(id) LIMIT ?", .blob(range.low),
                .blob(range.high), .integer(Int64(limit))
            ).rows { $0.number(0) }
            for number in numbers {
                if let named = try named(number), !found.contains(named) { found.append(named) }
            }
        }
        return found
    }

    /// What a number is of; nil for a row that is only one more of its document, and for what is gone.
    fileprivate func named(_ number: UInt64) throws -> FactNamed? {
        if let version = stored.version(VersionNumber(number)) {
            return version.isForgotten ? nil : .version(version.number)
        }
        guard let row = stored.row(RowNumber(number)), !row.hasNoVersions else { return nil }
        if row.file == nil { return try entry(of: row) == nil ? nil : .deletion(row.number) }
        return row.document.number == number && !facts.isGone(row.document) ? .document(row.document) : nil
    }
}
