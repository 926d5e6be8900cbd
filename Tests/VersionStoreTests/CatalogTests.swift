// The catalog: what is committed is read at once, in order, and is there after an orderly and a disorderly end.

import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct CatalogTests {
    @Test func whatIsCommittedIsReadAtOnce() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        #expect(store.identity.wasCreated && !store.identity.rebuilt && !store.identity.wasCopied)
        for number in 0..<100 {
            let version = Records.version(kind: .current)
            var item = Records.item(try name("n\(number)"), current: version.id)
            item.id = version.item
            store.commit([.item(item), .version(version)])
            #expect(try store.item(at: item.places[0]) == item)
            #expect(try store.version(version.id) == version)
            #expect(try store.versions(of: item.id) == [version])
        }
        #expect(try store.items(in: .root).count == 100)
        #expect(try store.recordedDirectories() == [.root])
    }

    @Test func everyMutationIsSeenAfterReopening() throws {
        let fixture = try Fixture()
        var store = try fixture.store()
        var version = Records.version(kind: .current)
        version.base = .random()
        let other = Records.version(item: version.item, kind: .conflict, wall: 5)
        try fixture.write("a/b/doc.txt", "what is not there would not be found again")
        let (outer, inner) = (try fixture.fileID("a", store), try fixture.fileID("a/b", store))
        var item = Records.item(try name("doc.txt"), directory: inner, current: version.id)
        item.id = version.item
        let gone = Records.deletion(path: "a/b/gone.txt", item: item.id)
        store.commit([
            .directory(Directory(id: outer, place: Place(directory: .root, name: try name("a")))),
            .directory(Directory(id: inner, place: Place(directory: outer, name: try name("b")))),
            .item(item), .version(version), .version(other), .deletion(gone),
            .kind(version.id, .history), .flags(version.id, [.pinned]), .hash(version.id, [1, 2]),
            .setting(key: "k", value: [9]), .setting(key: "gone", value: [1]), .setting(key: "gone", value: nil),
        ])
        fixture.close()
        store = try fixture.store()
        #expect(store.identity.cleanShutdown && !store.identity.wasCreated && !store.identity.rebuilt)
        let stored = try #require(try store.version(version.id))
        #expect(stored.kind == .history && stored.flags == [.pinned] && stored.hash == [1, 2])
        #expect(stored.base == version.base && stored.attributes == version.attributes)
        #expect(try store.versions(of: item.id).map(\.id) == [other.id, version.id])
        #expect(try store.conflicted() == [item])
        #expect(try store.path(of: item)?.description == "a/b/doc.txt")
        #expect(try store.deletions(within: TreePath(bytes: "a".utf8)) == [gone])
        #expect(try store.deletions(within: TreePath(bytes: "a/b/go".utf8)).isEmpty)
        #expect(try store.deletions(in: gone.place.directory) == [gone])
        #expect(try store.deletions(group: gone.group) == [gone])
        #expect(try store.setting("k") == [9] && store.setting("gone") == nil)
        #expect(
            try store.versions(withPrefix: String(version.id.hex.prefix(12)).uppercased()).map(\.id) == [version.id])
        #expect(try store.versions(withPrefix: "xyz").isEmpty)
        #expect(try store.versions(sharing: other.content) == [other])
        let listed = try store.itemsWithOtherVersions(in: inner)
        #expect(listed.map(\.id) == [item.id])
        #expect(try store.hasOtherVersions(item.id) && !store.hasOtherVersions(.random()))
        #expect(try store.conflicts(of: item.id).map(\.kind) == [.conflict])
        let statistics = try store.statistics()
        #expect(statistics.items == 1 && statistics.versions == 2 && statistics.conflicts == 1)
        #expect(statistics.deletions == 1 && statistics.deletedBytes == 3)
        store.commit([.forgetItem(item.id), .removeDeletion(gone.id), .removeDirectory(inner)])
        #expect(try store.item(item.id) == nil && store.versions(of: item.id).isEmpty)
        #expect(try store.deletion(gone.id) == nil && store.directory(inner) == nil)
    }

    @Test func aVersionGetsAnotherContentAndStaysWhatItIs() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (version, content) = (Records.version(), ContentID.random())
        store.commit([.version(version), .kind(version.id, .history), .flags(version.id, [.pinned])])
        store.commit([.content(version.id, content), .content(.random(), content)])
        let stored = try #require(try store.version(version.id))
        #expect(stored.content == content && stored.kind == .history && stored.flags == [.pinned])
        #expect(try store.versions(sharing: content) == [stored])
        #expect(try store.versions(sharing: version.content).isEmpty)
    }

    @Test func anItemTakesAPlaceFromTheOneThatHeldIt() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let (first, second) = (Records.item(try name("x")), Records.item(try name("x")))
        store.commit([.item(first)])
        store.commit([.item(second)])
        #expect(try store.item(at: first.places[0])?.id == second.id)
        #expect(try store.item(first.id)?.places == [])
    }

    @Test func changesComeInOrderAndOnceEvenFromSeveralThreads() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let heard = Mutex<[(UInt64, Change)]>([])
        let observation = store.observe { rows in heard.withLock { $0 += rows.map { ($0.sequence, $0.1) } } }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<250 { store.commit([.change(Records.change(.saved, "t\(thread)", time: Int64(number)))]) }
        }
        store.flush()
        let rows = heard.withLock { $0 }
        #expect(rows.map(\.0) == Array(1...1000))
        for thread in 0..<4 {
            let times = rows.filter { $0.1.path.description == "t\(thread)" }.map(\.1.time.nanoseconds)
            #expect(times == Array(0..<250))
        }
        #expect(try store.changes(after: 990, limit: 5).map(\.sequence) == [991, 992, 993, 994, 995])
        #expect(try store.changes(after: 999, limit: 5).map(\.1) == [rows[999].1])
        #expect(try store.changeRange() == 1...1000)
        observation.cancel()
        store.commit([.change(Records.change(.deleted, "x"))])
        store.flush()
        #expect(heard.withLock { $0.count } == 1000)
    }

    @Test func anObserverMayReadAndCommit() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let seen = Mutex(0)
        let observation = store.observe { rows in
            let count = (try? store.changes(after: 0, limit: 10).count) ?? -1
            seen.withLock { $0 = count }
            if rows[0].sequence == 1 { store.commit([.change(Records.change(.renamed, "b"))]) }
        }
        store.commit([.change(Records.change(.created, "a"))])
        store.flush()
        store.flush()
        #expect(seen.withLock { $0 } == 2)
        observation.cancel()
    }

    @Test func theChangeFeedIsCutToItsLength() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let change = VersionStore.Mutation.change(Records.change(.saved, "a"))
        for _ in 0..<103 { store.commit(Array(repeating: change, count: 1000)) }
        #expect(try store.changeRange() == 3001...103_000)
    }

    @Test func aSecondOpenerIsToldThatTheContainerIsInUse() throws {
        let fixture = try Fixture()
        _ = try fixture.store()
        #expect(throws: StoreError.inUse) { try VersionStore(root: fixture.root) }
        #expect(throws: StoreError.inUse) { try VersionStore(root: fixture.root, options: .init(readOnly: true)) }
        fixture.close()
        let reader = try VersionStore(root: fixture.root, options: .init(readOnly: true))
        #expect(try reader.statistics().items == 0)
        reader.close()
    }

    @Test func aDirectoryThatIsNoContainerIsLeftAlone() throws {
        let fixture = try Fixture()
        #expect(throws: StoreError.notAContainer) {
            try VersionStore(root: fixture.root, options: .init(readOnly: true))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).isEmpty)
    }

    @Test func aReservedNameAndAnUnknownFormatAreRefused() throws {
        let fixture = try Fixture()
        _ = try fixture.store()
        fixture.close()
        try fixture.write(".versionsfs/format", "versionsfs 3 something=new\n")
        #expect(throws: StoreError.unknownFormat("versionsfs 3 something=new")) { try VersionStore(root: fixture.root) }
        try fixture.write(".versions", "mine")
        #expect(throws: StoreError.reservedName) { try VersionStore(root: fixture.root) }
    }

    @Test func theCatalogStaysReachableWhenTheDirectoryIsMovedAway() throws {
        let fixture = try Fixture()
        _ = try fixture.store()
        fixture.close()
        // A stand-in for a mount over the directory: the path means something else now.
        let away = fixture.path + "-away"
        try FileManager.default.moveItem(atPath: fixture.path, toPath: away)
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: away) }
        let store = try fixture.store()
        store.commit([.setting(key: "k", value: [1])])
        store.flush()
        fixture.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).isEmpty)
        #expect(try fixture.store().setting("k") == [1])
    }

    @Test(.enabled(if: geteuid() == 0, "mounting takes root"))
    func theCatalogStaysReachableBelowAMount() throws {
        let fixture = try Fixture()
        try #require(mount("tmpfs", fixture.path, "tmpfs", 0, "size=1m") == 0)
        var isMounted = true
        defer { if isMounted { umount2(fixture.path, Int32(MNT_DETACH)) } }
        // Opened below the mount: every path of SQLite's goes through the descriptor.
        let store = try fixture.store()
        for number in 0..<50 {
            store.commit([.setting(key: "\(number)", value: [UInt8](repeating: 7, count: 10_000))])
            store.flush()
        }
        fixture.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).isEmpty)
        #expect(umount2(fixture.path, 0) == 0)
        isMounted = false
        #expect(try fixture.store().setting("49")?.count == 10_000)
    }

    @Test func tenThousandCommitsTakeMicroseconds() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let names = try (0..<10_000).map { try name("n\($0)") }
        let transactions = names.enumerated().map { number, name -> [VersionStore.Mutation] in
            let version = Records.version(kind: .current, wall: Int64(number))
            var item = Records.item(name, current: version.id)
            item.id = version.item
            return [.item(item), .version(version), .change(Records.change(.saved, "n"))]
        }
        let clock = ContinuousClock()
        var calls = Duration.zero
        let total = clock.measure {
            calls = clock.measure {
                for transaction in transactions { store.commit(transaction) }
            }
            store.flush()
        }
        let batch = (0..<1000).map { VersionStore.Mutation.version(Records.version(wall: Int64($0))) }
        let rows = clock.measure {
            store.commit(batch)
            store.flush()
        }
        let lookups = clock.measure {
            for name in names.prefix(1000) { _ = try? store.item(at: Place(directory: .root, name: name)) }
        }
        print(
            "10,000 commits of 3 rows: \(calls) in the calls, \(total) until written; 1,000 rows: \(rows);",
            "1,000 look-ups: \(lookups)")
        #expect(try store.statistics().versions == 11_000)
        #expect(total < .seconds(60))
    }
}
