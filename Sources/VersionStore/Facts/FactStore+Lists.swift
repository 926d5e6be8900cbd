// Lists for users, and the feed as listeners hear it.

import Lineage
import VersionModel

extension FactStore {
    /// The lists and pages that users ask for.
    public var lists: FactReader { FactReader(flushedCatalog, epoch: identity.epoch) }

    /// What listeners hear of a transaction of the feed.
    public func changes(of told: FactFeed.Told) throws(StoreError) -> [ToldChange] {
        try lists.changes(toldBy: told.facts, told.events, through: told.last)
    }

    /// The same of a transaction that has just been committed. Not for a handler of ``FactStore/observe(_:)``:
    /// its questions get no answer.
    public func changes(of transaction: FactTransaction) throws(StoreError) -> [ToldChange] {
        let last = max(transaction.lastNumber, transaction.eventNumber ?? 0)
        return try lists.changes(toldBy: transaction.facts, transaction.events, through: last)
    }

    /// A change with the identities and the author that messages have.
    /// - Parameter path: of a directory of which no row tells.
    public func change(
        _ told: ToldChange, path: (Place) -> TreePath? = { _ in nil }
    ) throws(StoreError) -> Change {
        let lists = lists
        let actor = try told.actor.map { actor throws(StoreError) in try self.actor(actor) } ?? nil
        var change = Change(
            event: told.event, path: told.path ?? path(told.place) ?? TreePath(names: [told.place.name]),
            time: told.time, author: actor?.author, origin: told.origin, directory: told.place.directory)
        if let from = told.from {
            change.from = told.fromPath ?? path(from) ?? TreePath(names: [from.name])
            change.fromDirectory = from.directory
        }
        if let document = told.document { change.item = try lists.id(of: document) }
        if let version = told.version { change.version = try lists.id(of: version) }
        return change
    }
}
