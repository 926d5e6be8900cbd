// The messages of a presenter in one order: changes, and messages that must not overtake them.

import Coordination
import VersionModel

/// A pure state machine for one presenter. A reacquire follows all changes recorded before it, so that the presenter
/// knows them when it acts. After a move of the item, a question also waits, because a presenter that saves must know
/// the place. Later messages do not overtake a waiting one.
struct PresenterFeed: Sendable {
    /// A waiting message.
    private struct Held: Sendable {
        var message: CoordinationMessage
        /// The last change that must come first; nil while it is unknown.
        var until: UInt64?
        var number: UInt64
    }

    let purpose: Purpose
    private(set) var item: PresentedItem
    var cursor: FeedCursor
    private var held: [Held] = []
    private var next: UInt64 = 0
    /// Claims whose questions the client did not get; it gets no reacquire for them either.
    private var withheld: Set<ClaimID> = []
    /// The number of the client's reports of a new place.
    private(set) var placements: UInt64 = 0

    init(_ presented: Presented) {
        purpose = presented.purpose
        item = presented.item
        cursor = FeedCursor(sequence: presented.sequence)
    }

    /// Whether the presenter has not yet heard of the move to the place of a question.
    func isBehind(_ message: CoordinationMessage) -> Bool {
        guard case .ask(_, _, _, _, let place?) = message else { return false }
        return place != item.path
    }

    /// Whether a message may go now; otherwise it waits for ``due()``.
    mutating func mayGo(_ message: CoordinationMessage) -> Bool {
        guard !held.isEmpty else { return true }
        held.append(Held(message: message, until: 0, number: next))
        next += 1
        return false
    }

    /// Holds a message until ``settle(_:until:)`` has set the last change before it, and that change is sent.
    mutating func hold(_ message: CoordinationMessage) -> UInt64 {
        defer { next += 1 }
        held.append(Held(message: message, until: nil, number: next))
        return next
    }

    mutating func settle(_ number: UInt64, until sequence: UInt64) {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return }
        held[index].until = sequence
    }

    /// Drops a waiting question that the client must not get.
    mutating func withhold(_ number: UInt64) {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return }
        if case .ask(_, _, .relinquish, let claim, _) = held.remove(at: index).message { withheld.insert(claim) }
    }

    /// The messages that may go now, in order.
    mutating func due() -> [CoordinationMessage] {
        let count = held.prefix { $0.until.map { $0 <= cursor.sequence } ?? false }.count
        let due = held.prefix(count).map(\.message)
        held.removeFirst(count)
        guard !withheld.isEmpty else { return due }
        return due.filter { message in
            if case .reacquire(_, let claim) = message { withheld.remove(claim) == nil } else { true }
        }
    }

    mutating func place(at path: TreePath?, _ item: ItemID?) {
        self.item.place(at: path, item)
        placements += 1
    }

    /// Takes a page of the feed that was requested after so many placements. False if the item was placed again
    /// meanwhile; then the page must be fetched again.
    mutating func took(_ page: PresentedPage, asOf placements: UInt64) -> Bool {
        guard placements == self.placements else {
            cursor.took(upTo: cursor.sequence)
            cursor.changesHappened()
            return false
        }
        item = page.item
        cursor.took(upTo: page.upTo)
        return true
    }
}
