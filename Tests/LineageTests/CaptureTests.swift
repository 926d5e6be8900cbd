// Databases: a version whose content is an image of the file, and a file that goes on with bytes of its own.

import Lineage
import Testing
import VersionModel

@Suite("Captures of databases")
struct CaptureTests {
    private let place = PlaceNumber(1)
    private let other = PlaceNumber(9)
    private let file = FileID(2)
    private let actor = ActorNumber(1)
    private let zero = Timestamp(nanoseconds: 0)
    private let later = Timestamp(nanoseconds: 7)
    private let copy = Content(file: FileID(20), generation: 5)

    private func bytes(_ letter: UInt64) -> Fingerprint { Fingerprint(size: 1, high: 0, low: letter) }

    /// A document with a version in its file, which a program has open and has changed since that was kept.
    private func scene(isChanged: Bool = true) -> Scene {
        var facts = Facts()
        let row = RowNumber(1)
        facts.apply(.row(NameRow(number: row, time: zero, place: place, file: file, how: .created, actor: actor)))
        facts.apply(
            .version(
                VersionRow(
                    number: VersionNumber(2), time: zero, row: row, content: Content(file: file, generation: 0),
                    fingerprint: bytes(1), file: file, modified: zero, author: actor)))
        var memory = Memory()
        memory.files = [
            LiveFile(
                id: file, fingerprint: bytes(isChanged ? 3 : 1), modified: isChanged ? later : zero,
                isChanged: isChanged, holds: VersionNumber(2), generation: isChanged ? 1 : 0)
        ]
        memory.handles = [
            Handle(
                number: HandleNumber(1), actor: actor, file: file, mode: .write, isUnseen: false, place: place,
                opened: RowNumber(3))
        ]
        memory.handles[0].isDirty = isChanged
        return Scene(facts: facts, memory: memory, now: later, nextNumber: 3)
    }

    private func capture(_ letter: UInt64) -> Event { .capture(place, Captured(by: actor, copy, bytes(letter))) }

    /// The scene behind a capture.
    private func captured(_ letter: UInt64, isChanged: Bool = true) -> Scene {
        after(capture(letter), in: scene(isChanged: isChanged))
    }

    private func after(_ event: Event, in scene: Scene) -> Scene {
        let plan = Planning.plan(event, in: scene)
        var scene = scene
        for fact in plan.facts { scene.facts.apply(fact) }
        (scene.memory, scene.nextNumber) = (plan.memory, scene.facts.lastNumber + 1)
        return scene
    }

    private func versions(_ facts: [Fact]) -> [VersionRow] {
        facts.compactMap { if case .version(let version) = $0 { version } else { nil } }
    }

    @Test("an image is the current version, and is kept before that is recorded")
    func image() throws {
        let plan = Planning.plan(capture(5), in: scene())
        let version = try #require(versions(plan.facts).first)
        #expect(plan.facts.count == 1 && version.content == copy && version.fingerprint == bytes(5))
        #expect(version.isImage && version.file == file && version.modified == later && version.author == actor)
        #expect(version.parents == Parents(VersionNumber(2)) && version.loser == nil && version.isAtHome)
        let row = try #require(scene().facts[version.row])
        #expect(plan.before == [.keep(copy, [Label(version: version, at: row)])])
        let live = try #require(plan.memory[file])
        #expect(!live.isChanged && live.holds == version.number && live.fingerprint == bytes(3))
        #expect(plan.memory.handles.allSatisfy { !$0.isDirty && $0.saved == nil })
    }

    @Test("an image with the bytes of the current version is none, and the file counts as saved")
    func equal() throws {
        let plan = Planning.plan(capture(1), in: scene())
        #expect(plan.facts.isEmpty && plan.before.isEmpty)
        #expect(plan.memory[file]?.isChanged == false && plan.memory[file]?.holds == VersionNumber(2))
        let again = Planning.plan(capture(5), in: captured(5))
        #expect(again.facts.isEmpty && again.before.isEmpty)
    }

    @Test("the version that the file itself has is kept, once")
    func former() throws {
        let plan = Planning.plan(capture(5), in: scene(isChanged: false))
        let kept = plan.before.compactMap { if case .keep(let content, _) = $0 { content } else { nil } }
        #expect(kept == [Content(file: file, generation: 0), copy])
        #expect(plan.memory[file]?.isKept == true)
        let write = Planning.plan(.write(HandleNumber(1)), in: captured(5, isChanged: false))
        #expect(write.before.isEmpty && write.facts.isEmpty && write.memory[file]?.generation == 1)
        let open = Event.open(actor, place, HandleNumber(2), .write, isUnseen: true)
        #expect(Planning.plan(open, in: captured(5, isChanged: false)).before.isEmpty)
    }

    @Test("writes behind a capture keep nothing, and no close amends the image")
    func goesOn() throws {
        var scene = captured(5)
        let write = Planning.plan(.write(HandleNumber(1)), in: scene)
        #expect(write.before.isEmpty && write.facts.isEmpty)
        scene = after(.write(HandleNumber(1)), in: scene)
        scene.memory.files[0].fingerprint = bytes(6)
        let close = Planning.plan(.close(HandleNumber(1)), in: scene)
        let version = try #require(versions(close.facts).first)
        #expect(close.facts.count == 1 && version.content.file == file && !version.isImage)
        #expect(version.parents == Parents(scene.facts.current(of: DocumentNumber(1))))
    }

    @Test("a further write asks nothing about the bytes of its file, unless they are a version's")
    func blind() {
        let write = Event.write(HandleNumber(1))
        #expect(Planning.isBlind(write, in: scene()) && !Planning.isBlind(write, in: scene(isChanged: false)))
        #expect(!Planning.isBlind(.close(HandleNumber(1)), in: scene()))
        var others = scene()
        others.memory.files[0].generation = 0
        #expect(!Planning.isBlind(write, in: others))
        others.memory.handles[0].saved = VersionNumber(2)
        #expect(Planning.isBlind(write, in: others))
        others.memory.files[0].isKept = true
        #expect(Planning.isBlind(write, in: others))
    }

    @Test("what is deleted behind a capture comes back from the image, also while its file is open")
    func undeleted() throws {
        var scene = after(.unlink(actor, place), in: captured(5))
        #expect(versions(scene.facts.versions.map(Fact.version)).count == 2)
        let undelete = Planning.plan(.undelete(actor, RowNumber(1), place, FileID(30)), in: scene)
        #expect(undelete.point == .name(FileID(30), place))
        guard case .make(let made, let version)? = undelete.before.first else {
            Issue.record("nothing is made: \(undelete.before)")
            return
        }
        #expect(made == FileID(30) && version?.content == copy)
        scene = after(.undelete(actor, RowNumber(1), place, FileID(30)), in: scene)
        #expect(scene.memory[FileID(30)]?.isChanged == false)
    }

    @Test("a database that gets another document's name is an image of its file there, too")
    func renamed() throws {
        var scene = captured(5)
        var facts = scene.facts
        let row = RowNumber(10)
        facts.apply(
            .row(NameRow(number: row, time: zero, place: other, file: FileID(40), how: .created, actor: actor)))
        facts.apply(
            .version(
                VersionRow(
                    number: VersionNumber(11), time: zero, row: row, content: Content(file: FileID(40), generation: 0),
                    fingerprint: bytes(2), file: FileID(40), modified: zero, author: actor)))
        scene.facts = facts
        scene.memory.files.append(
            LiveFile(
                id: FileID(40), fingerprint: bytes(2), modified: zero, isChanged: false, holds: VersionNumber(11)))
        scene.nextNumber = 12
        let plan = Planning.plan(.rename(actor, from: place, to: other, isMadeUp: false), in: scene)
        let version = try #require(versions(plan.facts).last)
        #expect(version.content == copy && version.isImage && version.file == file)
    }

    // MARK: Settling

    /// What settling finds of the database alone.
    private func settled(
        _ letter: UInt64, _ modified: Timestamp, awaitsCapture: Bool = false, over scene: Scene
    ) -> Plan {
        var found = Found.File(id: file, fingerprint: bytes(letter), modified: modified)
        found.awaitsCapture = awaitsCapture
        let kept = [Found.Object(content: Content(file: file, generation: 0), labels: [])]
        let disk = Found(
            names: [Found.Name(place: place, file: file)], directories: [], files: [found], objects: kept,
            begins: { found, bytes in found.fingerprint == bytes })
        return Settling.settle(scene, disk, crashed: later)
    }

    @Test("settling makes no version of a file that is as it was when it was captured")
    func settledAsCaptured() { #expect(settled(3, later, over: captured(5)).facts.isEmpty) }

    @Test("what has changed since is a version, unless a log or a journal says that it is captured later")
    func settledChanged() {
        let changed = Timestamp(nanoseconds: 8)
        #expect(versions(settled(6, changed, over: captured(5)).facts).map(\.fingerprint) == [bytes(6)])
        #expect(settled(6, changed, awaitsCapture: true, over: captured(5)).facts.isEmpty)
        #expect(settled(6, changed, awaitsCapture: true, over: scene()).facts.isEmpty)
    }
}
