import Lineage
import VersionModel

/// Visits every world that a number of moves leads to, breadth first, so that the first counterexample is the shortest.
public struct Enumerator: Sendable {
    public var rules: Rules
    public var depth: Int
    /// Whole saves instead of single calls.
    public var isWhole: Bool
    /// How many threads visit worlds.
    public var width: Int

    public init(rules: Rules, depth: Int, isWhole: Bool = false, width: Int = 2) {
        self.rules = rules
        self.depth = depth
        self.isWhole = isWhole
        self.width = width
    }

    private let checkedCuts = CheckedCuts()

    /// What a run has found.
    public struct Outcome: Sendable {
        public var states = 1
        public var transitions = 0
        /// New states at each depth.
        public var levels: [Int] = []
        public var counterexample: Counterexample?
    }

    /// The shortest way to a violation.
    public struct Counterexample: CustomStringConvertible, Sendable {
        public var moves: [Move]
        public var violation: Violation

        public var description: String {
            moves.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n") + "\n" + violation.description
        }
    }

    /// A world that is still to be left, and the way to it.
    struct Visited: Sendable {
        var signature: Signature
        var world: World?
        var moves: [Move]
    }

    /// What one thread has found at one depth.
    struct Share: Sendable {
        var visited: [Visited] = []
        var transitions = 0
        var counterexample: Counterexample?
    }

    /// Visits all worlds, from one with two documents on.
    /// - Parameters:
    ///   - report: is told after each depth.
    public func run(report: (Int, Outcome) -> Void = { _, _ in }) async -> Outcome {
        var outcome = Outcome()
        let start: World
        do throws(Violation) { start = try World.start(rules) } catch {
            outcome.counterexample = Counterexample(moves: [], violation: error)
            return outcome
        }
        var seen: Set<Signature> = [start.signature]
        var frontier = [Visited(signature: start.signature, world: start, moves: [])]
        for level in 1...depth {
            let shares = await visit(frontier, seen: seen, isLast: level == depth)
            frontier = []
            var new = 0
            for share in shares {
                outcome.transitions += share.transitions
                outcome.counterexample = outcome.counterexample ?? share.counterexample
                for visited in share.visited where seen.insert(visited.signature).inserted {
                    new += 1
                    if visited.world != nil { frontier.append(visited) }
                }
            }
            outcome.states += new
            outcome.levels.append(new)
            report(level, outcome)
            if outcome.counterexample != nil { break }
        }
        return outcome
    }

    /// All moves from all worlds of one depth, by several threads. Their shares are in the order of the worlds, so that
    /// the outcome does not depend on the threads.
    private func visit(_ frontier: [Visited], seen: Set<Signature>, isLast: Bool) async -> [Share] {
        // Small pieces, so that no thread waits long for the others.
        let size = max(1, min(4096, frontier.count / (width * 4)))
        let pieces = stride(from: 0, to: frontier.count, by: size).map { frontier[$0..<min($0 + size, frontier.count)] }
        return await withTaskGroup(of: (Int, Share).self) { group in
            var shares = [Share?](repeating: nil, count: pieces.count)
            for (index, piece) in pieces.enumerated() {
                if index >= width, let (done, share) = await group.next() { shares[done] = share }
                group.addTask { (index, leave(piece, seen: seen, isLast: isLast)) }
            }
            for await (done, share) in group { shares[done] = share }
            return shares.compactMap { $0 }
        }
    }

    private func leave(_ piece: ArraySlice<Visited>, seen: Set<Signature>, isLast: Bool) -> Share {
        var share = Share()
        var own: Set<Signature> = []
        for visited in piece {
            guard let world = visited.world else { continue }
            for moves in moves(in: world) {
                share.transitions += 1
                var next = world
                do throws(Violation) {
                    for move in moves { next = try next.performing(move, rules) }
                } catch {
                    let counterexample = Counterexample(moves: visited.moves + moves, violation: error)
                    share.counterexample = share.counterexample ?? counterexample
                    continue
                }
                let signature = next.signature(withDeleted: isWhole)
                guard !seen.contains(signature), own.insert(signature).inserted else { continue }
                if rules.cuts {
                    do throws(Violation) {
                        let former = moves.contains(.age) ? 0 : world.unsynchronized.count
                        try next.checkCuts("after \(moves)", former: former, checkedCuts)
                    } catch {
                        let counterexample = Counterexample(moves: visited.moves + moves, violation: error)
                        share.counterexample = share.counterexample ?? counterexample
                        continue
                    }
                }
                share.visited.append(
                    Visited(
                        signature: signature, world: isLast ? nil : next, moves: isLast ? [] : visited.moves + moves))
            }
        }
        return share
    }

    private func moves(in world: World) -> [[Move]] {
        isWhole ? world.wholeMoves(actors: rules.actors) : world.moves(actors: rules.actors, .calls).map { [$0] }
    }
}
