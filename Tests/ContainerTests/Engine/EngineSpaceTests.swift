// History and the deleted list keep within their bounds over the engine, by a clock that the test turns.

import Foundation
import Glibc
import Lineage
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("The engine: space") struct EngineSpaceTests {
    private let my = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())
    private static let size = 64 << 10

    private func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        (settings.historyShare, settings.deletedShare) = (.percent(100), .percent(100))
        change(&settings)
        return settings
    }

    /// A text of 64 KiB that no other number gives.
    private func text(_ number: Int) -> String {
        let words = "save \(number) "
        return String(repeating: words, count: Self.size / words.utf8.count + 1).prefix(Self.size).description
    }

    private func path(_ text: String) throws -> TreePath { try #require(TreePath(bytes: Array(text.utf8))) }

    private func document(_ name: String, _ served: ServedContainer) throws -> DocumentRecord {
        try served.container.finder.document(at: path(name), as: my)
    }

    private func versions(_ name: String, _ served: ServedContainer) throws -> [Version] {
        try document(name, served).versions
    }

    private func deleted(_ served: ServedContainer) throws -> [String] {
        try served.container.finder.deleted(within: nil, as: my).map { "\($0.path)" }
    }

    private func thin(_ served: ServedContainer, dryRun: Bool = false) throws -> RemovalOutcome {
        try served.container.thin(dryRun: dryRun, as: my)
    }

    private func pin(_ version: Version, _ name: String, _ served: ServedContainer) throws {
        _ = try served.container.operations.pin(version, of: document(name, served), true, as: my)
    }

    @Test("Saves thin to the schedule, and a dry run has told so")
    func schedule() throws {
        let served = try ServedContainer(settings())
        let retention = served.container.space.space.retention
        retention.note()
        var saves: [Timestamp] = []
        for number in 0..<200 {
            try served.save("a", text(number))
            saves.append(try #require(try versions("a", served).first).saved)
            // Work of 45 minutes at a time, some 16 days in all.
            served.clock.advance(seconds: number % 10 == 0 ? 64_000 : 300)
            if number % 40 == 0 { _ = try thin(served) }
        }
        let told = try thin(served, dryRun: true).versions.map(\.version.id)
        let gone = try thin(served).versions.map(\.version.id)
        #expect(told == gone && !gone.isEmpty)
        let clock = retention.note()
        let seen = try versions("a", served).dropFirst().map { clock.seenTime(of: $0.saved) }
        let expected = ThinningSchedule.kept(
            of: saves.dropLast().map { clock.seenTime(of: $0) }, now: clock.seen)
        #expect(Set(seen) == expected)
        #expect(try thin(served, dryRun: true).versions.isEmpty)
        #expect(served.text("a") == text(199))
        #expect(served.store.space.history == Int64(seen.count * Self.size))
        #expect(try served.history("a").allSatisfy { $0 != nil })
    }

    @Test("A clock a year ahead thins nothing, until it is put right")
    func yearAhead() throws {
        let served = try ServedContainer(settings { $0.historyShare = .bytes(1 << 20) })
        served.container.space.space.retention.note()
        for number in 0..<10 {
            try served.save("a", "\(number)")
            served.clock.advance(seconds: 1200)
        }
        try served.save("b", "b")
        try served.unlink("b")
        served.clock.set(aheadBy: 366 * 86_400)
        #expect(throws: OperationError.self) { try thin(served) }
        served.container.space.space.trimming.trim()
        #expect(served.container.isThinningPaused)
        #expect(try versions("a", served).count == 10)
        #expect(try deleted(served) == ["b"])
        served.clock.set(aheadBy: -366 * 86_400)
        served.clock.advance(seconds: 4000)
        #expect(try thin(served).versions.isEmpty == false)
    }

    @Test("The time that has been seen is known after the next mount")
    func seenTime() throws {
        let served = try ServedContainer(settings())
        served.container.space.space.retention.note()
        served.clock.advance(seconds: 3000)
        let seen = served.container.space.space.retention.note().seen
        try served.remount()
        #expect(served.container.space.space.retention.clock.seen >= seen && seen > 0)
    }

    @Test("What may be purged exceeds its bound by one version at most, and the oldest go")
    func bound() throws {
        let bound = 20 * Self.size
        let served = try ServedContainer(settings { $0.historyShare = .bytes(UInt64(bound)) })
        _ = try served.container.space.sums()
        var most = 0
        for number in 0..<60 {
            try served.save("a\(number % 3)", text(number))
            most = max(most, Int(served.store.space.history))
            served.clock.advance(seconds: 1)
        }
        #expect(most <= bound + Self.size && most > bound - 2 * Self.size, "\(most)")
        for (index, name) in ["a0", "a1", "a2"].enumerated() {
            let left = try versions(name, served)
            #expect(left.count >= 6 && left.count <= 8, "\(left.count)")
            #expect(left.map(\.saved) == left.map(\.saved).sorted(by: >))
            #expect(served.text(name) == text(57 + index))
        }
    }

    @Test("The deleted list keeps its share and its time, and history is none of it")
    func deletedShare() throws {
        let served = try ServedContainer(settings { $0.deletedShare = .bytes(UInt64(5 * Self.size)) })
        let space = served.container.space
        space.space.retention.note()
        _ = try space.sums()
        for number in 0..<10 {
            try served.save("f\(number)", text(number))
            try served.unlink("f\(number)")
            served.clock.advance(seconds: 60)
        }
        let before = space.use.sums
        #expect(before.deleted == Int64(10 * Self.size) && before.history == 0, "\(before)")
        space.space.trimming.trim()
        #expect(try deleted(served) == ["f9", "f8", "f7", "f6"])
        #expect(try space.sums().deleted == Int64(4 * Self.size))
        served.clock.advance(seconds: 29 * 86_400)
        try served.save("late", "late")
        try served.unlink("late")
        served.clock.advance(seconds: 86_400)
        #expect(try thin(served, dryRun: true).deleted == 4)
        #expect(try thin(served).deleted == 4)
        #expect(try deleted(served) == ["late"])
        #expect(served.store.space.history == 4096)
    }

    @Test("What comes back is deleted no more, and what was replaced goes with the list")
    func comingBack() throws {
        let served = try ServedContainer(settings { $0.keepDeletedNanoseconds = 60_000_000_000 })
        served.container.space.space.retention.note()
        let use = served.container.space.use
        try use.addUp()
        try served.save("a", text(1))
        try served.unlink("a")
        #expect(use.sums.deleted == Int64(Self.size))
        // Within 15 s the name has its document again, and what was deleted is history.
        try served.save("a", text(2))
        #expect(use.sums.deleted == 0 && use.sums.history == Int64(Self.size))
        try served.save("b", text(3))
        for number in 4...5 { try served.save("c", text(number)) }
        try served.rename("c", to: "b")
        #expect(try deleted(served) == ["c"])
        served.clock.advance(seconds: 100)
        served.container.space.space.trimming.trim()
        #expect(try deleted(served) == [])
        #expect(served.text("b") == text(5))
        #expect(try served.history("b").first == text(5))
    }

    @Test("Pinned versions, conflicts and their bases stay, in the deleted list, too")
    func held() throws {
        let served = try ServedContainer(settings())
        _ = try served.container.space.sums()
        served.container.space.space.retention.note()
        for name in ["pinned", "contested", "plain"] {
            try served.makeDirectory("d-\(name)")
            for number in 1...3 { try served.save("d-\(name)/f", text(number)) }
        }
        try pin(try #require(try versions("d-pinned/f", served).last), "d-pinned/f", served)
        _ = try served.container.operations.simulateConflict(document("d-contested/f", served), as: my)
        served.clock.advance(seconds: 100_000)
        let operations = served.container.operations
        operations.settings = settings { ($0.historyShare, $0.deletedShare) = (.bytes(0), .bytes(0)) }
        let contested = try versions("d-contested/f", served)
        _ = try thin(served)
        #expect(try versions("d-pinned/f", served).map(\.size).count == 2)
        let left = try versions("d-contested/f", served)
        #expect(left.map(\.kind).filter { $0 == .conflict }.count == 1)
        let base = try #require(contested.first { $0.kind == .conflict }?.base)
        #expect(left.contains { $0.id == base })
        #expect(try versions("d-plain/f", served).count == 1)
        for name in ["pinned", "contested", "plain"] {
            try served.unlink("d-\(name)/f")
            try served.container.removeDirectory(
                served.caller, parent: Node.rootID, name: Array("d-\(name)".utf8))
        }
        served.clock.advance(seconds: 100_000)
        _ = try thin(served)
        #expect(try deleted(served).sorted() == ["d-contested", "d-contested/f", "d-pinned", "d-pinned/f"])
    }

    @Test("Copies that an editor makes of a document, and throws away, keep none of its versions")
    func thrownAway() throws {
        let served = try ServedContainer(settings())
        _ = try served.container.space.sums()
        served.container.space.space.retention.note()
        try served.save("a", text(0))
        for number in 1...4 {
            try served.rename("a", to: "a~")
            try served.save("a", text(number))
            try served.unlink("a~")
            served.clock.advance(seconds: 60)
        }
        #expect(try versions("a", served).count == 5)
        #expect(try deleted(served).isEmpty)
        served.clock.advance(seconds: 100_000)
        served.container.operations.settings = settings { $0.historyShare = .bytes(0) }
        _ = try thin(served)
        #expect(try versions("a", served).count == 1)
        #expect(served.text("a") == text(4))
        #expect(try served.found(isAtRest: true) == [])
    }

    @Test("A document, a directory and the container count disk usage alike, and add up")
    func usage() throws {
        let served = try ServedContainer(settings())
        try served.makeDirectory("d")
        for text in ["one", "two", "three"] { try served.save("a", text) }
        for text in ["four", "five"] { try served.save("d/b", text) }
        try served.save("d/gone", "six")
        try served.unlink("d/gone")
        func space(_ name: String) throws -> SpaceOutcome {
            try served.container.space(within: name.isEmpty ? .root : path(name), as: my)
        }
        let (all, one, other) = (try space(""), try space("a"), try space("d"))
        #expect(one.history == 2 * 4096 && other.history == 4096)
        #expect(all.history == one.history + other.history)
        #expect(all.deleted == 4096 && other.deleted == 4096 && one.deleted == 0)
        #expect(one.live == 4096 && all.isComplete)
    }

    @Test("What could be given up is counted once while nothing changes, and pinned versions do not count")
    func counted() throws {
        let served = try ServedContainer(settings())
        for number in 1...4 { try served.save("a", text(number)) }
        let (purgeables, making) = (served.container.space.space.purgeables, served.container.space.space.making)
        let size = UInt64(Self.size)
        #expect(purgeables.canReclaim(3 * size, free: 0, mustSucceed: true))
        for version in try versions("a", served) where version.kind == .history { try pin(version, "a", served) }
        let before = purgeables.walks.load(ordering: .relaxed)
        for _ in 1...100 {
            #expect(!purgeables.canReclaim(2 * size, free: 0, mustSucceed: false))
            #expect(!making.makeRoom(wanted: .max / 2, mayWait: true))
        }
        #expect(purgeables.walks.load(ordering: .relaxed) == before + 1)
        #expect(try versions("a", served).count == 4)
    }

    @Test("A content over max-file that can only be copied is not kept, and is said to be lost")
    func maxFile() throws {
        let served = try ServedContainer(settings { $0.maxFile = 1000 })
        guard !served.store.contents.canReflink else { return }
        try served.save("a", text(1))
        try served.save("a", "small")
        try served.save("a", "last")
        let found = try versions("a", served)
        #expect(found.map { $0.flags.contains(.contentLost) } == [false, false, true])
        #expect(try served.history("a") == ["last", "small", nil])
        let lost = try served.container.finder.history.told(after: 0, limit: 1000).changes
            .filter { $0.change.event == .versionLost }
        #expect(lost.map(\.change.version) == [found.last?.id])
        // A file that loses its name is kept as a whole, whatever its size.
        try served.save("b", text(2))
        try served.unlink("b")
        #expect(try served.deleted() == [[text(2)]])
    }
}
