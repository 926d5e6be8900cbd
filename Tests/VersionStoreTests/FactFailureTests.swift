// While the catalog of facts cannot be written nothing is lost, readers see what was committed, and it is written
// afterwards.

import Foundation
import GRDBSQLite
import Glibc
import Lineage
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("The store of facts while it cannot be written", .serialized, .timeLimit(.minutes(2)))
struct FactFailureTests {
    private static func row(_ number: UInt64) -> NameRow {
        NameRow(
            number: RowNumber(number), time: Timestamp(nanoseconds: 5), place: PlaceNumber(UInt32(number)),
            file: FileID(number), how: .created, actor: nil)
    }

    /// Two rows and an event, and their first number.
    @discardableResult
    private static func commit(_ store: FactStore, _ changes: [FactChange] = []) -> UInt64 {
        let first = store.reserve(2)
        var transaction = FactTransaction([.row(row(first)), .row(row(first + 1)), .settle(VersionNumber(first))])
        transaction.changes = changes
        store.commit(transaction, from: first)
        store.finish(first)
        return first
    }

    /// Runs a body with the first number of one more transaction, and a semaphore that is signaled once it is told.
    private func expecting(
        _ store: FactStore, _ body: (UInt64, DispatchSemaphore) throws -> Void
    ) rethrows {
        let semaphore = DispatchSemaphore(value: 0)
        let mark = FactChange.setting(key: "expected", value: [1])
        // Before the commit, after which it may be told at once.
        let observation = store.observe { transactions in
            if transactions.contains(where: { $0.changes == [mark] }) { semaphore.signal() }
        }
        defer { observation.cancel() }
        try body(Self.commit(store, [mark]), semaphore)
    }

    /// Waits without end in no case: a test that hangs tells nothing.
    private func wait(for semaphore: DispatchSemaphore, _ what: Comment) {
        #expect(semaphore.wait(timeout: .now() + .seconds(100)) == .success, what)
    }

    // MARK: A failing write

    @Test("Whichever write fails, each transaction is there in the end, told once, and whole after a kill")
    func failingWrite() throws {
        for nth in 1...12 {
            let fixture = try FactFixture()
            let store = try fixture.store()
            let counts = Mutex<[UInt64: Int]>([:])
            let isTold = DispatchSemaphore(value: 0)
            let observation = store.observe { transactions in
                counts.withLock { counts in for one in transactions { counts[one.lastNumber, default: 0] += 1 } }
                for _ in transactions { isTold.signal() }
            }
            var firsts: [UInt64] = []
            for _ in 0..<3 { firsts.append(Self.commit(store)) }
            store.flush()
            let status = try System.status("catalog2.sqlite-wal", in: fixture.state)
            let last = try FailingWrites.among(status, nth: nth, failures: 2) {
                for _ in 0..<40 {
                    firsts.append(Self.commit(store))
                    if firsts.count % 4 == 0 { store.flush() }
                }
                store.flush()
                return try store.feed(after: 0, limit: 1000)
            }
            #expect(last.transactions.count == firsts.count, "write \(nth)")
            // It is tried again within the second.
            for _ in firsts { wait(for: isTold, "write \(nth)") }
            store.flush()
            #expect(!store.isWritingStuck && !store.isWritingRefused && store.writingFailure == nil)
            try fixture.afterKill { (killed) throws -> Void in
                let feed = try killed.feed(after: 0, limit: 1000)
                #expect(feed.transactions.map { $0.facts.count } == firsts.map { _ in 3 }, "write \(nth)")
            }
            observation.cancel()
            #expect(counts.withLock { Set($0.keys) == Set(firsts.map { $0 + 1 }) && $0.values.allSatisfy { $0 == 1 } })
        }
        #expect(FailingWrites.failed > 10, "the writes were not reached")
    }

    // MARK: A full disk

    /// A file system of 3 MiB, really full. Mounting takes root.
    @Test("A full disk delays writing but not reading", .enabled(if: geteuid() == 0, "mounting a tmpfs takes root"))
    func fullDisk() throws {
        let path = "/var/tmp/versionsfs-facts-\(ContentID.random().short)-full"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=3m") == 0)
        defer {
            umount2(path, Int32(MNT_DETACH))
            rmdir(path)
        }
        let fixture = try FactFixture(path: path)
        let store = try fixture.store()
        let filler = try FileDescriptor.open(
            FilePath(path + "/filler"), .writeOnly, options: .create, permissions: [.ownerWrite])
        let block = [UInt8](repeating: 1, count: 4096)
        while (try? filler.writeAll(block)) != nil {}
        try filler.close()
        var firsts: [UInt64] = []
        while !store.isWritingStuck, firsts.count < 100_000 {
            for _ in 0..<300 { firsts.append(Self.commit(store)) }
            store.flush()
        }
        try #require(store.isWritingStuck)
        expecting(store) { late, isWritten in
            for first in [firsts[0], firsts[firsts.count - 1], late] {
                #expect(store.facts().row(RowNumber(first)) == Self.row(first))
            }
            #expect(isWritten.wait(timeout: .now()) == .timedOut, "it was told before its transaction")
            #expect(unlink(path + "/filler") == 0)
            wait(for: isWritten, "it was not written once there was room")
        }
        store.flush()
        #expect(!store.isWritingStuck)
        fixture.close()
        #expect(try fixture.store().identity.cleanShutdown)
        #expect(try fixture.store().feed(after: 0, limit: 1_000_000).transactions.count == firsts.count + 1)
        fixture.close()
    }

    @Test("Where nothing can be staged, readers get no answer instead of a wrong one, and more is refused in time")
    func nothingStaged() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let early = Self.commit(store)
        store.flush()
        func limitPages(_ pages: Int64) throws {
            try store.catalog.access {
                _ = try SQLStatement($0, "PRAGMA max_page_count = \(pages)").first { $0.integer(0) }
            }
        }
        let pages = try store.catalog.access { try SQLStatement($0, "PRAGMA page_count").first { $0.integer(0) } }
        try limitPages(pages ?? 0)
        while !store.isWritingRefused {
            for _ in 0..<3000 { Self.commit(store) }
            let facts = store.facts()
            if facts.row(RowNumber(early)) == nil {
                #expect(facts.failure != nil)
                #expect(throws: StoreError.self) { try store.feed(after: 0, limit: 10) }
            }
        }
        #expect(store.writingFailure?.isEmpty == false)
        try expecting(store) { late, isWritten in
            try limitPages(1_000_000)
            wait(for: isWritten, "it was not written once there was room")
            #expect(store.facts().row(RowNumber(late)) == Self.row(late))
        }
        store.flush()
        #expect(!store.isWritingRefused && store.writingFailure == nil)
    }

    @Test("What a store that is closed could not write comes from the redo log")
    func closed() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        Self.commit(store)
        store.flush()
        try store.catalog.access { database in
            let pages = try SQLStatement(database, "PRAGMA page_count").first { $0.integer(0) } ?? 0
            _ = try SQLStatement(database, "PRAGMA max_page_count = \(pages)").first { $0.integer(0) }
        }
        for _ in 0..<2000 { Self.commit(store) }
        store.flush()
        #expect(store.isWritingStuck && !store.synchronize())
        fixture.close()
        #expect(try !fixture.store().identity.cleanShutdown)
        #expect(try fixture.store().feed(after: 0, limit: 100_000).transactions.count == 2001)
    }
}

/// Writes of SQLite to one file that fail.
private enum FailingWrites {
    private static let inode = Atomic<UInt64>(0)
    private static let device = Atomic<UInt64>(0)
    /// The number of writes before the first failure, and of failures.
    private static let before = Atomic<Int>(0)
    private static let left = Atomic<Int>(0)
    private static let count = Atomic<Int>(0)

    static var failed: Int { count.load(ordering: .relaxed) }

    /// Runs a body while the nth write to a file, and so many after it, fail.
    static func among<Result>(
        _ file: stat, nth: Int, failures: Int, _ body: () throws -> Result
    ) rethrows -> Result {
        _ = isInstalled
        before.store(nth - 1, ordering: .relaxed)
        left.store(failures, ordering: .relaxed)
        device.store(UInt64(file.st_dev), ordering: .relaxed)
        inode.store(UInt64(file.st_ino), ordering: .sequentiallyConsistent)
        defer { inode.store(0, ordering: .sequentiallyConsistent) }
        return try body()
    }

    private static func fails(_ file: Int32) -> Bool {
        let wanted = inode.load(ordering: .sequentiallyConsistent)
        var status = stat()
        guard wanted != 0, fstat(file, &status) == 0, status.st_ino == wanted,
            status.st_dev == device.load(ordering: .relaxed)
        else { return false }
        if before.subtract(1, ordering: .relaxed).oldValue > 0 { return false }
        guard left.subtract(1, ordering: .relaxed).oldValue > 0 else { return false }
        count.add(1, ordering: .relaxed)
        errno = EIO
        return true
    }

    private static let isInstalled: Bool = {
        guard let vfs = sqlite3_vfs_find(nil), let set = vfs.pointee.xSetSystemCall else { return false }
        typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
        let write: Write = { file, bytes, count in fails(file) ? -1 : Glibc.write(file, bytes, count) }
        typealias PositionedWrite = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int
        let pwrite: PositionedWrite = { file, bytes, count, offset in
            fails(file) ? -1 : Glibc.pwrite(file, bytes, count, offset)
        }
        for (name, call) in [
            ("write", unsafeBitCast(write, to: sqlite3_syscall_ptr.self)),
            ("pwrite", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self)),
            ("pwrite64", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self)),
        ] { _ = set(vfs, name, call) }
        return true
    }()
}
