// What has happened, as listeners hear it and a log lists it.

internal import GRDB
import Lineage
import VersionModel

extension FactHistory {
    /// What is told later has a larger number.
    public func lastTold() throws(StoreError) -> UInt64 { store.lastTold }

    /// - Parameter limit: about how many rows are read.
    public func told(after sequence: UInt64, limit: Int) throws(StoreError) -> ToldChanges {
        let feed = try store.feed(after: sequence, limit: limit)
        var changes: [(sequence: UInt64, change: Change)] = []
        for transaction in feed.transactions {
            var told: [Change] = []
            for change in try store.changes(of: transaction) { told.append(try store.change(change)) }
            Self.markExchange(in: &told)
            changes += told.map { (transaction.last, $0) }
        }
        return ToldChanges(changes: changes, last: feed.last, hasGap: feed.hasGap)
    }

    /// Two directories that change places are told of by one rename, and what came to its former name: a presenter goes
    /// along once.
    private static func markExchange(in changes: inout [Change]) {
        let renames = changes.indices.filter { changes[$0].event == .renamed && changes[$0].item == nil }
        guard renames.count == 2, changes[renames[0]].from == changes[renames[1]].path,
            changes[renames[1]].from == changes[renames[0]].path
        else { return }
        for index in renames { changes[index].detail.isExchange = true }
        changes[renames[1]].event = .created
        (changes[renames[1]].from, changes[renames[1]].fromDirectory) = (nil, nil)
    }

    public func observeTold(_ handler: @escaping @Sendable () -> Void) -> Observation { store.observeFeed(handler) }

    // MARK: Lists

    public func listing(
        of directory: FileID, _ names: [FileName]
    ) throws(StoreError) -> [FileName: ListedDocument?] {
        var found: [FileName: ListedDocument?] = [:]
        for listed in try lists.listing(of: directory, names) {
            let document = listed.name.row.document
            // What it began with is in its history, too.
            let isAlone = try lists.look { $0.facts.origin(of: document) } == nil
            guard let version = listed.name.version, let item = try lists.id(of: document),
                var current = try lists.version(version.number)
            else {
                found[listed.name.place.name] = .some(nil)
                continue
            }
            current.kind = .current
            found[listed.name.place.name] = .some(ListedDocument(
                item: item, current: try self.version(current, of: item), versions: listed.versions + (isAlone ? 0 : 1),
                conflicts: listed.conflicts.count))
        }
        return found
    }

    /// The next entries of the deleted list at a path and below it, in any order.
    public func deletions(
        within path: TreePath, from position: ListPosition?, limit: Int
    ) throws(StoreError) -> ListPage<Deletion> {
        let page = try lists.deleted(
            within: path, before: position.map { UInt64(clamping: $0.number) }, limit: limit)
        return ListPage(
            elements: try deletions(page.elements),
            next: page.next.map { ListPosition(number: Int64(clamping: $0)) })
    }

    /// The next documents after one whose newest version was saved at a time or later.
    /// - Parameter limit: the number of documents to examine.
    /// - Returns: the documents, and the last examined one; nil at the end.
    public func items(
        after item: ItemID?, savedSince time: Timestamp?, limit: Int
    ) throws(StoreError) -> (found: [ItemID], last: ItemID?) {
        let first = try item.flatMap { item throws(StoreError) in try store.document(item) }
        let documents = try lists.look { look in
            try look.saved(after: first ?? DocumentNumber(0), limit: limit)
        }
        var found: [ItemID] = []
        for (document, saved) in documents where time.map({ saved >= $0 }) ?? true {
            if let id = try lists.id(of: document) { found.append(id) }
        }
        let last = try documents.last.flatMap { last throws(StoreError) in try lists.id(of: last.document) }
        return (found, last)
    }

    /// The next versions of a document, newest first.
    public func versions(
        of item: ItemID, from position: ListPosition?, limit: Int
    ) throws(StoreError) -> ListPage<Version> {
        guard let document = try store.document(item) else { return ListPage(elements: [], next: nil) }
        let cursor = position.map { VersionsCursor(document: document, before: UInt64(clamping: $0.number)) }
        var page = try lists.versions(of: document, from: cursor, limit: limit)
        // What it began with is alone behind its own.
        if let next = page.next, next.document != document {
            page.elements += try lists.versions(of: document, from: next, limit: 1).elements
            page.next = nil
        }
        return ListPage(
            elements: try versions(page.elements, of: item),
            next: page.next.map { ListPosition(number: Int64(clamping: $0.before)) })
    }
}

extension Look {
    /// The next documents that have versions, each found by a key, and when the newest version of each was saved.
    fileprivate func saved(
        after document: DocumentNumber, limit: Int
    ) throws -> [(document: DocumentNumber, saved: Timestamp)] {
        var found: [(document: DocumentNumber, saved: Timestamp)] = []
        var last = document.number
        while found.count < limit {
            let next = try statement(
                "SELECT min(item) FROM version WHERE item > ? AND flags & 16 = 0", .number(last)
            ).first { $0.isNull(0) ? nil : $0.number(0) } ?? nil
            guard let next else { break }
            last = next
            let document = DocumentNumber(next)
            guard let newest = try versions(of: document, before: .max, limit: 1).first else { continue }
            found.append((document, newest.time))
        }
        return found
    }
}
