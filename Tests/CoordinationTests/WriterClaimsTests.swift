// Which opens of plain programs wait for whom, and that none waits for ever.

import Coordination
import Testing
import VersionModel

private let document = ItemID(high: 0, low: 1)
private func ref(_ number: Int32) -> ActorRef { ActorRef(process: number, started: UInt64(number)) }
private let editor = FileActor(ref(1))
private let agent = FileActor(ref(2))
private let third = FileActor(ref(3))
private let child = FileActor(ref(4), lineage: [editor.ref])
private let ms: Int64 = 1_000_000
private func id(_ number: UInt64) -> ClaimID { ClaimID(number) }
private typealias Resumption = WriterClaims.Resumption

@Suite("Claims of plain programs")
struct WriterClaimsTests {
    private var claims = WriterClaims()

    private mutating func open(_ number: UInt64, _ actor: FileActor?, truncates: Bool = true, at now: Int64 = 0)
        -> WriterClaims.Admission
    {
        claims.open(id(number), item: document, actor: actor, truncates: truncates, now: now)
    }

    @Test("a second replacement waits until the first is closed")
    mutating func waits() {
        #expect(open(1, editor) == .granted)
        #expect(open(2, agent) == .parked(until: 2000 * ms))
        #expect(claims.closed(id(1), now: 5 * ms) == [Resumption(id: id(2), reason: .free)])
        #expect(claims.closed(id(2), now: 6 * ms) == [])
        #expect(claims.isEmpty)
        #expect(claims.nextDeadline == nil)
    }

    @Test("who has waited elsewhere waits no longer than until then") mutating func waitedElsewhere() {
        #expect(open(1, editor) == .granted)
        let admission = claims.open(
            id(2), item: document, actor: agent, truncates: true, until: 300 * ms, now: 100 * ms)
        #expect(admission == .parked(until: 300 * ms))
        claims.changed(document, at: 250 * ms)
        #expect(claims.tick(now: 300 * ms) == [Resumption(id: id(2), reason: .timeout)])
        // A time that is over does not count as none.
        #expect(
            claims.open(id(3), item: document, actor: third, truncates: true, until: 0, now: 400 * ms)
                == .parked(until: 400 * ms))
    }

    @Test("the maker of a file is waited for, and one that may share it by those alone that would truncate it")
    mutating func created() {
        claims.created(id(1), item: document, actor: editor, sharing: false, now: 0)
        #expect(open(2, agent) == .parked(until: 2000 * ms))
        #expect(open(3, third, truncates: false) == .parked(until: 2000 * ms))
        #expect(claims.closed(id(1), now: ms).map(\.id) == [id(2)])
        _ = claims.closed(id(2), now: ms)
        _ = claims.closed(id(3), now: ms)
        #expect(claims.isEmpty)
        claims.created(id(4), item: document, actor: editor, sharing: true, now: 0)
        #expect(open(5, agent, truncates: false) == .granted)
        #expect(open(6, third) == .parked(until: 2000 * ms))
        #expect(open(7, child) == .granted)
    }

    @Test("the matrix", arguments: PlainClaimKind.allCases, PlainClaimKind.allCases)
    func matrix(earlier: PlainClaimKind, later: PlainClaimKind) {
        func claim(_ kind: PlainClaimKind, _ actor: FileActor?, item: ItemID = document) -> PlainClaim {
            PlainClaim(id: id(0), kind: kind, item: item, actor: actor)
        }
        let expected = earlier == .replacing || later == .replacing
        #expect(PlainClaim.blocks(claim(earlier, editor), claim(later, agent)) == expected)
        #expect(PlainClaim.blocks(claim(earlier, nil), claim(later, nil)) == expected)
        #expect(!PlainClaim.blocks(claim(earlier, editor), claim(later, child)))
        #expect(!PlainClaim.blocks(claim(earlier, child), claim(later, editor)))
        #expect(!PlainClaim.blocks(claim(earlier, editor), claim(later, agent, item: ItemID(high: 0, low: 2))))
    }

    @Test("writers in place share, and make no claim while nobody replaces")
    mutating func inPlace() {
        #expect(open(1, editor, truncates: false) == .granted)
        #expect(open(2, agent, truncates: false) == .granted)
        #expect(claims.isEmpty)
        #expect(open(3, editor) == .granted)
        #expect(open(4, agent, truncates: false) == .parked(until: 2000 * ms))
        #expect(open(5, third, truncates: false) == .parked(until: 2000 * ms))
        #expect(claims.closed(id(3), now: 0).map(\.id) == [id(4), id(5)])
    }

    @Test("one's own process, children and ancestors are never held up, not even behind strangers")
    mutating func kin() {
        #expect(open(1, editor) == .granted)
        #expect(open(2, agent) == .parked(until: 2000 * ms))
        #expect(open(3, child) == .granted)
        #expect(open(4, editor) == .granted)
        #expect(claims.closed(id(1), now: 0) == [])
        #expect(claims.closed(id(3), now: 0) == [])
        #expect(claims.closed(id(4), now: 0) == [Resumption(id: id(2), reason: .free)])
    }

    @Test("a claim lapses when its file has not changed for 200 ms")
    mutating func lapses() {
        #expect(open(1, editor) == .granted)
        #expect(open(2, agent, at: 100 * ms) == .parked(until: 2100 * ms))
        #expect(claims.nextDeadline == 200 * ms)
        #expect(claims.contestedItems == [document])
        claims.changed(document, at: 150 * ms)
        #expect(claims.tick(now: 200 * ms) == [])
        #expect(claims.nextDeadline == 350 * ms)
        #expect(claims.tick(now: 350 * ms) == [Resumption(id: id(2), reason: .free)])
        #expect(claims.closed(id(1), now: 351 * ms) == [])
        #expect(open(3, third, at: 600 * ms) == .granted, "the second has lapsed too")
    }

    @Test("a wait ends after two seconds, whatever the holder does")
    mutating func timeout() {
        #expect(open(1, editor) == .granted)
        #expect(open(2, agent) == .parked(until: 2000 * ms))
        for now in stride(from: Int64(100), to: 2000, by: 100) {
            claims.changed(document, at: now * ms)
            #expect(claims.tick(now: now * ms) == [])
        }
        claims.changed(document, at: 2000 * ms)
        #expect(claims.tick(now: 2000 * ms) == [Resumption(id: id(2), reason: .timeout)])
    }

    @Test("first come, first served, and nobody barges in")
    mutating func order() {
        #expect(open(1, editor) == .granted)
        #expect(open(2, agent, at: 1) == .parked(until: 2000 * ms + 1))
        #expect(open(3, third, at: 2) == .parked(until: 2000 * ms + 2))
        #expect(claims.closed(id(1), now: 3).map(\.id) == [id(2)])
        #expect(open(4, editor, at: 4) == .parked(until: 2000 * ms + 4))
        #expect(claims.closed(id(2), now: 5).map(\.id) == [id(3)])
        #expect(claims.closed(id(3), now: 6).map(\.id) == [id(4)])
    }

    @Test("a handled signal lets an open go on; a fatal one takes it out, and those behind it move up")
    mutating func interrupts() {
        #expect(open(1, editor) == .granted)
        _ = open(2, agent)
        _ = open(3, third)
        #expect(claims.interrupted(id(3), isFatal: false, now: 1) == [Resumption(id: id(3), reason: .interrupted)])
        #expect(claims.interrupted(id(2), isFatal: true, now: 2) == [])
        #expect(claims.interrupted(id(1), isFatal: true, now: 2) == [], "it does not wait")
        #expect(claims.closed(id(1), now: 3) == [])
        #expect(claims.closed(id(3), now: 4) == [])
        #expect(claims.isEmpty)
    }

    @Test("a truncation of an open file claims it without waiting")
    mutating func truncation() {
        #expect(open(1, editor, truncates: false) == .granted)
        claims.truncated(id(1), item: document, actor: editor, now: 0)
        #expect(open(2, agent, truncates: false) == .parked(until: 2000 * ms))
        #expect(claims.closed(id(1), now: 1).map(\.id) == [id(2)])
    }

    @Test("under random use nobody is forgotten, overtaken, or shut in with a stranger", arguments: 0..<40)
    func random(round: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var run = RandomRun(seed: seed)
        for _ in 0..<600 { run.step() }
        run.drain()
        #expect(run.faults == [], "seed \(seed)")
        #expect(run.waits > 20, "the run never got interesting, seed \(seed)")
    }
}

/// A random run of the machine beside plain records of what was answered.
private struct RandomRun {
    private var generator: Generator
    private var claims = WriterClaims()
    private var now: Int64 = 0
    private var next: UInt64 = 1
    private var open: [UInt64: (actor: FileActor, item: ItemID, truncates: Bool)] = [:]
    private var parked: [UInt64: Int64] = [:]
    private var excused: Set<UInt64> = []
    private(set) var faults: [String] = []
    private(set) var waits = 0
    private let actors = [editor, agent, third, child]

    init(seed: UInt64) { generator = Generator(state: seed) }

    mutating func step() {
        now += Int64.random(in: 0...(40 * ms), using: &generator)
        if let deadline = claims.nextDeadline, deadline <= now {
            for item in claims.contestedItems where Bool.random(using: &generator) { claims.changed(item, at: now) }
            take(claims.tick(now: now))
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: openOne()
        case 5..<8:
            let running = open.keys.filter { parked[$0] == nil }.sorted()
            guard let closing = running.randomElement(using: &generator) else { return }
            open[closing] = nil
            take(claims.closed(id(closing), now: now))
        case 8:
            guard let number = parked.keys.sorted().randomElement(using: &generator) else { return }
            let isFatal = Bool.random(using: &generator)
            if isFatal { (parked[number], open[number]) = (nil, nil) }
            excused.insert(number)
            take(claims.interrupted(id(number), isFatal: isFatal, now: now))
        default: claims.changed(document, at: now)
        }
        check()
    }

    /// Time goes on until nobody waits.
    mutating func drain() {
        for _ in 0..<1000 {
            guard let deadline = claims.nextDeadline else { break }
            now = max(now, deadline)
            take(claims.tick(now: now))
        }
        if !parked.isEmpty { faults.append("forgotten: \(parked.keys.sorted())") }
        for number in open.keys.sorted() { _ = claims.closed(id(number), now: now) }
        take(claims.tick(now: now + 10_000 * ms))
        if !claims.isEmpty { faults.append("something is left") }
    }

    private mutating func openOne() {
        guard let actor = actors.randomElement(using: &generator) else { return }
        let item = ItemID(high: 0, low: UInt64.random(in: 1...2, using: &generator))
        let truncates = Int.random(in: 0..<3, using: &generator) > 0
        let number = next
        next += 1
        open[number] = (actor, item, truncates)
        switch claims.open(id(number), item: item, actor: actor, truncates: truncates, now: now) {
        case .granted: break
        case .parked(let until):
            waits += 1
            parked[number] = until
            if until != now + 2000 * ms { faults.append("waits until \(until)") }
        }
    }

    private mutating func take(_ resumptions: [Resumption]) {
        for resumption in resumptions {
            let number = resumption.id.number
            guard let until = parked.removeValue(forKey: number) else {
                faults.append("\(number) went on without having waited")
                continue
            }
            if resumption.reason == .timeout {
                if until > now { faults.append("\(number) gave up too early") }
                excused.insert(number)
            }
            guard resumption.reason == .free, let one = open[number] else { continue }
            let overtaken = parked.keys.filter { earlier in
                guard earlier < number, let other = open[earlier], other.item == one.item else { return false }
                return (one.truncates || other.truncates) && !other.actor.isKin(of: one.actor)
            }
            let hasKin = claims.claims(on: one.item).held.contains { held in
                held.id != resumption.id && held.actor.map { $0.isKin(of: one.actor) } ?? false
            }
            if !overtaken.isEmpty, !hasKin { faults.append("\(number) overtook \(overtaken)") }
        }
    }

    private mutating func check() {
        for (number, until) in parked where until < now && claims.nextDeadline.map({ $0 > now }) ?? true {
            faults.append("\(number) should have gone on at \(until)")
        }
        for item in (1...2 as ClosedRange<UInt64>).map({ ItemID(high: 0, low: $0) }) {
            let (held, waiting) = claims.claims(on: item)
            if let first = waiting.first, !held.contains(where: { PlainClaim.blocks($0, first) }),
                claims.nextDeadline.map({ $0 > now }) ?? true
            {
                faults.append("\(first.id) waits for nothing")
            }
            let replacing = held.filter { $0.kind == .replacing && !excused.contains($0.id.number) }
            for (index, one) in replacing.enumerated() {
                for other in replacing.dropFirst(index + 1) where !PlainClaim.areKin(one, other) {
                    faults.append("\(one.id) and \(other.id) replace at once")
                }
            }
        }
    }
}

private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
