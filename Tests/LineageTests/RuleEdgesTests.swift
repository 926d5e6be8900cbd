// Single plans that no world leads to.

import Lineage
import Testing
import VersionModel

@Suite("Edges of rules")
struct RuleEdgesTests {
    private let place = PlaceNumber(1)
    private let file = FileID(2)
    private let actor = ActorNumber(1)
    private let second: Int64 = 1_000_000_000

    /// A document with one version, whose file is at this generation and open for writing.
    private func scene(generation: UInt64 = 0, at seconds: Int64 = 0) -> Scene {
        var facts = Facts()
        let now = Timestamp(nanoseconds: seconds * second)
        let zero = Timestamp(nanoseconds: 0)
        let row = RowNumber(1)
        facts.apply(.row(NameRow(number: row, time: zero, place: place, file: file, how: .created, actor: actor)))
        let content = Fingerprint(size: 1, high: 0, low: 1)
        facts.apply(
            .version(
                VersionRow(
                    number: VersionNumber(2), time: zero, row: row,
                    content: Content(file: file, generation: generation),
                    fingerprint: content, file: file, modified: zero, author: actor)))
        var memory = Memory()
        memory.files = [
            LiveFile(
                id: file, fingerprint: content, modified: zero, isChanged: false, holds: VersionNumber(2),
                generation: generation)
        ]
        memory.handles = [
            Handle(
                number: HandleNumber(1), actor: actor, file: file, mode: .write, isUnseen: false, place: place,
                opened: RowNumber(3))
        ]
        return Scene(facts: facts, memory: memory, now: now, nextNumber: 3)
    }

    /// What the plan records, without a trap.
    private func plan(_ event: Event, in scene: Scene) -> [Fact] { Planning.plan(event, in: scene).facts }

    @Test("a file that follows the minute is not saved by its last release")
    func releasedForLater() {
        var scene = scene()
        scene.memory.files[0].isChanged = true
        scene.memory.files[0].fingerprint = Fingerprint(size: 1, high: 0, low: 7)
        scene.memory.handles[0].isDirty = true
        let later = Planning.plan(.release(HandleNumber(1), isLater: true), in: scene)
        #expect(later.facts.isEmpty && later.memory.files.first?.isChanged == true)
        #expect(plan(.release(HandleNumber(1)), in: scene).count == 1)
        // Without a name there is no later.
        scene.facts.apply(
            .row(NameRow(number: RowNumber(3), time: scene.now, place: place, file: nil, how: .removed, actor: actor)))
        scene.nextNumber = 4
        #expect(plan(.release(HandleNumber(1), isLater: true), in: scene).count == 1)
    }

    @Test("a file that is made from a version has its modification time")
    func modified() {
        var scene = scene(at: 100)
        scene.memory.handles = []
        let restored = Planning.plan(.restore(actor, place, VersionNumber(2), FileID(9)), in: scene)
        #expect(restored.memory[FileID(9)]?.modified == scene.facts.versions[0].modified)
        scene.facts.apply(
            .row(NameRow(number: RowNumber(3), time: scene.now, place: place, file: nil, how: .removed, actor: actor)))
        (scene.memory.files, scene.nextNumber) = ([], 4)
        let undeleted = Planning.plan(.undelete(actor, RowNumber(1), place, FileID(9)), in: scene)
        #expect(undeleted.memory[FileID(9)]?.modified == scene.facts.versions[0].modified)
    }

    @Test("a file that is opened for unseen appends is looked at before")
    func unseenAppend() {
        for (isUnseen, files) in [(true, [file]), (false, [])] {
            var scene = scene()
            let asked = Asked([])
            (scene.memory.files, scene.memory.handles) = ([], [])
            scene.memory.asked = asked
            _ = plan(.open(actor, place, HandleNumber(2), .append, isUnseen: isUnseen), in: scene)
            #expect(asked.files == files)
        }
    }

    @Test("a copy that was thrown away shows nothing of the document that it began with")
    func thrownAwayCopy() {
        var facts = scene().facts
        let (copy, other) = (PlaceNumber(3), PlaceNumber(4))
        func row(_ number: UInt64, _ place: PlaceNumber, _ file: FileID?, _ how: How) -> NameRow {
            let zero = Timestamp(nanoseconds: 0)
            return NameRow(number: RowNumber(number), time: zero, place: place, file: file, how: how, actor: actor)
        }
        var rows = [
            row(3, copy, FileID(3), .restored), row(4, copy, nil, .hidden), row(5, other, FileID(4), .created),
            row(6, place, nil, .movedAway(to: RowNumber(7))), row(7, other, file, .moved),
        ]
        rows[0].origin = VersionNumber(2)
        rows[4].from = RowNumber(1)
        rows[4].document = rows[2].document
        for row in rows { facts.apply(.row(row)) }
        #expect(facts.isReplaced(DocumentNumber(1)))
        #expect(facts.replacement(by: rows[3])?.occupant.number == RowNumber(1))
        #expect(!facts.needsOrigin(rows[0].document))
    }

    @Test("what has a name is not undeleted")
    func living() {
        #expect(plan(.undelete(actor, RowNumber(1), PlaceNumber(5), FileID(9)), in: scene()).isEmpty)
        var scene = scene()
        var row = NameRow(
            number: RowNumber(3), time: scene.now, place: PlaceNumber(3), file: FileID(4), how: .created, actor: actor)
        row.hasNoVersions = true
        scene.facts.apply(.row(row))
        scene.nextNumber = 4
        #expect(plan(.undelete(actor, RowNumber(3), PlaceNumber(5), FileID(9)), in: scene).isEmpty)
    }

    @Test("the removal of a name without versions is no entry if it is hidden", arguments: [How.removed, .hidden])
    func hidden(_ how: How) {
        var facts = scene().facts
        var made = NameRow(
            number: RowNumber(3), time: Timestamp(nanoseconds: 0), place: PlaceNumber(3), file: FileID(4),
            how: .created, actor: actor)
        made.hasNoVersions = true
        let gone = NameRow(
            number: RowNumber(4), time: made.time, place: made.place, file: nil, how: how, actor: actor)
        for row in [made, gone] { facts.apply(.row(row)) }
        #expect((facts.deletion(by: gone) != nil) == (how == .removed))
    }

    @Test("a name waits for less than 15 s")
    func waits() {
        var scene = scene()
        scene.memory.handles = []
        scene.facts.apply(
            .row(NameRow(number: RowNumber(3), time: scene.now, place: place, file: nil, how: .removed, actor: actor)))
        scene.nextNumber = 4
        let planning = Planning(scene)
        #expect(planning.claim(place, at: Timestamp(nanoseconds: 15 * second - 1)) != nil)
        #expect(planning.claim(place, at: Timestamp(nanoseconds: 15 * second)) == nil)
    }

    @Test("`refuse` asks for the base of a stale program")
    func stale() {
        var scene = scene()
        scene.memory.observations = [
            Observation(
                actor: ActorNumber(2), version: VersionNumber(2), document: DocumentNumber(1), time: scene.now)
        ]
        var later = scene.facts.versions[0]
        (later.number, later.parents) = (VersionNumber(3), Parents(VersionNumber(2)))
        scene.facts.apply(.version(later))
        let planning = Planning(scene)
        let base = planning.staleBase(of: ActorNumber(2), in: DocumentNumber(1), current: VersionNumber(3))
        #expect(base == VersionNumber(2))
        #expect(planning.staleBase(of: actor, in: DocumentNumber(1), current: VersionNumber(3)) == nil)
    }

    @Test(
        "what was written before a truncation is no version if only a closed handle may have written it besides",
        arguments: [true, false])
    func truncatedBehindClose(isClosed: Bool) {
        var scene = scene()
        scene.memory.files[0].isChanged = true
        scene.memory.files[0].fingerprint = Fingerprint(size: 2, high: 0, low: 9)
        scene.memory.files[0].generation = 1
        scene.memory.handles[0].isUnseen = true
        scene.memory.handles[0].isClosed = isClosed
        scene.memory.handles.append(
            Handle(
                number: HandleNumber(2), actor: actor, file: file, mode: .write, isUnseen: true, place: place,
                opened: RowNumber(3)))
        let versions = plan(.shorten(HandleNumber(2)), in: scene).filter { fact in
            if case .version = fact { return true }
            return false
        }
        #expect(versions.count == (isClosed ? 0 : 1))
    }

    @Test("what a program may still overwrite after a crash is kept", arguments: [true, false])
    func stillWritten(isWritten: Bool) {
        let scene = scene()
        var there = Found.File(id: file, fingerprint: Fingerprint(size: 2, high: 0, low: 9), modified: scene.now)
        there.isStillWritten = isWritten
        let found = Found(
            names: [Found.Name(place: place, file: file)], directories: [], files: [there], objects: [],
            begins: { $0.fingerprint == $1 })
        let plan = Settling.settle(scene, found, crashed: scene.now)
        let kept = plan.after.compactMap { step -> Content? in
            if case .keep(let content, _) = step { return content }
            return nil
        }
        #expect(kept == (isWritten ? plan.memory[file].map { [$0.content] } : []))
    }

    @Test("numbers at their ends and rows that go back to themselves trap nothing and end")
    func oddInput() {
        var scene = scene(generation: .max)
        #expect(Planning.plan(.write(HandleNumber(1)), in: scene).before.count == 1)
        scene.memory.handles[0].isUnseen = true
        #expect(Planning.plan(.close(HandleNumber(1)), in: scene).before.count == 1)
        scene.nextNumber = .max
        _ = Planning.plan(.unlink(actor, place), in: scene)
        let found = Found(
            names: [Found.Name(place: place, file: file)], directories: [],
            files: [Found.File(id: file, fingerprint: Fingerprint(size: 2, high: 0, low: 9), modified: scene.now)],
            objects: [Found.Object(content: Content(file: file, generation: .max), labels: [])],
            begins: { _, _ in false })
        scene.nextNumber = 3
        #expect(!Settling.settle(scene, found, crashed: scene.now).facts.isEmpty)

        var facts = scene.facts
        let gone = NameRow(number: RowNumber(3), time: scene.now, place: place, file: nil, how: .removed, actor: actor)
        var odd = NameRow(
            number: RowNumber(4), time: scene.now, place: place, file: file, how: .moved, actor: actor)
        (odd.from, odd.document) = (RowNumber(4), DocumentNumber(1))
        var away = NameRow(
            number: RowNumber(5), time: scene.now, place: place, file: nil, how: .movedAway(to: nil), actor: actor)
        away.from = RowNumber(5)
        var elsewhere = NameRow(
            number: RowNumber(6), time: scene.now, place: PlaceNumber(7), file: file, how: .moved, actor: actor)
        (elsewhere.from, elsewhere.document) = (RowNumber(6), DocumentNumber(1))
        for row in [gone, odd, away, elsewhere] { facts.apply(.row(row)) }
        scene.facts = facts
        scene.nextNumber = 7
        _ = Planning(scene).claim(place)
        _ = plan(.undelete(actor, RowNumber(1), place, FileID(9)), in: scene)
    }

    @Test("a block far beyond the end is none of the undo log's")
    func farBlock() {
        var log = UndoLog([1])
        log.write(2, at: .max)
        log.truncate(to: .max)
        #expect(log.live == [1])
    }
}
