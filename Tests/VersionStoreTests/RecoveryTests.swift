// What is lost with a process, a catalog or a place comes back from what the objects say of themselves.

import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct RecoveryTests {
    private func copy(_ from: String) throws -> String {
        let to = "/var/tmp/versionsfs-store-\(ContentID.random().short)-copy"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", from, to]
        try process.run()
        process.waitUntilExit()
        return to
    }

    private func state(_ fixture: Fixture, _ name: String) -> String { fixture.path + "/.versionsfs/" + name }

    /// Everything that survives the loss of the catalog, in a form to compare.
    private func summary(_ store: VersionStore, _ items: [Item]) throws -> [String] {
        try items.flatMap { item in
            let row = try #require(try store.item(item.id))
            let path = try store.path(of: row)?.description ?? "-"
            let current = try #require(try store.version(row.current))
            return ["\(item.id) \(path) \(row.places) \(row.file) \(current.kind) \(current.size) \(current.parents)"]
                + (try store.versions(of: item.id)).filter { $0.kind != .current }.map { "\($0)" }
        }
    }

    @Test(arguments: [true, false])
    func aLostOrDamagedCatalogIsRebuilt(_ isLost: Bool) throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let epoch = store.identity.epoch
        var items: [Item] = []
        for path in ["top.txt", "a/one.txt", "a/b/two.txt"] {
            items.append(try fixture.document(path, kinds: [.history, .conflict, .history], in: store).item)
        }
        let (gone, _) = try fixture.document("a/gone.txt", in: store)
        let deletion = try fixture.delete("a/gone.txt", gone, in: store)
        items.append(gone)
        let before = try summary(store, items)
        let (deletions, space, container) = (try store.deletions(within: nil), store.space, store.identity.container)
        fixture.close()
        if isLost {
            try FileManager.default.removeItem(atPath: state(fixture, "catalog.sqlite"))
        } else {
            let file = try FileDescriptor.open(FilePath(state(fixture, "catalog.sqlite")), .readWrite)
            try file.writeAll(toAbsoluteOffset: 0, [UInt8](repeating: 0x5a, count: 20_000))
            try file.close()
        }
        store = try fixture.store()
        #expect(store.identity.rebuilt && !store.identity.wasCreated && !store.identity.wasCopied)
        #expect(store.identity.container == container && store.identity.epoch == epoch + 1)
        #expect(try summary(store, items) == before)
        #expect(try store.deletions(within: nil) == deletions)
        #expect(try store.deletion(deletion.id)?.item == gone.id)
        try store.rescanSpace()
        #expect(store.space == space)
        #expect(try store.check(repair: false) == [])
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.path + "/.versionsfs")
        #expect(names.contains { $0.hasPrefix("catalog.sqlite.damaged-") } == !isLost)
        fixture.close()
        #expect(try fixture.store().identity.epoch == epoch + 1)
    }

    /// Copies of the state taken while commits run: each opens, and each transaction is there whole or not at all, in
    /// order without a gap.
    @Test func aCrashLeavesWholeTransactionsInOrder() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let isDone = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        let isFurther = DispatchSemaphore(value: 0)
        let observation = store.observe { rows in
            if rows.contains(where: { $0.sequence % 2_000 == 0 }) { isFurther.signal() }
        }
        Thread.detachNewThread {
            var number: Int64 = 0
            while !isDone.withLock({ $0 }) {
                let version = Records.version(wall: number)
                store.commit([
                    .version(version), .change(Records.change(.saved, version.id.hex, time: number)),
                    .setting(key: "last", value: Array("\(number)".utf8)),
                ])
                number += 1
                if number % 100 == 0 { store.flush() }
            }
            ended.signal()
        }
        var copies: [String] = []
        for _ in 0..<4 {
            isFurther.wait()
            copies.append(try copyState(fixture))
        }
        isDone.withLock { $0 = true }
        ended.wait()
        observation.cancel()
        for path in copies {
            let copy = try Fixture(path: path)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let reopened = try copy.store()
            #expect(!reopened.identity.cleanShutdown && !reopened.identity.rebuilt)
            let range = try #require(try reopened.changeRange())
            let changes = try reopened.changes(after: 0, limit: .max)
            #expect(
                changes.map(\.sequence) == Array(range)
                    && changes.map(\.1.time.nanoseconds) == Array(0..<Int64(range.count)))
            #expect(try reopened.setting("last") == Array("\(range.count - 1)".utf8))
            #expect(try reopened.statistics().versions == range.count)
        }
    }

    @Test func whatTheLogHoldsIsAppliedOnceThoughARecoveryIsKilled() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let version = Records.version(wall: 1)
        store.commit([.version(version)])
        store.flush()
        let saved = try copyCatalog(fixture)
        // A call that the log has not, and one behind it.
        store.seal(version.id, .sealed)
        store.flush()
        store.commit([.change(Records.change(.saved, "x"))])
        store.flush()
        let log = try Data(contentsOf: URL(fileURLWithPath: state(fixture, RedoLog.name)))
        fixture.close()
        for isKilledAgain in [false, true] {
            // The second opening finds what the first has made durable, and the log, which that had not begun anew.
            let catalog = isKilledAgain ? try copyCatalog(fixture) : saved
            if isKilledAgain { fixture.close() }
            try restoreCatalog(fixture, catalog)
            try log.write(to: URL(fileURLWithPath: state(fixture, RedoLog.name)))
            store = try fixture.store()
            #expect(!store.identity.cleanShutdown)
            #expect(try store.changes(after: 0, limit: .max).count == 1)
        }
    }

    /// What a crash could leave: the database as it was at some moment, and a log that was not begun anew since.
    private func copyState(_ fixture: Fixture) throws -> String {
        let to = "/var/tmp/versionsfs-store-\(ContentID.random().short)-crash"
        try FileManager.default.createDirectory(
            atPath: to + "/.versionsfs", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.copyItem(atPath: state(fixture, "format"), toPath: to + "/.versionsfs/format")
        func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: state(fixture, name))) }
        while true {
            let header = try read("catalog.sqlite-wal").prefix(32)
            let (database, log) = (try read("catalog.sqlite"), try read("catalog.sqlite-wal"))
            guard log.prefix(32) == header else { continue }
            try database.write(to: URL(fileURLWithPath: to + "/.versionsfs/catalog.sqlite"))
            try log.write(to: URL(fileURLWithPath: to + "/.versionsfs/catalog.sqlite-wal"))
            return to
        }
    }

    @Test func theLostTailOfTheCatalogIsReadFromLabels() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let (item, versions) = try fixture.document("a/doc.txt", in: store)
        let (other, _) = try fixture.document("b.txt", in: store)
        store.flush()
        // The process ends here for the catalog: what follows reaches only the objects.
        let saved = try copyCatalog(fixture)
        var displaced = try #require(versions.last)
        displaced.kind = .history
        let place = item.places[0]
        let directory = try FileDescriptor.open(FilePath(fixture.path + "/a"), .readOnly, options: .directory)
        try store.contents.keep(
            moving: place.name, in: directory, as: displaced.content,
            .init(version: displaced, path: .init(bytes: "a/doc.txt".utf8) ?? .root, place: place))
        try directory.close()
        try fixture.write("a/doc.txt", "newer than the catalog")
        let deletion = try fixture.delete("b.txt", other, in: store)
        fixture.close()
        try restoreCatalog(fixture, saved)

        store = try fixture.store()
        #expect(!store.identity.rebuilt && !store.identity.cleanShutdown)
        // Whether the save that displaced it was whole is the container's to judge: it is told which items to look at.
        #expect(try store.version(displaced.id)?.kind == .current)
        let row = try #require(try store.item(at: place))
        #expect(row.id == item.id && row.current == displaced.id)
        #expect(try store.keptCurrents().map(\.id) == [item.id])
        #expect(try store.deletion(deletion.id) == deletion)
        #expect(try store.item(other.id)?.places == [])
        #expect(try store.check(repair: false) == [])
    }

    /// An item that the catalog has not heard of, whose labels name two paths.
    @Test(arguments: [false, true])
    func anItemIsNotWhereItsFileWasBeforeALaterVersion(_ isBack: Bool) throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let saved = try copyCatalog(fixture)
        try fixture.write("earlier.txt", "what it left, or came back with")
        let file = try System.extendedStatus("earlier.txt", in: fixture.root)
        let id = ItemID.random()
        for (index, path) in ["earlier.txt", "later.txt"].enumerated() {
            var version = Records.version(item: id, size: UInt64(path.utf8.count), wall: Int64(index))
            // The file's last change was a rename: before the later version was saved, or after that.
            if path == "later.txt" {
                version.saved = file.change.advanced(byNanoseconds: isBack ? -1_000_000 : 1_000_000)
            }
            version.hash = Records.hash(path)
            try fixture.write("old", path)
            try store.contents.keep(
                moving: try name("old"), in: fixture.root, as: version.content,
                .init(
                    version: version, path: try #require(TreePath(bytes: path.utf8)),
                    place: try fixture.place(path, store)))
        }
        fixture.close()
        try restoreCatalog(fixture, saved)

        store = try fixture.store()
        #expect(try store.item(id)?.places == (isBack ? [try fixture.place("earlier.txt", store)] : []))
        #expect(try store.versions(of: id).count == 2)
        #expect(try store.check(repair: false) == [])
    }

    /// What was synchronized carries a label as the current version; it stays on the file when that becomes an object,
    /// and the power may fail before the next one is on the disk.
    @Test func whatWasCurrentWhenItWasSynchronizedIsHistoryAmongTheObjects() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let (item, versions) = try fixture.document("a/doc.txt", in: store)
        store.flush()
        let saved = try copyCatalog(fixture)
        let place = item.places[0]
        let path = try #require(TreePath(bytes: "a/doc.txt".utf8))
        var last = try #require(versions.last)
        for (index, text) in ["synchronized", "saved after it"].enumerated() {
            var version = Records.version(
                item: item.id, kind: index == 0 ? .current : .history, size: UInt64(text.utf8.count), wall: 1)
            (version.parents, version.hash) = ([last.id], Records.hash(text))
            version.time = last.time.next(now: version.saved)
            try fixture.write("old", text)
            try store.contents.keep(
                moving: try name("old"), in: fixture.root, as: version.content,
                .init(version: version, path: path, place: place))
            last = version
        }
        fixture.close()
        try restoreCatalog(fixture, saved)

        store = try fixture.store()
        let kinds = try store.versions(of: item.id).map(\.kind)
        #expect(kinds.filter { $0 == .current }.count == 1, "\(kinds)")
        #expect(try store.item(item.id)?.current == last.id)
        #expect(try !store.check(repair: false).contains { $0.kind == .severalCurrents })
    }

    @Test func anUndeletionWhoseRowWasLostIsSeen() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        let (item, _) = try fixture.document("b.txt", in: store)
        let deletion = try fixture.delete("b.txt", item, in: store)
        store.flush()
        let saved = try copyCatalog(fixture)
        try store.deletedArea.moveOut(deletion.id, to: deletion.place.name, of: fixture.root)
        fixture.close()
        try restoreCatalog(fixture, saved)
        store = try fixture.store()
        #expect(try store.deletion(deletion.id) == nil)
        #expect(try store.item(item.id) == item)
    }

    private func copyCatalog(_ fixture: Fixture) throws -> [(String, Data)] {
        try ["catalog.sqlite", "catalog.sqlite-wal"].map {
            ($0, try Data(contentsOf: URL(fileURLWithPath: state(fixture, $0))))
        }
    }

    private func restoreCatalog(_ fixture: Fixture, _ saved: [(String, Data)]) throws {
        for (name, data) in saved { try data.write(to: URL(fileURLWithPath: state(fixture, name))) }
    }

    @Test func aCopiedContainerGetsNewIdentitiesAndKeepsItsHistory() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (item, versions) = try fixture.document("a/b/doc.txt", kinds: [.history, .conflict], in: store)
        let (gone, _) = try fixture.document("a/gone.txt", in: store)
        let deletion = try fixture.delete("a/gone.txt", gone, in: store)
        let identity = store.identity
        fixture.close()
        let path = try copy(fixture.path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let copied = try Fixture(path: path)
        let other = try copied.store()
        #expect(other.identity.wasCopied && !other.identity.rebuilt)
        #expect(other.identity.container != identity.container && other.identity.device != identity.device)
        #expect(other.identity.epoch > identity.epoch)
        let place = try copied.place("a/b/doc.txt", other)
        #expect(place != item.places[0])
        let row = try #require(try other.item(at: place))
        #expect(try row.id == item.id && row.file.id == copied.fileID("a/b/doc.txt", other))
        #expect(try other.path(of: row)?.description == "a/b/doc.txt")
        #expect(try Set(other.versions(of: item.id)) == Set(versions))
        let moved = try #require(try other.deletion(deletion.id))
        #expect(try moved.place.directory == copied.fileID("a", other) && moved.file != deletion.file)
        #expect(try other.check(repair: false) == [])
        copied.close()
        #expect(try copied.store().identity.wasCopied == false)
        #expect(try fixture.store().identity.container == identity.container)
    }

    @Test func aClosedContainerIsFreeWhoeverStillHasACopyOfItsDescriptors() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        // As a process has them that is between fork(2) and execve(2).
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            if target == state(fixture, "format"), let number = Int32(name) {
                copies.append(fcntl(number, F_DUPFD_CLOEXEC, 0))
            }
        }
        #expect(!copies.isEmpty && store.identity.wasCreated)
        fixture.close()
        #expect(try fixture.store().identity.wasCreated == false)
    }

    @Test func aMovedContainerIsNoCopy() throws {
        let fixture = try Fixture()
        let identity = try fixture.store().identity
        fixture.close()
        let away = fixture.path + "-moved"
        try FileManager.default.moveItem(atPath: fixture.path, toPath: away)
        let moved = try Fixture(path: away)
        defer { try? FileManager.default.removeItem(atPath: away) }
        #expect(try moved.store().identity.container == identity.container)
        #expect(try moved.store().identity.wasCopied == false)
    }

    @Test func aFileIdentityIsStableAndNeverTheRoot() throws {
        let container = ContainerID.random()
        let (one, two) = (
            FileIdentity(container: container, rootDevice: 7), FileIdentity(container: container, rootDevice: 8)
        )
        let born = Timestamp(nanoseconds: 99)
        #expect(one.id(device: 7, inode: 5, born: born) == two.id(device: 8, inode: 5, born: born))
        #expect(one.id(device: 9, inode: 5, born: born) == two.id(device: 9, inode: 5, born: born))
        let ids = (0..<100_000).map { one.id(device: 7, inode: UInt64($0), born: born) }
        #expect(Set(ids).count == ids.count && !ids.contains(.root))
        #expect(one.id(device: 7, inode: 5, born: Timestamp(nanoseconds: 100)) != ids[5])
        #expect(FileIdentity(container: .random(), rootDevice: 7).id(device: 7, inode: 5, born: born) != ids[5])
    }
}
