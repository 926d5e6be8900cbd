// What a presenter is told, in one order: the changes that it hears of, and the messages that must not overtake them.

import Coordination
import VersionModel

/// A pure machine for one presenter. A reacquire is sent once all is told that was recorded before it, so that whoever
/// acts on it knows what was changed meanwhile; so is a question if the item was moved, for who saves it has to know
/// where. What comes behind such a message does not overtake it.
struct PresenterFeed: Sendable {
    /// A message that waits.
    private struct Held: Sendable {
        var message: CoordinationMessage
        /// Up to where the feed must have been told before; nil while that is being found out.
        var until: UInt64?
        var number: UInt64
    }

    let purpose: Purpose
    private(set) var item: PresentedItem
    var cursor: FeedCursor
    private var held: [Held] = []
    private var next: UInt64 = 0
    /// Claims that it was not asked to leave its item to, and does not get it back from.
    private var withheld: Set<ClaimID> = []
    /// How often the client has said where its item is.
    private(set) var placements: UInt64 = 0

    init(_ presented: Presented) {
        purpose = presented.purpose
        item = presented.item
        cursor = FeedCursor(sequence: presented.sequence)
    }

    /// Whether the presenter is still to be told that its item is where a question finds it.
    func isBehind(_ message: CoordinationMessage) -> Bool {
        guard case .ask(_, _, _, _, let place?) = message else { return false }
        return place != item.path
    }

    /// Whether a message may go out now; else it is kept until ``due()``.
    mutating func mayGo(_ message: CoordinationMessage) -> Bool {
        guard !held.isEmpty else { return true }
        held.append(Held(message: message, until: 0, number: next))
        next += 1
        return false
    }

    /// Keeps a message until ``settle(_:until:)`` has said what must be told before it, and that is.
    mutating func hold(_ message: CoordinationMessage) -> UInt64 {
        defer { next += 1 }
        held.append(Held(message: message, until: nil, number: next))
        return next
    }

    mutating func settle(_ number: UInt64, until sequence: UInt64) {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return }
        held[index].until = sequence
    }

    /// A question that was kept is not for its client.
    mutating func withhold(_ number: UInt64) {
        guard let index = held.firstIndex(where: { $0.number == number }) else { return }
        if case .ask(_, _, .relinquish, let claim, _) = held.remove(at: index).message { withheld.insert(claim) }
    }

    /// The messages that may go out now, in order.
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

    /// A piece of the feed has come that was asked for after so many placements; false if the item was placed anew
    /// meanwhile, and it has to be fetched again.
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
