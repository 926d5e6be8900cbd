// Which claims a presenter has let its item go for, and when it is told that they are over.

/// Keeps a presenter from being told that its item is its own again while somebody else has it. Questions do not wait
/// for news, so it may have let go for a second claim before it could be told of the end of a first: it hears of both
/// when the second is over.
///
/// A pure machine: whoever has it says when messages come and when it is their turn.
package struct Relinquished<Claim: Hashable & Sendable, End: Sendable>: Sendable {
    private struct Lasting: Sendable {
        /// When its question came.
        var asked: UInt64
        var isLetGo = false
    }

    /// Counts what has come.
    private var now: UInt64 = 0
    /// The claims that are not over.
    private var lasting: [Claim: Lasting] = [:]
    /// What is told when a later claim is over.
    private var kept: [End] = []

    package init() {}

    /// A question has come.
    package mutating func asked(_ claim: Claim) {
        now += 1
        lasting[claim] = Lasting(asked: now)
    }

    /// The claims that are not over, in the order of their questions.
    package var claims: [Claim] { lasting.sorted { $0.value.asked < $1.value.asked }.map(\.key) }

    /// It is the question's turn: the presenter lets go.
    package mutating func letsGo(_ claim: Claim) { lasting[claim]?.isLetGo = true }

    /// A claim is over.
    /// - Returns: when that was.
    package mutating func isOver(_ claim: Claim) -> UInt64 {
        lasting[claim] = nil
        now += 1
        return now
    }

    /// It is the turn of the end of a claim.
    /// - Parameter time: when it was over.
    /// - Returns: what is to be told now, in order.
    package mutating func due(_ end: End, from time: UInt64) -> [End] {
        kept.append(end)
        return lasting.values.contains { $0.isLetGo && $0.asked > time } ? [] : rest()
    }

    /// What has not been told, once nothing comes any more.
    package mutating func rest() -> [End] {
        defer { kept = [] }
        return kept
    }
}
