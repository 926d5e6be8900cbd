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
        /// The numbers of the programs that processes were before they ran others.
        var former: [ActorRef: [ActorNumber]] = [:]
        /// The programs that have not ended.
        var running: Set<ActorNumber> = []
        var relations: [ActorNumber: Kin.Relation] = [:]
        var programs: [String: UInt32] = [:]
        /// The last number of a requester of whom nothing is known.
        var stranger: UInt64

        mutating func program(_ name: String) -> UInt32? {
            guard !name.isEmpty else { return nil }
            let program = programs[name] ?? UInt32(programs.count)
            programs[name] = program
            return program
        }
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
        let known = state.withLock { state -> (number: ActorNumber, isSame: Bool)? in
            guard let number = state.numbers[actor.ref], let relation = state.relations[number] else { return nil }
            let program = state.program(requester.author.program)
            if program == nil || program == relation.program { return (number, true) }
            // It has asked before, for what it is asked about still.
            let former = state.former[actor.ref]?.last { state.relations[$0]?.program == program }
            return former.map { ($0, true) } ?? (number, false)
        }
        if let known {
            return try known.isSame ? known.number : become(requester.author, actor.ref, after: known.number)
        }
        var lineage: [ActorNumber] = []
        for ancestor in actor.lineage { lineage.append(try number(of: ancestor, callers.author(of: ancestor))) }
        let number = try number(of: actor.ref, requester.author)
        state.withLock { state in
            state.relations[number] = Kin.Relation(
                actor: number, lineage: lineage, program: state.program(requester.author.program),
                endsAtTerminal: actor.endsAtTerminal)
        }
        return number
    }

    /// A process that has become another program by execve(2), as a shell's child does behind its redirections. To the
    /// rules that has the same parent, and goes on with what the former one has done.
    private func become(_ author: Author, _ ref: ActorRef, after former: ActorNumber) throws(Errno) -> ActorNumber {
        let number = try number(of: ActorFacts(author: author, started: ref.started))
        state.withLock { state in
            guard state.numbers[ref] == former else { return }
            state.numbers[ref] = number
            state.former[ref, default: []].append(former)
            state.running.remove(former)
            state.running.insert(number)
            guard state.relations[number] == nil, var relation = state.relations[former] else { return }
            relation.actor = number
            relation.lineage.insert(former, at: min(1, relation.lineage.count))
            relation.program = state.program(author.program)
            state.relations[number] = relation
        }
        return number
    }

    private func number(of ref: ActorRef, _ author: @autoclosure () -> Author) throws(Errno) -> ActorNumber {
        if let known = state.withLock({ $0.numbers[ref] }) { return known }
        let number = try number(of: ActorFacts(author: author(), started: ref.started))
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
        return try number(of: ActorFacts(author: author, started: occasion))
    }

    private func number(of actor: ActorFacts) throws(Errno) -> ActorNumber {
        do throws(StoreError) { return try facts.number(of: actor) } catch { throw .ioError }
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

    /// To which programs it matters what these have seen. An ancestor that has ended counts as long as another program
    /// that it has started runs. Called with locks held.
    func audiences(of programs: [ActorNumber]) -> [ActorNumber: Audience] {
        state.withLock { state in
            var acting = state.running
            for program in state.running { acting.formUnion(state.relations[program]?.lineage ?? []) }
            var audiences: [ActorNumber: Audience] = [:]
            for program in programs {
                let lineage = state.relations[program]?.lineage ?? []
                audiences[program] = Audience(
                    mayAct: acting.contains(program), ancestors: lineage.filter(acting.contains))
            }
            return audiences
        }
    }

    /// A process has ended. Its number stays its own, and is not asked for any more.
    func ended(_ ref: ActorRef) {
        state.withLock { state in
            if let number = state.numbers.removeValue(forKey: ref) { state.running.remove(number) }
            state.former[ref] = nil
        }
    }
}
