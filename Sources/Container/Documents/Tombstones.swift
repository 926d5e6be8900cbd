// Names that were just taken away, so that a name that comes back is the same item (DESIGN 5.1).

import Synchronization
import VersionModel

/// What became of a document whose name was unlinked or renamed away within the last seconds.
struct Tombstone: Sendable {
    /// Where the content went.
    enum Destination: Sendable {
        case deleted(DeletionID)
        case movedTo(Place)
    }

    let document: Document
    let destination: Destination
    let actor: ActorRef
    let time: Timestamp
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

    /// Removes and gives what has outlived its time.
    func expire(now: Timestamp) -> [(Place, Tombstone)] {
        state.withLock { state in
            let old = state.filter { now.since($0.value.time) > Self.lifetimeNanoseconds }
            for place in old.keys { state[place] = nil }
            return old.map { ($0.key, $0.value) }
        }
    }

    var isEmpty: Bool { state.withLock(\.isEmpty) }
}
