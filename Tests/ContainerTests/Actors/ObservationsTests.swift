// What makes the base of a save: own, lent, taken back, forgotten, and carried over a remount.

import Container
import Testing
import VersionModel

private let second: Int64 = 1_000_000_000
private func ref(_ number: Int32) -> ActorRef { ActorRef(process: number, started: UInt64(number)) }
private func version(_ number: UInt64) -> VersionID { VersionID(high: 1, low: number) }
private func item(_ number: UInt64) -> ItemID { ItemID(high: 2, low: number) }
private let document = item(1)
private let shell = FileActor(ref(10))
private let cat = FileActor(ref(11), lineage: [shell.ref])
private let sed = FileActor(ref(12), lineage: [shell.ref])
private let editor = FileActor(ref(20))

@Suite("Observations")
struct ObservationsTests {
    private var observations = Observations()

    private func base(_ actor: FileActor, at time: Int64 = 0) -> VersionID? {
        observations.base(of: document, for: actor, now: time)
    }

    @Test("the base is the newest of what an actor saw itself and what was lent to it")
    mutating func ownAndLent() {
        #expect(base(shell) == nil)
        observations.record(.read, of: document, version: version(1), by: shell, now: 0)
        #expect(base(shell) == version(1))
        observations.record(.read, of: document, version: version(2), by: cat, now: 0)
        #expect(base(shell) == version(2))
        observations.record(.save, of: document, version: version(3), by: shell, now: 0)
        #expect(base(shell) == version(3))
        #expect(base(cat) == version(2))
        #expect(base(editor) == nil)
    }

    @Test("what is lent to an ancestor serves its other descendants for 15 minutes")
    mutating func siblings() {
        observations.record(.read, of: document, version: version(1), by: cat, now: 0)
        #expect(base(sed, at: 900 * second) == version(1))
        #expect(base(sed, at: 900 * second + 1) == nil)
        #expect(base(shell, at: 9000 * second) == version(1), "lent to itself it does not age")
        observations.record(.read, of: document, version: version(2), by: shell, now: 0)
        #expect(base(sed) == version(1), "an ancestor's own observations are not lent downwards")
    }

    @Test("the nearest ancestor that something was lent to decides; one whose time is up does not stand in the way")
    mutating func nearest() {
        let outer = ref(5)
        let inner = ref(6)
        let one = FileActor(ref(7), lineage: [outer])
        let two = FileActor(ref(8), lineage: [inner, outer])
        let three = FileActor(ref(9), lineage: [inner, outer])
        observations.record(.read, of: document, version: version(1), by: two, now: 0)
        observations.record(.read, of: document, version: version(2), by: one, now: 600 * second)
        #expect(base(three, at: 600 * second) == version(1))
        #expect(base(three, at: 1200 * second) == version(2))
    }

    @Test("a read for a backup is taken back, from the lineage too, and what was known before counts again")
    mutating func backups() {
        observations.record(.read, of: document, version: version(1), by: cat, now: 0)
        observations.record(.read, of: document, version: version(2), by: cat, now: 1)
        observations.retractLastRead(of: document, by: cat)
        #expect(base(cat) == version(1))
        #expect(base(shell) == version(1))
        observations.record(.save, of: document, version: version(3), by: cat, now: 2)
        observations.retractLastRead(of: document, by: cat)
        #expect(base(cat) == version(3), "a save is not taken back")
    }

    @Test("taking back one's read leaves what another lent meanwhile")
    mutating func backupsOfTwo() {
        observations.record(.read, of: document, version: version(1), by: cat, now: 0)
        observations.record(.read, of: document, version: version(2), by: sed, now: 1)
        observations.retractLastRead(of: document, by: cat)
        #expect(base(shell) == version(2))
        observations.retractLastRead(of: document, by: sed)
        #expect(base(shell) == nil)
        #expect(observations.estimatedSize == 0)
    }

    @Test("who unlinked the name itself has no base until it sees the item again")
    mutating func unlinked() {
        observations.noBase(for: document, by: sed, now: 0)
        observations.record(.read, of: document, version: version(1), by: cat, now: 0)
        #expect(base(sed) == nil)
        #expect(base(shell) == version(1))
        observations.record(.read, of: document, version: version(2), by: sed, now: 1)
        observations.noBase(for: document, by: sed, now: 2)
        #expect(base(sed) == nil)
        observations.record(.save, of: document, version: version(3), by: sed, now: 3)
        #expect(base(sed) == version(3))
        observations.noBase(for: document, by: editor, now: 4)
        observations.record(.read, of: document, version: version(4), by: editor, now: 5)
        observations.retractLastRead(of: document, by: editor)
        #expect(base(editor) == nil, "there was nothing before but blindness")
    }

    @Test("an ended process leaves what it lent, and what was lent to it for 15 minutes")
    mutating func exits() {
        observations.record(.read, of: document, version: version(1), by: cat, now: 0)
        observations.exited(cat.ref, now: 1)
        #expect(base(cat) == version(1), "by way of the shell")
        #expect(base(shell) == version(1))
        observations.exited(shell.ref, now: 2)
        #expect(base(sed) == version(1))
        observations.record(.read, of: item(9), version: version(9), by: editor, now: 1000 * second)
        #expect(observations.bases == [version(9)])
        observations.exited(editor.ref, now: 1000 * second)
        #expect(observations.estimatedSize == 0)
    }

    @Test("beyond the limit the oldest go first")
    func bound() {
        var observations = Observations(limit: 100_000)
        for number in 0..<5000 as Range<UInt64> {
            observations.record(.read, of: item(number), version: version(number), by: cat, now: Int64(number))
            observations.record(.read, of: item(7), version: version(number), by: editor, now: Int64(number))
            #expect(observations.estimatedSize <= 100_000)
        }
        #expect(observations.base(of: item(4999), for: cat, now: 5000) == version(4999))
        #expect(observations.base(of: item(4999), for: sed, now: 5000) == version(4999))
        #expect(observations.base(of: item(7), for: editor, now: 5000) == version(4999))
        #expect(observations.base(of: item(6), for: cat, now: 5000) == nil)
    }

    @Test("they survive a remount for processes that live, and damage is refused")
    mutating func remount() throws {
        for number in 0..<20 as Range<UInt64> {
            let actor = [cat, sed, shell, editor][Int(number % 4)]
            observations.record(
                number % 3 == 0 ? .save : .read, of: item(number % 5), version: version(number), by: actor, now: 1)
        }
        observations.noBase(for: item(3), by: editor, now: 2)
        let boot: [UInt8] = [1, 2, 3]
        let bytes = observations.exported(boot: boot)
        var again = try #require(Observations(imported: bytes, boot: boot) { $0 != cat.ref })
        observations.exited(cat.ref, now: 3)
        for actor in [sed, shell, editor] {
            for number in 0..<5 as Range<UInt64> {
                let expected = observations.base(of: item(number), for: actor, now: 4)
                #expect(again.base(of: item(number), for: actor, now: 4) == expected)
                observations.retractLastRead(of: item(number), by: actor)
                again.retractLastRead(of: item(number), by: actor)
                #expect(
                    again.base(of: item(number), for: actor, now: 4)
                        == observations.base(of: item(number), for: actor, now: 4))
            }
        }
        #expect(again.estimatedSize == observations.estimatedSize)
        #expect(Observations(imported: bytes, boot: [9], isAlive: { _ in true }) == nil)
        for length in 0..<bytes.count {
            #expect(Observations(imported: Array(bytes.prefix(length)), boot: boot, isAlive: { _ in true }) == nil)
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] = ~damaged[index]
            _ = Observations(imported: damaged, boot: boot) { _ in true }
        }
    }

    @Test("under random use, own observations answer like a plain list of what happened")
    func random() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = Generator(state: seed)
        let actors = [shell, cat, sed, editor]
        var observations = Observations()
        var log: [(actor: FileActor, item: ItemID, version: VersionID)] = []
        for step in 0..<3000 as Range<UInt64> {
            let actor = actors.randomElement(using: &generator) ?? shell
            let item = item(UInt64.random(in: 0..<6, using: &generator))
            if Bool.random(using: &generator) {
                observations.record(.read, of: item, version: version(step), by: actor, now: 0)
                log.append((actor, item, version(step)))
            } else {
                let own = log.last {
                    $0.item == item && ($0.actor == actor || $0.actor.lineage.contains(actor.ref))
                }
                let lent = log.last { entry in
                    entry.item == item && actor.lineage.contains { entry.actor.lineage.contains($0) }
                }
                let expected = (own ?? lent)?.version
                #expect(observations.base(of: item, for: actor, now: 0) == expected, "seed \(seed)")
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
