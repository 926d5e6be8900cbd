// The threads for a backend's methods: several kinds, so that no kind delays the others.

import NIOPosix

/// Pools of threads, one for each kind of work.
struct ServiceThreads: Sendable {
    /// The kinds of work.
    enum Kind: CaseIterable {
        /// Short calls that any client may make at any rate, such as `status`.
        case quick
        /// Calls that may take minutes.
        case long
        /// Claims, presenters and their questions: other clients wait for these.
        case coordination
        /// Pages of the change feed and of queries.
        case feeds
        /// Reading long lines.
        case lines

        fileprivate var count: Int {
            switch self {
            case .quick, .long, .coordination, .feeds: 4
            case .lines: 1
            }
        }
    }

    private let pools: [Kind: NIOThreadPool]
    /// The waiting work of a pool; none for coordination, because its order counts.
    private let queues: [Kind: FairQueue]

    init() {
        pools = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, NIOThreadPool(numberOfThreads: $0.count)) })
        queues = Dictionary(uniqueKeysWithValues: pools.filter { $0.key != .coordination }.map { kind, pool in
            (kind, FairQueue(on: pool, threads: kind.count))
        })
        for pool in pools.values { pool.start() }
    }

    /// Runs work on a thread of its kind; ignored after the stop.
    func run(on kind: Kind, from source: WorkSource, _ work: @escaping @Sendable () -> Void) {
        if let queue = queues[kind] { return queue.submit(from: source, work) }
        pools[kind]?.submit { state in
            if case .active = state { work() }
        }
    }

    /// Drops waiting work, and waits for running work.
    func stop() {
        for queue in queues.values { queue.stop() }
        for pool in pools.values { try? pool.syncShutdownGracefully() }
    }
}
