import Lineage
import VersionModel

/// Random moves of every kind: directories, undelete, purge, restore, truncation, unseen writing, and power cuts that
/// take the end of the facts along. Each round has its own seed, number of actors and selection of kinds.
public struct RandomWalk: Sendable {
    public var rounds: UInt64
    public var length: Int
    public var seed: UInt64
    /// Whether plans are made over a log, too (``Rules/hasLog``).
    public var hasLog: Bool

    public init(rounds: UInt64, length: Int, seed: UInt64, hasLog: Bool = false) {
        self.rounds = rounds
        self.length = length
        self.seed = seed
        self.hasLog = hasLog
    }

    public struct Outcome: Sendable {
        public var steps = 0
        public var counterexample: Enumerator.Counterexample?
        /// The seed of the round that failed.
        public var seed: UInt64?
    }

    public func run() -> Outcome {
        var outcome = Outcome()
        for round in 0..<rounds {
            var walk = Walk(seed: seed &+ round, hasLog)
            let moves = walk.moves(length)
            outcome.steps += moves.count
            guard walk.violation != nil else { continue }
            outcome.counterexample = walk.shortened(moves)
            outcome.seed = seed &+ round
            break
        }
        return outcome
    }
}

extension RandomWalk {
    /// The transactions of one round of moves, from a world with nothing in it.
    public static func transactions(seed: UInt64, length: Int) -> [World.Transaction] {
        var walk = Walk(seed: seed, false)
        walk.kinds = Array(0..<Move.countOfKinds)
        let rules = Rules(actors: 9, kills: false, showsAll: false)
        var world = World.empty()
        world.transactions = []
        for _ in 0..<length {
            guard let move = walk.move(in: world), let next = try? world.performing(move, rules) else { continue }
            world = next
        }
        return world.transactions ?? []
    }
}

extension RandomWalk {
    /// What one round of moves does, from a world with nothing in it.
    /// - Parameter isPublic: whether no program makes names up.
    public static func performed(seed: UInt64, length: Int, isPublic: Bool = false) -> [World.Performed] {
        var walk = Walk(seed: seed, false)
        // What an operation brings along is in no file of these worlds.
        walk.kinds = (0..<Move.countOfKinds).filter { $0 != Move.add(ActorNumber(0), World.x, isConflict: false).kind }
        let hasMadeUpNames = walk.rules.hasMadeUpNames && !isPublic
        let rules = Rules(actors: 9, hasMadeUpNames: hasMadeUpNames, kills: false, showsAll: false)
        var world = World.empty()
        world.performed = []
        for _ in 0..<length {
            guard let move = walk.move(in: world), let next = try? world.performing(move, rules) else { continue }
            world = next
        }
        return world.performed ?? []
    }
}

/// One round.
private struct Walk {
    var dice: Dice
    let actors: UInt32
    /// Whether the second name is quiet.
    private let isQuiet: Bool
    private(set) var rules: Rules
    var kinds: [Int]
    var violation: Violation?

    init(seed: UInt64, _ hasLog: Bool) {
        var dice = Dice(seed: seed)
        actors = UInt32(1 + dice.roll(3))
        let hasMadeUpNames = dice.roll(2) == 1
        let (kills, powerCuts) = (dice.roll(4) == 0, dice.roll(4) == 0)
        let cuts = dice.roll(8) == 0
        isQuiet = dice.roll(4) == 0
        rules = Rules(
            actors: actors, hasMadeUpNames: hasMadeUpNames && !powerCuts, kills: kills, powerCuts: powerCuts,
            cuts: cuts, showsAll: actors == 1)
        rules.hasLog = hasLog
        var kinds = (0..<Move.countOfKinds).filter { _ in dice.roll(3) > 0 }
        if kinds.isEmpty { kinds = [0] }
        self.kinds = kinds
        self.dice = dice
    }

    /// Moves until the length, or until one that does harm.
    mutating func moves(_ length: Int) -> [Move] {
        guard var world = try? World.start(rules) else { return [] }
        if isQuiet { world.quiet = [World.y] }
        var moves: [Move] = []
        for _ in 0..<length {
            guard let move = move(in: world) else { continue }
            moves.append(move)
            do throws(Violation) { world = try world.afterCuts(move, rules) } catch {
                violation = error
                break
            }
        }
        return moves
    }

    /// A random move that is possible; nil if none is.
    mutating func move(in world: World) -> Move? {
        let possible = world.moves(actors: actors, .all).filter { $0.continuesWriting || kinds.contains($0.kind) }
        // A kind first, so that no kind drowns the others.
        let found = Set(possible.map(\.kind)).sorted()
        guard !found.isEmpty else { return nil }
        let kind = found[dice.roll(found.count)]
        let candidates = possible.filter { $0.kind == kind }
        let move = candidates[dice.roll(candidates.count)]
        return dice.roll(12) == 0 ? .refused(move) : move
    }

    /// As few of the moves as still do harm.
    func shortened(_ moves: [Move]) -> Enumerator.Counterexample? {
        guard var violation = harm(moves) else { return nil }
        var (shortest, index) = (moves, 0)
        while index < shortest.count {
            var fewer = shortest
            fewer.remove(at: index)
            if let other = harm(fewer) {
                (shortest, violation) = (fewer, other)
            } else {
                index += 1
            }
        }
        return Enumerator.Counterexample(moves: shortest, violation: violation)
    }

    private func harm(_ moves: [Move]) -> Violation? {
        guard var world = try? World.start(rules) else { return nil }
        if isQuiet { world.quiet = [World.y] }
        for move in moves where world.isPossible(move, actors: actors) {
            do throws(Violation) { world = try world.afterCuts(move, rules) } catch { return error }
        }
        return nil
    }
}

extension World {
    /// The world after a move, with power cuts if the rules have them.
    fileprivate func afterCuts(_ move: Move, _ rules: Rules) throws(Violation) -> World {
        let world = try performing(move, rules)
        if rules.cuts { try world.checkCuts("after \(move)", former: move == .age ? 0 : unsynchronized.count) }
        return world
    }

    fileprivate func isPossible(_ move: Move, actors: UInt32) -> Bool {
        if case .refused(let refused) = move { return isPossible(refused, actors: actors) }
        if case .restore(_, let place, let version, _) = move {
            return disk.hasFile(at: place) && facts[version] != nil
        }
        return moves(actors: actors, .all).contains(move)
    }
}
