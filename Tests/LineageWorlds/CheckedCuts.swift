// Worlds after a power cut that were checked already.

import Synchronization

/// Many orders of moves and many subsets of their effects leave one and the same disk and facts: settling makes the
/// same of them. Each is checked once.
///
/// A world is known by 64 bits of a hash. That one of 30 million is taken for another has a probability of one in
/// 40,000.
final class CheckedCuts: Sendable {
    private static let count = 64
    private let shards = (0..<count).map { _ in Shard() }

    private final class Shard: Sendable {
        let hashes = Mutex<Set<Int>>([])
    }

    /// Whether no such world was there before.
    func isNew(_ world: World) -> Bool {
        var hasher = Hasher()
        // All that settling and the invariants behind it look at.
        hasher.combine(world.disk)
        hasher.combine(world.facts)
        hasher.combine(world.acknowledged)
        hasher.combine(world.sealed)
        hasher.combine(world.now)
        hasher.combine(world.nextNumber)
        let hash = hasher.finalize()
        return shards[hash & (Self.count - 1)].hashes.withLock { $0.insert(hash).inserted }
    }
}
