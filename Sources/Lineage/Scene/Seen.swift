// What programs have seen of the versions of documents, in the order in which they have seen it.

import VersionModel

/// Observations in their order, each with its place among all that are remembered. A scene shares those of its one
/// document with what is remembered: nothing is copied, unless a plan changes them.
struct Seen: Sendable {
    /// Where an observation is remembered.
    struct Place: Hashable, Sendable {
        /// Its place among all observations: they were made in this order.
        var order: UInt64
        /// The document of the version that was seen.
        var home: DocumentNumber
    }

    private(set) var observations: [Observation] = []
    /// The places of the observations among all.
    private var orders: [UInt64] = []
    /// The documents of the seen versions: one for all, or one for each observation.
    private var homes: [DocumentNumber] = []

    init() {}

    /// The observations of several documents.
    init(_ parts: [(home: DocumentNumber, seen: Seen)]) {
        if parts.count <= 1 {
            guard let (home, seen) = parts.first else { return }
            (observations, orders, homes) = (seen.observations, seen.orders, [home])
            return
        }
        var all: [(place: Place, observation: Observation)] = []
        for (home, seen) in parts {
            for (order, observation) in zip(seen.orders, seen.observations) {
                all.append((Place(order: order, home: home), observation))
            }
        }
        all.sort { $0.place.order < $1.place.order }
        observations = all.map(\.observation)
        orders = all.map(\.place.order)
        homes = all.map(\.place.home)
    }

    var isEmpty: Bool { orders.isEmpty }

    func place(at index: Int) -> Place {
        Place(order: orders[index], home: homes[homes.count == orders.count ? index : 0])
    }

    /// Whether these are the same observations, as far as that can be told without comparing them.
    func isUnchanged(as others: [Observation]) -> Bool {
        guard observations.count == others.count else { return false }
        return observations.withUnsafeBufferPointer { one in
            others.withUnsafeBufferPointer { $0.baseAddress == one.baseAddress }
        }
    }

    // MARK: Changes

    mutating func append(_ observation: Observation, order: UInt64) {
        // One that was moved here from another document may be older.
        let index = (orders.lastIndex { $0 < order }).map { $0 + 1 } ?? 0
        observations.insert(observation, at: index)
        orders.insert(order, at: index)
    }

    mutating func remove(order: UInt64) {
        guard let index = orders.lastIndex(of: order) else { return }
        observations.remove(at: index)
        orders.remove(at: index)
    }

    /// Takes the last observation of the same version by the same program away.
    mutating func removeLast(of observation: Observation) -> Observation? {
        let index = observations.lastIndex {
            $0.actor == observation.actor && $0.version == observation.version && $0.document == observation.document
        }
        guard let index else { return nil }
        orders.remove(at: index)
        return observations.remove(at: index)
    }

    /// So many later observations take the place of an earlier one. Any of them may be taken back (a read for a
    /// backup), its version may go for good, and an earlier one alone may concern a document that has parted since.
    private static let enough = (own: 16, others: 4)

    /// Whether observations are looked through now: at each power of two, so that one more costs no more than the
    /// others.
    var isLong: Bool { orders.count >= 64 && orders.count & (orders.count - 1) == 0 }

    /// The programs that have made the observations.
    var actors: Set<ActorNumber> { Set(observations.map(\.actor)) }

    /// What a program has seen last decides, for itself and for its ancestors. So an observation goes if enough later
    /// ones count for the same programs, or if none of those may save any more.
    ///
    /// | the program | later observations that count for the same |
    /// |---|---|
    /// | may save still | its own |
    /// | has ended | those of any program with all the ancestors of it that may save |
    mutating func thin(_ audiences: [ActorNumber: Audience]) {
        var left: [Int] = []
        for index in orders.indices.reversed() {
            let one = observations[index]
            let audience = audiences[one.actor] ?? .itself
            if !audience.mayAct, audience.ancestors.isEmpty { continue }
            let later = left.count { index in
                let later = observations[index]
                // That a program has read any version counts by itself.
                guard later.document == one.document, later.isRead || !one.isRead else { return false }
                if audience.mayAct { return later.actor == one.actor }
                let others = audiences[later.actor]?.ancestors ?? []
                return audience.ancestors.allSatisfy { $0 == later.actor || others.contains($0) }
            }
            if later < (audience.mayAct ? Self.enough.own : Self.enough.others) { left.append(index) }
        }
        guard left.count < orders.count else { return }
        left.reverse()
        observations = left.map { observations[$0] }
        orders = left.map { orders[$0] }
    }
}
