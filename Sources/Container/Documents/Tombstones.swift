// Names that were just taken away, so that a name that comes back is the same item (DESIGN 5.1).

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

    private let state = Mutex<[Place: Tombstone]>([:])

    func leave(_ tombstone: Tombstone, at place: Place) { state.withLock { $0[place] = tombstone } }

    /// Takes the tombstone at a place if it still counts: for 15 s, or while its file is open.
    func take(at place: Place, now: Timestamp, isOpen: (Tombstone) -> Bool) -> Tombstone? {
        guard let tombstone = state.withLock({ $0.removeValue(forKey: place) }) else { return nil }
        return now.since(tombstone.time) <= Self.lifetimeNanoseconds || isOpen(tombstone) ? tombstone : nil
    }

    /// Takes the tombstone of a document's deletion, wherever that was.
    func takeDeletion(of document: Document) -> DeletionID? {
        state.withLock { state in
            for (place, tombstone) in state where tombstone.document === document {
                guard case .deleted(let deletion) = tombstone.destination else { continue }
                state[place] = nil
                return deletion
            }
            return nil
        }
    }

    /// Whether a document was deleted, wherever that was.
    func holdsDeletion(of document: Document) -> Bool {
        state.withLock { $0.values.contains { $0.document === document && $0.deletion != nil } }
    }

    /// A document has come back: what else it was called on the way is nobody's now. It comes back once.
    func forget(_ document: Document) {
        state.withLock { state in state = state.filter { $0.value.document !== document } }
    }

    /// Removes what has outlived its time, but for files that are still open.
    /// - Returns: whether nothing is left.
    func expire(now: Timestamp, isOpen: (Tombstone) -> Bool) -> Bool {
        let all = state.withLock { $0 }
        let old = all.filter { now.since($0.value.time) > Self.lifetimeNanoseconds && !isOpen($0.value) }
        return state.withLock { state in
            for (place, tombstone) in old where state[place]?.time == tombstone.time { state[place] = nil }
            return state.isEmpty
        }
    }
}
