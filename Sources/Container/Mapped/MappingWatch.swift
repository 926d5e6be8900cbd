// The files that a shared mapping may still change after their handles are closed.

import Synchronization

/// The files to check repeatedly until no mapping is left. Lock order: last.
final class MappingWatch: Sendable {
    /// The facts that one check leaves for the next.
    struct Look: Sendable {
        /// The process of the mapping; nil for one from before this mount.
        var requester: Requester?
        /// Whether the file's content has been kept during the watch.
        var isKept = false
        /// The file's stamp at the last synchronization: while it is the same, no page waits to be written.
        var synchronized: Stamp?
        /// The file's stamp at the last check, if it is no version yet, and its hash if times are not enough.
        var seen: (stamp: Stamp, hash: [UInt8]?)?
        /// The time when an unsaved change was first seen, by ``Scheduler/now``.
        var since: Int64?
        /// The time since which it is unknown whether the file is mapped, and since which it is unchanged.
        var unanswered: Int64?

        /// Takes the result of one check.
        /// - Parameters:
        ///   - hasWriters: whether handles of this mount are open for writing.
        ///   - patience: the time to watch an unchanged file without a result.
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
        /// With the nodes that must stay in memory meanwhile: the file's, and those of the directories above it.
        var watched: [UInt64: (node: Node, turn: UInt64, held: [Node])] = [:]
        var turns: UInt64 = 0
    }

    private let state = RankedMutex(State())

    /// Starts the watch of a file, or starts it again.
    /// - Returns: the number of the turn, which ends the earlier ones; and whether the file was not watched before.
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
    /// - Returns: the held nodes; nil if there is a later turn, or none.
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
