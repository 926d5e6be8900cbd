// The change feed for subscribers: the rows that the caller may see.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

extension ContainerBackend {
    func lastSequence() throws(ControlError) -> UInt64 {
        try answering { try store.changeRange()?.upperBound ?? 0 }
    }

    func changes(
        after sequence: UInt64, limit: Int, within target: Target, _ depth: WatchDepth, peer: Peer
    ) throws(ControlError) -> ChangePage {
        try answering {
            let rows = try rows(after: sequence, limit: limit)
            let (within, item) = try scope(target, peer)
            var known = KnownDirectories()
            var page = ChangePage(events: [], upTo: sequence)
            var told: [Change] = []
            for (number, change) in rows {
                page.upTo = number
                guard matches(change, within, depth, item) else { continue }
                if container.mayKnow(change, as: peer.principal, &known) {
                    page.events.append(WatchEvent(sequence: number, change))
                    told.append(change)
                }
            }
            container.awaitSight(of: told)
            return page
        }
    }

    /// Rows of the feed, complete from this sequence number on.
    func rows(after sequence: UInt64, limit: Int) throws -> [(sequence: UInt64, change: Change)] {
        let rows = try store.changes(after: sequence, limit: limit)
        // After the read: rows that were removed meanwhile were either read or are reported missing here.
        try requireFeed(from: sequence)
        return rows
    }

    private func requireFeed(from sequence: UInt64) throws {
        guard let range = try store.changeRange(), range.lowerBound > sequence &+ 1, sequence > 0 else { return }
        throw ControlError(.notFound, "the change feed no longer reaches back to \(sequence)")
    }

    /// A subscription to an item follows its identity, so that a rename does not end it.
    private func scope(_ target: Target, _ peer: Peer) throws -> (TreePath, ItemID?) {
        switch target {
        case .path(let path): return (try tree(path), nil)
        case .id:
            let document = try document(target, ControlCall(peer: peer))
            return (document.path, document.item)
        }
    }

    private func matches(_ change: Change, _ path: TreePath, _ depth: WatchDepth, _ item: ItemID?) -> Bool {
        if let item { return change.item == item }
        return [change.path, change.from].contains { place in
            guard let place else { return false }
            return switch depth {
            case .item: place == path
            case .directory: place == path || place.parent == path
            case .subtree: place.isWithin(path)
            }
        }
    }

    func observeChanges(_ handler: @escaping @Sendable () -> Void) -> any ChangeObservation {
        StoreObservation(store.observe { _ in handler() })
    }
}

private final class StoreObservation: ChangeObservation {
    private let observation: Observation
    init(_ observation: Observation) { self.observation = observation }
    func cancel() { observation.cancel() }
}
