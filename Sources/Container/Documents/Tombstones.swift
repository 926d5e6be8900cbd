// Names that were just taken away, so that a name that comes back is the same item (DESIGN 5.1).

import Collections
import DequeModule
import Synchronization
import VersionModel

/// What became of a document whose name was unlinked or renamed away within the last seconds.
struct Tombstone: Sendable {
    /// Where the content went.
    enum Destination: Sendable {
        case deleted(DeletionID)
        /// It is where the document is now, or was deleted from since.
        case moved
    }

    let document: Document
    let destination: Destination
    let actor: ActorRef
    let time: Timestamp

    var deletion: DeletionID? { if case .deleted(let deletion) = destination { deletion } else { nil } }
}

/// The tombstones by place. Lock order: last.
final class Tombstones: Sendable {
    /// How long a name may be away: what NT's tunnelling allows.
    static let lifetimeNanoseconds: Int64 = 15_000_000_000

    /// How many names may be away at once. Whoever removes a bigger tree and brings it back within 15 s has the files in
    /// the deleted area all the same; only the first of them come back as new items.
    static let most = 50_000

    private struct State {
        var byPlace: [Place: Tombstone] = [:]
        /// Oldest first; one that was taken or renewed meanwhile is passed over.
        var order: Deque<(place: Place, time: Timestamp)> = []
    }

    private let state = Mutex(State())

    func leave(_ tombstone: Tombstone, at place: Place) {
        state.withLock { state in
            state.byPlace[place] = tombstone
            state.order.append((place, tombstone.time))
            while state.byPlace.count > Self.most || state.order.count > 2 * Self.most {
                guard let oldest = state.order.popFirst() else { break }
                if state.byPlace[oldest.place]?.time == oldest.time { state.byPlace[oldest.place] = nil }
            }
        }
    }

    /// Takes the tombstone at a place if it still counts: for 15 s, or while its file is open.
    func take(at place: Place, now: Timestamp, isOpen: (Tombstone) -> Bool) -> Tombstone? {
        guard let tombstone = state.withLock({ $0.byPlace.removeValue(forKey: place) }) else { return nil }
        return now.since(tombstone.time) <= Self.lifetimeNanoseconds || isOpen(tombstone) ? tombstone : nil
    }

    /// Takes the tombstone of a document's deletion, wherever that was.
    func takeDeletion(of document: Document) -> DeletionID? {
        state.withLock { state in
            for (place, tombstone) in state.byPlace where tombstone.document === document {
                guard case .deleted(let deletion) = tombstone.destination else { continue }
                state.byPlace[place] = nil
                return deletion
            }
            return nil
        }
    }

    /// Removes what has outlived its time, but for files that are still open.
    /// - Returns: whether nothing is left.
    func expire(now: Timestamp, isOpen: (Tombstone) -> Bool) -> Bool {
        let all = state.withLock { $0.byPlace }
        let old = all.filter { now.since($0.value.time) > Self.lifetimeNanoseconds && !isOpen($0.value) }
        return state.withLock { state in
            for (place, tombstone) in old where state.byPlace[place]?.time == tombstone.time {
                state.byPlace[place] = nil
            }
            while let first = state.order.first, state.byPlace[first.place]?.time != first.time {
                state.order.removeFirst()
            }
            if state.byPlace.isEmpty { state = State() }
            return state.byPlace.isEmpty
        }
    }
}
