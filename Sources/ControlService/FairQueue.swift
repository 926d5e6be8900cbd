// Waiting work for the threads of one kind, served by connections in turn.

import NIOPosix
import Synchronization

/// The source of work: a connection, and its user.
struct WorkSource: Hashable, Sendable {
    var user: UInt32
    /// Whether the user is root, or the daemon's user.
    var isTrusted: Bool
    /// The number of the connection.
    var connection: UInt64
}

/// Keeps waiting work for a pool's threads. Users take turns, and so do the connections of one user, so that no client
/// waits for all requests of another. The work of one connection may take long, so one of several threads always stays
/// free for others.
final class FairQueue: Sendable {
    typealias Work = @Sendable () -> Void

    /// The work of one connection.
    private struct Line {
        var waiting: [Work] = []
        var running = 0
    }

    /// The work of one user.
    private struct Queue {
        var lines: [UInt64: Line] = [:]
        /// The connections with waiting work, the next one first.
        var turns: [UInt64] = []
        var running = 0
        var isTrusted: Bool
    }

    private struct State {
        var queues: [UInt32: Queue] = [:]
        /// The users with waiting work, the next one first.
        var turns: [UInt32] = []
        /// The number of working threads, including those about to start.
        var active = 0
        /// No work starts any more.
        var isStopped = false
    }

    private let pool: NIOThreadPool
    private let threads: Int
    /// Guards the waiting and the running work. The innermost lock, held for a few look-ups.
    private let state = Mutex(State())

    init(on pool: NIOThreadPool, threads: Int) {
        self.pool = pool
        self.threads = threads
    }

    func submit(from source: WorkSource, _ work: @escaping Work) {
        let starts = state.withLock { state in
            guard !state.isStopped else { return false }
            var queue = state.queues[source.user] ?? Queue(isTrusted: source.isTrusted)
            if queue.turns.isEmpty { state.turns.append(source.user) }
            if queue.lines[source.connection]?.waiting.isEmpty ?? true { queue.turns.append(source.connection) }
            queue.lines[source.connection, default: Line()].waiting.append(work)
            state.queues[source.user] = queue
            guard state.active < threads else { return false }
            state.active += 1
            return true
        }
        if starts { start() }
    }

    /// Drops waiting work and accepts no more. Running work continues to its end.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            (state.queues, state.turns) = ([:], [])
        }
    }

    private func start() {
        pool.submit { state in
            guard case .active = state else { return }
            while let (work, source) = self.take() {
                work()
                self.finished(source)
            }
        }
    }

    /// The next work that may start. If there is none, the thread no longer counts as working.
    private func take() -> (Work, WorkSource)? {
        state.withLock { state in
            let most = max(1, threads - 1)
            for (index, user) in state.turns.enumerated() {
                guard var queue = state.queues[user], queue.isTrusted || queue.running < most,
                    let turn = queue.turns.firstIndex(where: { (queue.lines[$0]?.running ?? 0) < most }),
                    var line = queue.lines[queue.turns[turn]], !line.waiting.isEmpty
                else { continue }
                let connection = queue.turns.remove(at: turn)
                let work = line.waiting.removeFirst()
                line.running += 1
                queue.running += 1
                if !line.waiting.isEmpty { queue.turns.append(connection) }
                queue.lines[connection] = line
                state.turns.remove(at: index)
                if !queue.turns.isEmpty { state.turns.append(user) }
                state.queues[user] = queue
                return (work, WorkSource(user: user, isTrusted: queue.isTrusted, connection: connection))
            }
            state.active -= 1
            return nil
        }
    }

    private func finished(_ source: WorkSource) {
        state.withLock { state in
            guard var queue = state.queues[source.user] else { return }
            queue.running -= 1
            if var line = queue.lines[source.connection] {
                line.running -= 1
                queue.lines[source.connection] = line.running == 0 && line.waiting.isEmpty ? nil : line
            }
            state.queues[source.user] = queue.lines.isEmpty ? nil : queue
        }
    }
}
