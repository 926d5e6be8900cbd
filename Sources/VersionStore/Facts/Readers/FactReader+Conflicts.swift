// Documents with unsettled conflicts.

internal import GRDB
import Lineage
import VersionModel

/// A document with unsettled conflicts.
public struct DocumentInConflict: Hashable, Sendable {
    public var document: DocumentNumber
    public var heads: Heads
    /// Its names, oldest first, each with its place.
    public var names: [DocumentName]
}

/// A name that a document has.
public struct DocumentName: Hashable, Sendable {
    public var row: NameRow
    public var place: Place
}

extension FactReader {
    /// The documents with unsettled conflicts and a name, in the order of their numbers. A deleted one has none until
    /// it is undeleted.
    /// - Parameters:
    ///   - directory: only those with a name below it.
    ///   - last: where the page begins: behind this document.
    public func conflicted(
        below directory: FileID = .root, after last: DocumentNumber? = nil, limit: Int
    ) throws(StoreError) -> FactPage<DocumentInConflict, DocumentNumber> {
        try look { look in
            var (found, reached): ([DocumentInConflict], DocumentNumber?) = ([], last)
            let directories = Directories(look, at: .max)
            for document in try look.mayBeConflicted(after: last) {
                guard found.count < limit else { return FactPage(elements: found, next: reached) }
                reached = document
                let heads = look.heads(of: document)
                guard !heads.conflicts.isEmpty else { continue }
                let names = try look.names(of: document)
                guard try names.contains(where: { try directories.isWithin($0.place.directory, directory) }) else {
                    continue
                }
                found.append(DocumentInConflict(document: document, heads: heads, names: names))
            }
            return FactPage(elements: found, next: nil)
        }
    }

    /// How many unsettled conflicts documents with names have.
    public func countOfConflicts() throws(StoreError) -> Int {
        try look { look in
            try look.mayBeConflicted(after: nil).reduce(0) { count, document in
                let conflicts = look.facts.conflicts(of: document).count
                return conflicts == 0 || !look.facts.hasName(document) ? count : count + conflicts
            }
        }
    }

    /// The names that a document has, oldest first.
    public func names(of document: DocumentNumber) throws(StoreError) -> [DocumentName] {
        try look { try $0.names(of: document) }
    }
}

extension Look {
    func names(of document: DocumentNumber) throws -> [DocumentName] {
        try facts.names(of: document).compactMap { row in
            try place(row.place).map { DocumentName(row: row, place: $0) }
        }
    }

    /// The documents of unsettled losers, and of the versions that won against them, in order.
    fileprivate func mayBeConflicted(after last: DocumentNumber?) throws -> [DocumentNumber] {
        let isUnsettled = "lost.flags & 2050 <> 0 AND lost.flags & 48 = 0 AND lost.item >= 0"
        return try statement(
            """
            SELECT item FROM version lost WHERE \(isUnsettled) AND item > ?1
            UNION SELECT won.item FROM version lost CROSS JOIN version won ON won.loser = lost.seq
            WHERE \(isUnsettled) AND won.item > ?1 ORDER BY 1
            """, .number(last?.number ?? 0)
        ).rows { DocumentNumber($0.number(0)) }
    }
}
