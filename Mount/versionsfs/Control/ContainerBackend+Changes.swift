// The change feed for subscribers: the rows that the caller may see.

import Container
import ControlProtocol
import ControlService
import VersionModel
import VersionStore

extension ContainerBackend {
    func lastSequence() throws(ControlError) -> UInt64 { try answering { try finder.history.lastTold() } }

    func changes(
        after sequence: UInt64, limit: Int, within target: Target, _ depth: WatchDepth, peer: Peer
    ) throws(ControlError) -> ChangePage {
        try answering {
            let read = try told(after: sequence, limit: limit)
            let (within, item) = try scope(target, peer)
            var known = KnownDirectories()
            var page = ChangePage(events: [], upTo: read.last)
            var told: [Change] = []
            for (number, change) in read.changes where matches(change, within, depth, item) {
                guard finder.mayKnow(change, as: peer.principal, &known) else { continue }
                page.events.append(WatchEvent(sequence: number, change))
                told.append(change)
            }
            finder.awaitSight(of: told)
            return page
        }
    }

    /// Rows of the feed, complete from this sequence number on.
    func told(after sequence: UInt64, limit: Int) throws -> ToldChanges {
        let page = try finder.history.told(after: sequence, limit: limit)
        guard page.hasGap, sequence > 0 else { return page }
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
        StoreObservation(finder.history.observeTold(handler))
    }
}

private final class StoreObservation: ChangeObservation {
    private let observation: Observation
    init(_ observation: Observation) { self.observation = observation }
    func cancel() { observation.cancel() }
}
