// While the catalog cannot be written nothing is lost, readers see what was committed, and it is written afterwards.

import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite(.timeLimit(.minutes(1)))
struct FullDiskTests {
    /// Listens for the change that must come once writing works again.
    private func expectation(_ store: VersionStore, of event: ChangeEvent) -> (DispatchSemaphore, Observation) {
        let semaphore = DispatchSemaphore(value: 0)
        return (
            semaphore,
            store.observe { rows in
                if rows.contains(where: { $0.1.event == event }) { semaphore.signal() }
            }
        )
    }

    /// A file system of 3 MiB, really full. Mounting takes root.
    @Test(.enabled(if: geteuid() == 0, "mounting a small tmpfs takes root"))
    func aFullDiskDelaysWritingButNotReading() throws {
        let path = "/var/tmp/versionsfs-store-\(ContentID.random().short)-full"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=3m") == 0)
        defer {
            umount2(path, Int32(MNT_DETACH))
            rmdir(path)
        }
        let fixture = try Fixture(path: path)
        let store = try fixture.store()
        let filler = try FileDescriptor.open(
            FilePath(path + "/filler"), .writeOnly, options: .create, permissions: [.ownerWrite])
        let block = [UInt8](repeating: 1, count: 4096)
        while (try? filler.writeAll(block)) != nil {}
        try filler.close()

        var committed: [Version] = []
        while !store.isWritingStuck, committed.count < 100_000 {
            let versions = (0..<500).map { Records.version(wall: Int64(committed.count + $0)) }
            store.commit(versions.map { .version($0) })
            committed += versions
            store.flush()
        }
        try #require(store.isWritingStuck)
        let (isWritten, observation) = expectation(store, of: .resolved)
        let late = Records.version()
        store.commit([.version(late), .change(Records.change(.resolved, "late"))])
        #expect(try store.version(late.id) == late)
        #expect(try store.version(committed[committed.count - 1].id) == committed.last)
        // The commit is tried again meanwhile, and fails.
        let end = Date(timeIntervalSinceNow: 2)
        let missed = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            while Date() < end {
                if (try? store.version(late.id)) != late { missed.add(1, ordering: .relaxed) }
            }
        }
        let count = missed.load(ordering: .relaxed)
        #expect(count == 0, "\(count) times a reader did not see what waits for the disk")
        #expect(isWritten.wait(timeout: .now()) == .timedOut, "an event came before its transaction")
        #expect(unlink(path + "/filler") == 0)
        isWritten.wait()
        store.flush()
        #expect(!store.isWritingStuck)
        observation.cancel()
        fixture.close()
        #expect(try fixture.store().statistics().versions == committed.count + 1)
        #expect(try fixture.store().identity.cleanShutdown)
        fixture.close()
    }

    /// SQLite itself refuses to grow: not even staging works then.
    @Test func whenNothingCanBeStagedReadersGetWhatIsThere() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let early = Records.version()
        store.commit([.version(early)])
        store.flush()
        let pages = try store.catalog.access { try SQLStatement($0, "PRAGMA page_count").first { $0.integer(0) } } ?? 0
        try store.catalog.access {
            _ = try SQLStatement($0, "PRAGMA max_page_count = \(pages)").first { $0.integer(0) }
        }
        let (isWritten, observation) = expectation(store, of: .resolved)
        let versions = (0..<1000).map { Records.version(wall: Int64($0)) }
        store.commit(versions.map { .version($0) } + [.change(Records.change(.resolved, "x"))])
        #expect(try store.version(early.id) == early)
        #expect(try store.version(versions[0].id) == nil)
        #expect(store.isWritingStuck)
        try store.catalog.access { _ = try SQLStatement($0, "PRAGMA max_page_count = 1000000").first { $0.integer(0) } }
        isWritten.wait()
        #expect(try store.version(versions[999].id) == versions[999])
        observation.cancel()
    }

    /// No thread waits with locks held for a catalog that cannot be written: more changes are refused before they are
    /// made.
    @Test func whatCannotBeRecordedIsRefused() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        store.flush()
        let pages = try store.catalog.access { try SQLStatement($0, "PRAGMA page_count").first { $0.integer(0) } } ?? 0
        try store.catalog.access {
            _ = try SQLStatement($0, "PRAGMA max_page_count = \(pages)").first { $0.integer(0) }
        }
        let rows = (0..<1000).map {
            VersionStore.Mutation.setting(key: "\($0)", value: [UInt8](repeating: 1, count: 50))
        }
        // Many more rows than may wait; rows of changes under way are taken all the same.
        for call in 0..<(2 * CommitQueue<Catalog>.backlogLimit / 1000) {
            if call == 3 { #expect(!store.isWritingRefused) }
            store.commit(rows)
        }
        while !store.isWritingRefused { store.flush() }
        #expect(store.writingFailure?.isEmpty == false)
        try store.catalog.access { _ = try SQLStatement($0, "PRAGMA max_page_count = 1000000").first { $0.integer(0) } }
        // It is tried again within seconds.
        while store.isWritingStuck { store.flush() }
        #expect(!store.isWritingRefused && store.writingFailure == nil)
        #expect(try store.setting("999")?.count == 50)
    }

    /// A kill after that must not apply them a second time: the feed would tell them twice.
    @Test func whatWasWrittenAtLastIsNotInTheRedoLogAnyMore() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        store.flush()
        let pages = try store.catalog.access { try SQLStatement($0, "PRAGMA page_count").first { $0.integer(0) } } ?? 0
        try store.catalog.access {
            _ = try SQLStatement($0, "PRAGMA max_page_count = \(pages)").first { $0.integer(0) }
        }
        let (isWritten, observation) = expectation(store, of: .resolved)
        store.commit(
            (0..<1000).map { .setting(key: "\($0)", value: [UInt8](repeating: 1, count: 50)) }
                + [.change(Records.change(.resolved, "x"))])
        store.flush()
        #expect(store.isWritingStuck)
        try store.catalog.access { _ = try SQLStatement($0, "PRAGMA max_page_count = 1000000").first { $0.integer(0) } }
        isWritten.wait()
        let applied = try #require(try store.setting(RedoLog.appliedKey))
        var reader = ByteReader(applied)
        #expect(RedoLog.calls(in: store.state, after: try reader.fixed64()).calls.isEmpty)
        observation.cancel()
    }
}
