// A process that upgrades a container is killed, and the next one goes on.

import Foundation
import Glibc
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("Killed upgrades", .serialized)
struct UpgradeKillTests {
    /// More moments than an upgrade of such a container has.
    private static let most = 60

    @Test("After a kill at any moment the next process has all that format 1 had")
    func killed() async throws {
        var isOver = false
        for moment in 1...Self.most where !isOver {
            let fixture = try Fixture()
            try Self.fill(fixture)
            let path = fixture.path
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, moment = moment as Int] in
                try Self.upgrade(path, until: moment)
            }
            isOver = FileManager.default.fileExists(atPath: path + "/over")
            try #require(isOver || moment < Self.most)
            // What is left of format 1 can be looked at still, though no build without facts would.
            let store = try VersionStore(
                over: ContainerState(root: fixture.root, options: .init(clock: fixture.clock, logger: Fixture.quiet)))
            if try Upgrade.isNeeded(store.base) { try Upgrade(store).run() }
            let seen = try SeenAfterwards(store)
            let comment = Comment("killed at moment \(moment)")
            try seen.expectSame(comment)
            try seen.expectContents(comment)
            #expect(try seen.history.deletions(within: nil).filter { $0.type == .file }.count == 3, comment)
            seen.facts.close()
            store.close()
        }
    }

    private static func fill(_ fixture: Fixture) throws {
        let store = try fixture.store()
        try fixture.document("kept", kinds: [.history, .conflict], in: store)
        try fixture.document("below/kept", in: store)
        for name in ["one", "two", "three"] {
            let (item, _) = try fixture.document(name, in: store)
            _ = try fixture.delete(name, item, in: store)
        }
        fixture.close()
    }

    /// What a mount does, in a process that is killed at one of its moments, or at the end.
    private static func upgrade(_ path: String, until moment: Int) throws {
        let fixture = try Fixture(path: path)
        let store = try fixture.store()
        let count = Atomic<Int>(0)
        func pass() {
            if count.add(1, ordering: .relaxed).newValue == moment { kill(getpid(), SIGKILL) }
        }
        var upgrade = Upgrade(store)
        upgrade.interrupt = { _ in pass() }
        try upgrade.run()
        store.closeCatalog()
        let facts = try FactStore(of: store.base)
        var moves = EntryMoves(facts, store.base)
        moves.interrupt = pass
        try moves.run()
        try fixture.write("over", "")
        kill(getpid(), SIGKILL)
    }
}
