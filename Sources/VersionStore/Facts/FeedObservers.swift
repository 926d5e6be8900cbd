// Who hears that the feed goes on.

import Synchronization

/// The observers of facts, and those of the feed, which ends before numbers that are still set aside.
final class FeedObservers: Sendable {
    let facts = Observers<FactTransaction>()
    private let feed = Observers<Never>()
    /// The last number that was told.
    private let last = Atomic<UInt64>(0)

    /// Transactions are in the catalog.
    func tell(_ transactions: [FactTransaction]) {
        let told = transactions.map { max($0.lastNumber, $0.eventNumber ?? 0) }.max() ?? 0
        last.store(max(told, last.load(ordering: .sequentiallyConsistent)), ordering: .sequentiallyConsistent)
        facts.tell(transactions)
        feed.tell([])
    }

    /// The feed ended before a number and goes on: what was told behind it meanwhile was not read then.
    func passed(_ bound: UInt64) {
        if last.load(ordering: .sequentiallyConsistent) >= bound { feed.tell([]) }
    }

    func add(_ handler: @escaping @Sendable () -> Void) -> Observation { feed.add { _ in handler() } }
}
