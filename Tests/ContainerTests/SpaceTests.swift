// History and the deleted area keep within their bounds, by a clock that the test turns.

import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct SpaceTests {
    @Test("a deleted document with a conflict stays when too much is deleted")
    func deletedWithConflict() throws {
        var settings = Settings()
        settings.deletedShare = .bytes(0)
        let tree = try BrowsedContainer(settings)
        for name in ["a", "b"] {
            try tree.save(name, "one")
            try tree.save(name, "two")
        }
        try tree.addConflict("a", "loser", base: tree.item("a").current)
        for name in ["a", "b"] { try tree.unlink(name) }
        tree.container.store.flush()
        tree.container.space.trimming.trim()
        tree.container.store.flush()
        let left = try tree.container.store.deletions(within: nil)
        #expect(left.map { "\($0.path)" } == ["a"])
    }

    @Test("what could be given up is counted once, while nothing changes, and pinned versions do not count")
    func countedOnce() throws {
        let tree = try BrowsedContainer(settings())
        for number in 1...4 { try tree.save("a", text(number)) }
        let container = tree.container
        container.store.flush()
        let megabyte = UInt64(Self.megabyte)
        #expect(container.space.purgeables.canReclaim(3 * megabyte, free: 0, mustSucceed: true))
        for version in try container.store.versions(of: tree.item("a").id) where version.kind == .history {
            let document = try container.document(at: path("a"), as: my)
            _ = try container.pin(version, of: document, true, as: my)
        }
        container.store.flush()
        let before = container.space.purgeables.walks.load(ordering: .relaxed)
        for _ in 1...100 {
            #expect(!container.space.purgeables.canReclaim(2 * megabyte, free: 0, mustSucceed: false))
            #expect(!container.space.making.makeRoom(wanted: .max / 2, mayWait: true))
        }
        #expect(container.space.purgeables.walks.load(ordering: .relaxed) == before + 1)
        #expect(try container.store.versions(of: tree.item("a").id).count == 4)
        #expect(container.space.purgeables.canReclaim(2 * megabyte, free: 2 * megabyte, mustSucceed: true))
    }

    @Test("a document, a directory and the container count disk usage alike, and add up")
    func oneUnit() throws {
        let tree = try BrowsedContainer()
        for text in ["one", "two", "three"] { try tree.save("a", text) }
        for text in ["four", "five"] { try tree.save("b", text) }
        try tree.save("gone", "six")
        try tree.unlink("gone")
        let container = tree.container
        container.store.flush()
        // As `space` does it: a file's blocks may still be unknown.
        try container.store.rescanSpace()
        let all = try container.space(within: .root, as: my)
        let one = try container.space(within: path("a"), as: my)
        let other = try container.space(within: path("b"), as: my)
        #expect(one.history == 2 * 4096 && other.history == 4096)
        #expect(all.history == one.history + other.history)
        #expect(try container.store.deletedBytes(within: .root) == all.deleted && all.deleted == 4096)
    }

    private let my = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())
    private static let megabyte = 1 << 20

    private func path(_ text: String) throws -> TreePath { try #require(TreePath(bytes: text.utf8)) }

    private func settings(history: Settings.Share = .percent(100), deleted: Settings.Share = .percent(100)) -> Settings
    {
        var settings = Settings()
        (settings.historyShare, settings.deletedShare) = (history, deleted)
        return settings
    }

    /// A text of a MiB that no other number gives.
    private func text(_ number: Int) -> String {
        let words = "save \(number) "
        return String(repeating: words, count: Self.megabyte / words.utf8.count + 1).prefix(Self.megabyte).description
    }

    @Test func aThousandSavesThinToTheSchedule() throws {
        let tree = try BrowsedContainer(settings())
        tree.container.noteTime()
        var saves: [Timestamp] = []
        for number in 0..<1000 {
            try tree.save("a", text(number))
            saves.append(try #require(try tree.container.document(at: path("a"), as: my).current).saved)
            // Work of 45 minutes at a time, 77 days in all.
            tree.clock.advance(seconds: number % 10 == 0 ? 64_000 : 300)
            if number % 20 == 0 { _ = try tree.container.thin(dryRun: false, as: my) }
        }
        _ = try tree.container.thin(dryRun: false, as: my)
        let clock = tree.container.noteTime()
        let left = try tree.container.document(at: path("a"), as: my).versions
        let seen = left.filter { $0.kind == .history }.map { clock.seenTime(of: $0.saved) }
        let saved = saves.dropLast().map { clock.seenTime(of: $0) }
        #expect(Set(seen) == ThinningSchedule.kept(of: saved, now: clock.seen))
        #expect(seen.count < 250 && seen.count > 25, "\(seen.count) left")
        #expect(try tree.container.thin(dryRun: true, as: my).versions.isEmpty)
        #expect(tree.container.store.space.history <= Int64(seen.count * (Self.megabyte + 8192)))
        #expect(try tree.live("a") == text(999))
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func aClockAYearAheadThinsNothing() throws {
        let tree = try BrowsedContainer(settings(history: .bytes(1 << 20)))
        tree.container.noteTime()
        for number in 0..<10 {
            try tree.save("a", "\(number)")
            tree.clock.advance(seconds: 1200)
        }
        try tree.save("b", "b")
        try tree.unlink("b")
        tree.clock.set(aheadBy: 366 * 86_400)
        #expect(throws: OperationError.self) { try tree.container.thin(dryRun: false, as: my) }
        tree.container.space.trimming.trim()
        #expect(tree.container.isThinningPaused)
        #expect(try tree.container.document(at: path("a"), as: my).versions.count == 10)
        #expect(try tree.container.deleted(within: nil, as: my).count == 1)
        // Put right again, it goes on: by then the saves are some hours old.
        tree.clock.set(aheadBy: -366 * 86_400)
        tree.clock.advance(seconds: 4000)
        #expect(try tree.container.thin(dryRun: false, as: my).versions.isEmpty == false)
    }

    @Test func whatMayBePurgedExceedsItsBoundByOneVersionAtMost() throws {
        let bound = 100 << 20
        let tree = try BrowsedContainer(settings(history: .bytes(UInt64(bound))))
        var most = 0
        for number in 0..<300 {
            try tree.save("a\(number % 3)", text(number))
            most = max(most, Int(tree.container.store.space.history))
            tree.clock.advance(seconds: 1)
        }
        #expect(most <= bound + Self.megabyte + 8192, "\(most)")
        #expect(most > bound - 2 * Self.megabyte)
        // The oldest went: what is left of each are the last of its hundred saves, the current one among them.
        for (index, name) in ["a0", "a1", "a2"].enumerated() {
            let versions = try tree.container.document(at: path(name), as: my).versions
            #expect(versions.count >= 33 && versions.count <= 35, "\(versions.count)")
            #expect(versions.map(\.saved) == versions.map(\.saved).sorted(by: >))
            #expect(try tree.live(name) == text(297 + index))
        }
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }

    @Test func theDeletedAreaKeepsItsShareAndItsTime() throws {
        let tree = try BrowsedContainer(settings(deleted: .bytes(5 << 20)))
        tree.container.noteTime()
        for number in 0..<10 {
            try tree.save("f\(number)", text(number))
            try tree.unlink("f\(number)")
            tree.clock.advance(seconds: 60)
        }
        tree.container.space.trimming.trim()
        var left = try tree.container.deleted(within: nil, as: my).map { "\($0.path)" }
        #expect(left == ["f9", "f8", "f7", "f6"])
        tree.clock.advance(seconds: 29 * 86_400)
        try tree.save("late", "late")
        try tree.unlink("late")
        tree.clock.advance(seconds: 86_400)
        #expect(try tree.container.thin(dryRun: false, as: my).deleted == 4)
        left = try tree.container.deleted(within: nil, as: my).map { "\($0.path)" }
        #expect(left == ["late"])
        #expect(tree.container.store.space.deleted < 100_000)
    }

    @Test(arguments: [(300, 30), (5 << 10, 512), (20 << 10, 1 << 10), (1000 << 10, 20 << 10)])
    func theReserveIsTwoPercentAtLeastAGibibyteAtMostATenth(_ megabytes: UInt64, _ reserve: UInt64) {
        #expect(FreeSpace.reserve(of: megabytes << 20) == reserve << 20)
    }

    @Test func sharesAreParsed() throws {
        var file = try SettingsFile(text: "")
        try file.set("history.share", to: "100MiB")
        try file.set("deleted.share", to: "2.5%")
        #expect(try file.settings().historyShare == .bytes(100 << 20))
        #expect(try file.settings().deletedShare == .percent(2.5))
        try file.set("history.share", to: "3%")
        try file.set("replace-wait", to: "1s")
        try file.set("replace-wait", to: "3s")
        #expect(try file.settings().historyShare == .percent(3))
        #expect(try file.settings().replaceWaitNanoseconds == 3_000_000_000)
        #expect(throws: SettingsError.self) { try file.set("history.share", to: "101%") }
        #expect(throws: SettingsError.self) { try file.set("history.share", to: "much") }
        #expect(try file.settings().historyShare == .percent(3))
    }

    @Test func whatCannotBeHadAtAllIsNotWorthAnyHistory() throws {
        let tree = try BrowsedContainer()
        for text in ["one", "two"] { try tree.save("a", text) }
        try tree.save("b", "b")
        try tree.unlink("b")
        // As fallocate(2) may ask for, whatever its size.
        let attempt = { () throws(Errno) in
            try tree.container.space.retryingWhenFull(wanted: 1 << 62, mayWait: true) { () throws(Errno) in
                throw Errno.noSpace
            }
        }
        #expect(throws: Errno.noSpace) { try attempt() }
        #expect(try tree.container.document(at: path("a"), as: my).versions.count == 2)
        #expect(try tree.container.deleted(within: nil, as: my).count == 1)
    }

    @Test func aDeletedFileThatIsPurgedTakesTheCopyOfItsOpeningAlong() throws {
        let tree = try BrowsedContainer()
        for text in ["one", "two"] { try tree.save("a", text) }
        // An opening that may change it, and leaves it as it is.
        let node = try tree.node("a")
        let handle = try #require(try tree.container.open(tree.caller, node: node, flags: O_RDWR)).handle
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        try tree.unlink("a")
        #expect(try tree.container.purgeDeleted(before: nil, as: my).deleted == 1)
        tree.clock.advance(seconds: 10)
        #expect(try tree.container.store.check(repair: false).isEmpty)
    }
}
