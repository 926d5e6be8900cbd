// The claims that a presenter has relinquished its item to, and the time of the notification that they are over.

/// Prevents a presenter from taking its item back while another program has it. Questions do not wait for
/// notifications, so the presenter may relinquish to a second claim before it hears of the end of the first. It then
/// hears of both when the second is over.
///
/// A pure state machine: its owner reports messages and their turns.
package struct Relinquished<Claim: Hashable & Sendable, End: Sendable>: Sendable {
    private struct Lasting: Sendable {
        /// The time of its question.
        var asked: UInt64
        var isRelinquished = false
    }

    /// Counts the messages.
    private var now: UInt64 = 0
    /// The claims that are not over.
    private var lasting: [Claim: Lasting] = [:]
    /// The ends that wait for a later claim.
    private var kept: [End] = []

    package init() {}

    /// Notes the arrival of a question.
    package mutating func asked(_ claim: Claim) {
        now += 1
        lasting[claim] = Lasting(asked: now)
    }

    /// The claims that are not over, in the order of their questions.
    package var claims: [Claim] { lasting.sorted { $0.value.asked < $1.value.asked }.map(\.key) }

    /// Notes that the presenter relinquishes, in the question's turn.
    package mutating func relinquish(to claim: Claim) { lasting[claim]?.isRelinquished = true }

    /// Notes the end of a claim.
    /// - Returns: the time of the end.
    package mutating func isOver(_ claim: Claim) -> UInt64 {
        lasting[claim] = nil
        now += 1
        return now
    }

    /// Handles the end of a claim in its turn.
    /// - Parameter time: the time of the end.
    /// - Returns: the ends to report now, in order.
    package mutating func due(_ end: End, from time: UInt64) -> [End] {
        kept.append(end)
        return lasting.values.contains { $0.isRelinquished && $0.asked > time } ? [] : rest()
    }

    /// The unreported ends, after the last message.
    package mutating func rest() -> [End] {
        defer { kept = [] }
        return kept
    }
}
