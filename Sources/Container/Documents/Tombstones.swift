// Names that were just removed, so that a name that comes back is the same item (DESIGN 5.1).

import Collections
import DequeModule
import Synchronization
import VersionModel

/// A document whose name was unlinked or renamed away within the last seconds.
struct Tombstone: Sendable {
    /// The place of its content.
    enum Destination: Sendable {
        case deleted(DeletionID)
        /// With the document at its present place, or in the deleted area.
        case moved
    }

    let document: Document
    let destination: Destination
    let actor: ActorRef
    let time: Timestamp
    /// The time of the removal, by ``Scheduler/now``.
    let left = Scheduler.now

    var deletion: DeletionID? { if case .deleted(let deletion) = destination { deletion } else { nil } }
}

/// The tombstones by place. Lock order: last.
final class Tombstones: Sendable {
    /// The longest absence of a name: the limit of NT's tunneling.
    static let lifetimeNanoseconds: Int64 = 15_000_000_000

    /// The largest number of absent names. After the removal and return of a bigger tree within 15 s, the deleted area
    /// still has the files; only the first of them come back as new items.
    static let most = 50_000

    private struct State {
        private(set) var byPlace: [Place: Tombstone] = [:]
        /// A document may have left several names.
        private var byDocument: [ObjectIdentifier: [Place]] = [:]
        /// Oldest first; entries taken or renewed meanwhile are skipped.
        private var order: Deque<(place: Place, time: Timestamp)> = []

        mutating func leave(_ tombstone: Tombstone, at place: Place) {
            take(place)
            byPlace[place] = tombstone
            byDocument[ObjectIdentifier(tombstone.document), default: []].append(place)
            order.append((place, tombstone.time))
            while byPlace.count > Tombstones.most || order.count > 2 * Tombstones.most, let oldest = order.popFirst() {
                if byPlace[oldest.place]?.time == oldest.time { take(oldest.place) }
            }
        }

        @discardableResult
        mutating func take(_ place: Place) -> Tombstone? {
            guard let tombstone = byPlace.removeValue(forKey: place) else { return nil }
            let key = ObjectIdentifier(tombstone.document)
            if byDocument[key]?.count == 1 { byDocument[key] = nil } else { byDocument[key]?.removeAll { $0 == place } }
            return tombstone
        }

        func tombstones(of document: Document) -> [(place: Place, tombstone: Tombstone)] {
            (byDocument[ObjectIdentifier(document)] ?? []).compactMap { place in byPlace[place].map { (place, $0) } }
        }

        mutating func dropStale() {
            while let first = order.first, byPlace[first.place]?.time != first.time { order.removeFirst() }
        }
    }

    private let state = RankedMutex(State())

    func leave(_ tombstone: Tombstone, at place: Place) { state.withLock { $0.leave(tombstone, at: place) } }

    /// Takes the tombstone at a place if it is still valid: for 15 s, or while its file is open.
    func take(at place: Place, now: Timestamp, isOpen: (Tombstone) -> Bool) -> Tombstone? {
        guard let tombstone = state.withLock({ $0.take(place) }) else { return nil }
        return now.since(tombstone.time) <= Self.lifetimeNanoseconds || isOpen(tombstone) ? tombstone : nil
    }

    /// The tombstone that a deletion left, if it is still there.
    func take(of deletion: Deletion, now: Timestamp) -> Tombstone? {
        guard let tombstone = take(at: deletion.place, now: now, isOpen: { _ in true }) else { return nil }
        if tombstone.deletion == deletion.id { return tombstone }
        leave(tombstone, at: deletion.place)
        return nil
    }

    /// The deletion of a document, at any place. Its tombstone stays until the document is back (``forget(_:)``).
    func deletion(of document: Document) -> DeletionID? {
        state.withLock { $0.tombstones(of: document).lazy.compactMap(\.tombstone.deletion).first }
    }

    /// The document of an item that has left a name. Searches all of them.
    func document(of item: ItemID) -> Document? {
        state.withLock { $0.byPlace.values.first { $0.document.item == item }?.document }
    }

    /// Whether a document was deleted, at any place.
    func holdsDeletion(of document: Document) -> Bool {
        state.withLock { $0.tombstones(of: document).contains { $0.tombstone.deletion != nil } }
    }

    /// Forgets a document's other former names after its return. It comes back once.
    func forget(_ document: Document) {
        state.withLock { state in for (place, _) in state.tombstones(of: document) { state.take(place) } }
    }

    /// A program that opened the document after its move has saved it: its present place is final.
    /// - Parameter opened: the time of the open, by ``Scheduler/now``.
    func settle(_ document: Document, opened: Int64) {
        state.withLock { state in
            for (place, tombstone) in state.tombstones(of: document) where tombstone.left <= opened {
                state.take(place)
            }
        }
    }

    /// Removes expired tombstones, except those of files that are still open.
    /// - Returns: whether none is left.
    func expire(now: Timestamp, isOpen: (Tombstone) -> Bool) -> Bool {
        let all = state.withLock(\.byPlace)
        let old = all.filter { now.since($0.value.time) > Self.lifetimeNanoseconds && !isOpen($0.value) }
        return state.withLock { state in
            for (place, tombstone) in old where state.byPlace[place]?.time == tombstone.time { state.take(place) }
            state.dropStale()
            if state.byPlace.isEmpty { state = State() }
            return state.byPlace.isEmpty
        }
    }
}
