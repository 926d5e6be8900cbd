// The table of DESIGN 6.1 row by row, all inputs of a small universe, and a search over short histories.

import Testing
import VersionModel

private let shell = ActorRef(process: 10, started: 1)
private let editor = FileActor(ActorRef(process: 11, started: 2))
private let agent = FileActor(ActorRef(process: 12, started: 3))
private let cat = FileActor(ActorRef(process: 13, started: 4), lineage: [shell])
private let sed = FileActor(ActorRef(process: 14, started: 5), lineage: [shell])
private let bash = FileActor(shell)
private func version(_ number: UInt64) -> VersionID { VersionID(high: 0, low: number) }
private let current = version(1)
private let older = version(2)

private func decide(
    _ kind: Save.Kind = .replacing, by actor: FileActor? = editor, base: VersionID?, equal: Bool = false,
    leftOut: Bool = false, saver: FileActor? = agent, quiet: Bool = false
) -> SaveDecision {
    let save = Save(
        kind: kind, actor: actor, base: base, equalsCurrent: equal, isLoserLeftOut: leftOut)
    return SaveRule.decide(save, current: current, saver: saver, isQuiet: quiet)
}

@Suite("The rule for saves on one device")
struct SaveRuleTests {
    @Test("each row of the table gives its result")
    func table() {
        #expect(decide(base: nil) == .supersede)
        #expect(decide(base: current) == .supersede)
        #expect(decide(base: older, equal: true) == .nothing)
        #expect(decide(base: older, saver: editor) == .supersede)
        #expect(decide(by: sed, base: older, saver: bash) == .supersede)
        #expect(decide(by: bash, base: older, saver: sed) == .supersede)
        #expect(decide(base: older, quiet: true) == .supersede)
        #expect(decide(base: older) == .conflict(base: older))
        #expect(decide(base: older, saver: nil) == .conflict(base: older))
        #expect(decide(by: nil, base: older) == .conflict(base: older))
        #expect(decide(.appendOrInPlace, base: older) == .supersede)
        #expect(decide(.appendOrInPlace, base: older, equal: true) == .nothing)
    }

    @Test("siblings under one shell are not each other's lineage")
    func siblings() {
        #expect(decide(by: sed, base: older, saver: cat) == .conflict(base: older))
    }

    @Test("a process that reuses a number is another actor")
    func reusedNumber() {
        let reused = FileActor(ActorRef(process: 11, started: 99))
        #expect(decide(by: reused, base: older, saver: editor) == .conflict(base: older))
    }

    @Test("a content that is the base's, or another loser's, does not lose a second time")
    func losesOnce() {
        #expect(decide(base: older, leftOut: true) == .supersede)
        #expect(decide(.orphaned, base: older, leftOut: true) == .orphan(as: .history, base: older))
    }

    @Test("a loser is left out for the base and for unresolved losers, and for no older version", arguments: [
        (VersionKind.history, false, false), (.history, true, true), (.current, false, false), (.current, true, true),
        (.conflict, false, true), (.conflict, true, true),
    ])
    func leftOut(_ kind: VersionKind, isBase: Bool, isLeftOut: Bool) {
        let now = Timestamp(nanoseconds: 1)
        let other = Version(
            id: older, item: .random(), kind: kind, content: .random(), size: 1, modified: now, saved: now,
            time: HybridTime(wall: now, logical: 0), device: .random(),
            author: Author(userID: 0, user: "", program: "", process: 0),
            attributes: Attributes(mode: 0o644, owner: 0, group: 0))
        let base = isBase ? older : version(3)
        #expect(SaveRule.isLeftOut(current, besides: other, base: base) == isLeftOut)
        #expect(!SaveRule.isLeftOut(older, besides: other, base: base), "it does not stand in for itself")
    }

    @Test("who has seen what came after the current version is not stale")
    func baseFollows() {
        func decide(_ kind: Save.Kind) -> SaveDecision {
            let save = Save(kind: kind, actor: editor, base: older, equalsCurrent: false, baseFollowsCurrent: true)
            return SaveRule.decide(save, current: current, saver: agent, isQuiet: false)
        }
        #expect(decide(.replacing) == .supersede)
        #expect(decide(.orphaned) == .orphan(as: .history, base: older))
    }

    @Test("a save whose name was taken is kept beside the current version")
    func orphans() {
        #expect(decide(.orphaned, base: older) == .orphan(as: .conflict, base: older))
        #expect(decide(.orphaned, base: nil) == .orphan(as: .history, base: nil))
        #expect(decide(.orphaned, base: current) == .orphan(as: .history, base: current))
        #expect(decide(.orphaned, base: older, saver: editor) == .orphan(as: .history, base: older))
        #expect(decide(.orphaned, base: older, quiet: true) == .orphan(as: .history, base: older))
        #expect(decide(.orphaned, base: older, equal: true) == .nothing)
    }

    @Test("over all inputs, bytes are kept, and a conflict has every one of its reasons")
    func everyInput() {
        let actors: [FileActor?] = [nil, editor, agent, cat, sed, bash]
        for kind in Save.Kind.allCases {
            for actor in actors {
                for saver in actors {
                    for base in [nil, current, older] {
                        for bits in 0..<8 {
                            let flags = (equal: bits & 1 != 0, quiet: bits & 2 != 0, leftOut: bits & 4 != 0)
                            let decision = decide(
                                kind, by: actor, base: base, equal: flags.equal, leftOut: flags.leftOut,
                                saver: saver, quiet: flags.quiet)
                            let kin = actor.flatMap { one in saver.map { one.isKin(of: $0) } } ?? false
                            let rivals = base == older && !kin && !flags.quiet && !flags.leftOut
                            #expect((decision == .nothing) == flags.equal)
                            if flags.equal { continue }
                            switch decision {
                            case .nothing: Issue.record("a differing content was dropped")
                            case .supersede: #expect(kind == .appendOrInPlace || kind == .replacing && !rivals)
                            case .conflict(let of): #expect(kind == .replacing && rivals && of == older)
                            case .orphan(let kept, let of):
                                #expect(kind == .orphaned && of == base && (kept == .conflict) == rivals)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test("over all short histories, nothing is lost, one actor alone never conflicts, and losers stay few")
    func everyHistory() {
        let steps = [editor, agent].flatMap { actor in
            [History.Step.read(actor)] + (0..<3).map { .save(actor, content: $0) }
        }
        var pending: [[History.Step]] = [[]]
        var conflicts = 0
        while let taken = pending.popLast() {
            var history = History()
            taken.forEach { history.apply($0) }
            if taken.count < 5 { pending += steps.map { taken + [$0] } }
            let savers = Set(taken.compactMap(\.saver))
            #expect(history.saved.isSubset(of: Set(history.contents.values)), "\(taken)")
            #expect(savers.count > 1 || history.losers.isEmpty, "\(taken)")
            #expect(history.losers.count <= 1, "two rivals have one loser between them: \(taken)")
            conflicts += history.losers.isEmpty ? 0 : 1
        }
        #expect(conflicts > 0, "the search never met a conflict")
    }
}

/// An item's versions under a sequence of reads and saves, with the simplest observations: the last seen version.
private struct History {
    enum Step {
        case read(FileActor)
        case save(FileActor, content: Int)
        var saver: ActorRef? { if case .save(let actor, _) = self { actor.ref } else { nil } }
    }

    var contents = [version(0): -1]
    var saved: Set<Int> = []
    var losers: Set<VersionID> = []
    private var current = version(0)
    private var saver: FileActor?
    private var seen: [ActorRef: VersionID] = [:]

    mutating func apply(_ step: Step) {
        switch step {
        case .read(let actor): seen[actor.ref] = current
        case .save(let actor, let content):
            saved.insert(content)
            let base = seen[actor.ref]
            let standIns = losers.union(base.map { [$0] } ?? []).subtracting([current]).map { contents[$0] }
            let save = Save(
                kind: .replacing, actor: actor, base: base, equalsCurrent: contents[current] == content,
                isLoserLeftOut: standIns.contains(contents[current]))
            let decision = SaveRule.decide(save, current: current, saver: saver, isQuiet: false)
            if decision == .nothing { seen[actor.ref] = current; return }
            if case .conflict = decision { losers.insert(current) }
            if let base = SaveRule.settled(by: save, decision) { losers.remove(base) }
            current = version(UInt64(contents.count))
            contents[current] = content
            saver = actor
            seen[actor.ref] = current
        }
    }
}
