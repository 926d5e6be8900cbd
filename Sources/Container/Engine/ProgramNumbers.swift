// The numbers by which rules know programs, and how these are related.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Gives each process a number when it asks for something first. An ancestor gets one, too, because rules ask who
/// descends from whom.
final class ProgramNumbers: Sendable {
    private struct State {
        var numbers: [ActorRef: ActorNumber] = [:]
        /// The programs that have not ended.
        var running: Set<ActorNumber> = []
        var relations: [ActorNumber: Kin.Relation] = [:]
        var programs: [String: UInt32] = [:]
        /// The last number of a requester of whom nothing is known.
        var stranger: UInt64
    }

    private let facts: FactStore
    private let callers: Callers
    /// Innermost.
    private let state: RankedMutex<State>

    init(_ facts: FactStore, callers: Callers, clock: any WallClock) {
        (self.facts, self.callers) = (facts, callers)
        // Strangers of an earlier mount are others.
        state = RankedMutex(State(stranger: UInt64(clamping: clock.now().nanoseconds)))
    }

    /// The number of a program. Called before any lock is taken: a new number may wait for the catalog.
    func number(of requester: Requester) throws(Errno) -> ActorNumber {
        guard let actor = requester.actor else { return try stranger(requester.author) }
        // One that was seen as an ancestor first has a number, but no relations yet.
        let known = state.withLock { state in
            state.numbers[actor.ref].flatMap { state.relations[$0] == nil ? nil : $0 }
        }
        if let known { return known }
        var lineage: [ActorNumber] = []
        for ancestor in actor.lineage { lineage.append(try number(of: ancestor, callers.author(of: ancestor))) }
        let number = try number(of: actor.ref, requester.author)
        state.withLock { state in
            let name = requester.author.program
            let program = state.programs[name] ?? UInt32(state.programs.count)
            state.programs[name] = program
            state.relations[number] = Kin.Relation(
                actor: number, lineage: lineage, program: name.isEmpty ? nil : program,
                endsAtTerminal: actor.endsAtTerminal)
        }
        return number
    }

    private func number(of ref: ActorRef, _ author: @autoclosure () -> Author) throws(Errno) -> ActorNumber {
        if let known = state.withLock({ $0.numbers[ref] }) { return known }
        let number: ActorNumber
        do throws(StoreError) {
            number = try facts.number(of: ActorFacts(author: author(), started: ref.started))
        } catch { throw .ioError }
        state.withLock { state in
            state.numbers[ref] = number
            state.running.insert(number)
        }
        return number
    }

    /// A requester of whom nothing is known has no kin, itself on another occasion included.
    private func stranger(_ author: Author) throws(Errno) -> ActorNumber {
        let occasion = state.withLock { state -> UInt64 in
            state.stranger += 1
            return state.stranger
        }
        do throws(StoreError) {
            return try facts.number(of: ActorFacts(author: author, started: occasion))
        } catch { throw .ioError }
    }

    /// How programs are related. Called with locks held. One of whom nothing is known is as good as ended.
    func kin(of programs: [ActorNumber]) -> Kin {
        state.withLock { state in
            Kin(
                programs.map { program in
                    var relation = state.relations[program] ?? Kin.Relation(actor: program, lineage: [])
                    relation.hasEnded = !state.running.contains(program)
                    return relation
                })
        }
    }

    /// A process has ended. Its number stays its own, and is not asked for any more.
    func ended(_ ref: ActorRef) {
        state.withLock { state in
            if let number = state.numbers.removeValue(forKey: ref) { state.running.remove(number) }
        }
    }
}
