// The files that a shared mapping may go on changing after their handles are closed.

import Synchronization

/// Which files are looked at again and again until nothing is mapped any more. Lock order: last.
final class MappingWatch: Sendable {
    /// The facts that one look leaves to the next.
    struct Look: Sendable {
        /// The process that has made the mapping; nil: it is from before this mount.
        var requester: Requester?
        /// The content of the file has been kept since it is watched.
        var isKept = false
        /// The file when it was synchronized last: as long as it is so, no page of it waits to be written.
        var synchronised: Stamp?
        /// The file as the last look found it, if that is no version yet, and its hash where times tell nothing.
        var seen: (stamp: Stamp, hash: [UInt8]?)?
        /// When a change was seen first that is no version yet, by ``Scheduler/now``.
        var since: Int64?
        /// Since when it cannot be told whether the file is mapped, and nothing in it has changed.
        var unanswered: Int64?

        /// Takes the answer of one look.
        /// - Parameters:
        ///   - hasWriters: handles of this mount are open for writing.
        ///   - patience: how long a file without an answer is watched while nothing in it changes.
        /// - Returns: whether the watch is over.
        mutating func isOver(
            _ answer: WritableMappings.Answer, hasWriters: Bool, now: Int64, patience: Int64
        ) -> Bool {
            guard answer == .unknown, !hasWriters, since == nil else {
                unanswered = nil
                return answer == .none && !hasWriters
            }
            let start = unanswered ?? now
            unanswered = start
            return now - start >= patience
        }
    }

    private struct State {
        /// With the nodes that are not to be forgotten meanwhile: the file's, and those of the directories above it.
        var watched: [UInt64: (node: Node, turn: UInt64, held: [Node])] = [:]
        var turns: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Begins to watch a file, or begins anew.
    /// - Returns: the number of the turn, which ends those before; and whether the file was not watched so far.
    func begin(_ node: Node, holding held: [Node]) -> (turn: UInt64, isNew: Bool) {
        state.withLock { state in
            state.turns += 1
            let known = state.watched[node.id]
            state.watched[node.id] = (node, state.turns, known?.held ?? held)
            return (state.turns, known == nil)
        }
    }

    func isWatched(_ node: Node) -> Bool { state.withLock { $0.watched[node.id] != nil } }
    func isIn(_ turn: UInt64, _ node: Node) -> Bool { state.withLock { $0.watched[node.id]?.turn == turn } }

    /// Ends a turn.
    /// - Returns: the nodes that were held; nil if there is another turn by now, or none.
    func end(_ turn: UInt64, _ node: Node) -> [Node]? {
        state.withLock { state in
            guard let watched = state.watched[node.id], watched.turn == turn else { return nil }
            state.watched[node.id] = nil
            return watched.held
        }
    }

    /// Ends all turns.
    func takeAll() -> [Node] {
        state.withLock { state in
            defer { state.watched = [:] }
            return state.watched.values.map(\.node)
        }
    }
}
