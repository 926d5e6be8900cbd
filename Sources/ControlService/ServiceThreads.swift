// The threads that a backend's methods run on: of several kinds, so that none keeps the others waiting.

import NIOPosix

/// Pools of threads, one for each kind of work.
struct ServiceThreads: Sendable {
    /// What is run.
    enum Kind: CaseIterable {
        /// Calls that anyone may make any number of, as `status`.
        case quick
        /// Calls that may take minutes.
        case long
        /// Claims, presenters and what they may be asked: others wait for these.
        case coordination
        /// Pieces of the change feed and of queries.
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
    /// The work that waits for a pool; none for coordination, whose order counts.
    private let queues: [Kind: FairQueue]

    init() {
        pools = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, NIOThreadPool(numberOfThreads: $0.count)) })
        queues = Dictionary(uniqueKeysWithValues: pools.filter { $0.key != .coordination }.map { kind, pool in
            (kind, FairQueue(on: pool, threads: kind.count))
        })
        for pool in pools.values { pool.start() }
    }

    /// Runs work on a thread of its kind; not at all once they are stopped.
    func run(on kind: Kind, from source: WorkSource, _ work: @escaping @Sendable () -> Void) {
        if let queue = queues[kind] { return queue.submit(from: source, work) }
        pools[kind]?.submit { state in
            if case .active = state { work() }
        }
    }

    /// Drops what waits, and waits for what is running.
    func stop() {
        for queue in queues.values { queue.stop() }
        for pool in pools.values { try? pool.syncShutdownGracefully() }
    }
}
