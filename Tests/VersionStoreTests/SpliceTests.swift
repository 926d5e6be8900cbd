// Versions that go are taken out of the graph: in the rows, whatever is written after them, and after a kill.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

struct SpliceTests {
    /// Versions in a line, the last of them current.
    private func line(_ count: Int, in store: VersionStore) -> [Version] {
        let item = ItemID.random()
        var versions: [Version] = []
        for number in 0..<count {
            var version = Records.version(
                item: item, kind: number == count - 1 ? .current : .history, wall: Int64(number) * 1_000)
            version.parents = versions.last.map { [$0.id] } ?? []
            versions.append(version)
        }
        store.commit(versions.map { .version($0) })
        return versions
    }

    private func parents(_ version: Version, _ store: VersionStore) throws -> [VersionID] {
        try #require(try store.version(version.id)).parents
    }

    @Test("what went back to a version that goes, goes back to its parents", arguments: [true, false])
    func removal(atOnce: Bool) throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let line = line(6, in: store)
        let gone = [line[1], line[2], line[4]]
        #expect(Set(try store.children(of: gone).map(\.id)) == [line[3].id, line[5].id])
        if atOnce {
            store.commit(gone.map { .removeVersion($0.id) })
        } else {
            for version in gone { store.commit([.removeVersion(version.id)]) }
        }
        #expect(try store.versions(of: line[0].item).map(\.id) == [line[5], line[3], line[0]].map(\.id))
        #expect(try parents(line[5], store) == [line[3].id] && parents(line[3], store) == [line[0].id])
    }

    @Test("who writes a version as it was before does not bring the way back that is gone, and may add to it")
    func staleRow() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let line = line(3, in: store)
        store.commit([.removeVersion(line[1].id)])
        var amended = line[2]
        amended.size = 77
        store.commit([.version(amended)])
        #expect(try store.version(amended.id)?.size == 77 && parents(amended, store) == [line[0].id])
        let loser = Records.version(item: amended.item, kind: .conflict, wall: 500)
        amended.parents.append(loser.id)
        store.commit([.version(loser)])
        store.commit([.version(amended)])
        #expect(try parents(amended, store) == [line[0].id, loser.id])
    }

    @Test(
        "where several part from a version that goes, they name it still, one by one as all at once",
        arguments: [true, false])
    func parting(atOnce: Bool) throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        var line = line(4, in: store)
        line[3].parents = [line[1].id]
        line[3].id = .random()
        store.commit([.version(line[3])])
        let gone = atOnce ? [line[0], line[1]] : [line[1]]
        store.commit(gone.map { .removeVersion($0.id) })
        let expected = [line[1].id, line[0].id]
        #expect(try parents(line[2], store) == expected && parents(line[3], store) == expected)
    }

    @Test("a kill before the catalog was written changes nothing of that")
    func redone() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        let line = line(4, in: store)
        store.flush()
        let copy = fixture.path + "-copy"
        defer { try? FileManager.default.removeItem(atPath: copy) }
        // As the state is in the moment of a kill: the rows are in the log alone.
        store.commit([.removeVersion(line[2].id)])
        store.commit([.version(line[3]), .removeVersion(line[1].id)])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", fixture.path, copy]
        try process.run()
        process.waitUntilExit()
        let killed = try Fixture(path: copy)
        let again = try killed.store()
        #expect(try parents(line[3], again) == [line[0].id])
        #expect(try again.versions(of: line[0].item).count == 2)
        killed.close()
    }
}
