// The number in the format line: which builds may open a container.

import Foundation
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("The format line")
struct FormatTests {
    private func line(_ fixture: Fixture) throws -> String {
        try String(contentsOfFile: fixture.path + "/.versionsfs/format", encoding: .utf8)
    }

    private func state(_ fixture: Fixture) throws -> ContainerState {
        try ContainerState(root: fixture.root, options: .init(clock: fixture.clock, logger: Fixture.quiet))
    }

    @Test("It says 2 once a container has facts, and its ids stay")
    func facts() throws {
        let fixture = try Fixture()
        let store = try fixture.store()
        try fixture.document("f", kinds: [.history], in: store)
        let identity = store.base.identity
        fixture.close()
        #expect(try line(fixture).hasPrefix("versionsfs 1 "))
        var state = try state(fixture)
        do {
            let former = try VersionStore(over: state)
            try Upgrade(former).run()
            former.closeCatalog()
        }
        #expect(try line(fixture).hasPrefix("versionsfs 2 "))
        try FactStore(of: state).close()
        #expect(state.identity == identity)
        state.close()
        state = try self.state(fixture)
        #expect(state.identity == identity)
        state.close()
    }

    @Test("A new container of facts has it, too; a build without facts refuses it and changes nothing")
    func refused() throws {
        let fixture = try Fixture()
        let state = try state(fixture)
        try FactStore(of: state).close()
        state.close()
        let line = try line(fixture)
        #expect(line.hasPrefix("versionsfs 2 "))
        let refusal = StoreError.unknownFormat(String(line.dropLast()))
        #expect(throws: refusal) { try VersionStore(root: fixture.root) }
        #expect(try self.line(fixture) == line)
        #expect(!FileManager.default.fileExists(atPath: fixture.path + "/.versionsfs/catalog.sqlite"))
        // It is not in use.
        try self.state(fixture).close()
    }

    @Test("A container of facts whose line has lost its ids gets new ones, and stays one of facts")
    func damaged() throws {
        let fixture = try Fixture()
        var state = try state(fixture)
        let container = state.identity.container
        try FactStore(of: state).close()
        state.close()
        try "versionsfs 2 epoch=1\n".write(
            toFile: fixture.path + "/.versionsfs/format", atomically: false, encoding: .utf8)
        #expect(throws: StoreError.self) { try VersionStore(root: fixture.root) }
        state = try self.state(fixture)
        #expect(state.identity.container != container && state.hasFacts)
        state.close()
    }

    @Test("Between the format line and the name of the new catalog, a kill leaves an upgrade that is done")
    func killed() throws {
        let fixture = try Fixture()
        let state = try state(fixture)
        var former = try VersionStore(over: state)
        let (item, _) = try fixture.document("f", kinds: [.history], in: former)
        former.flush()
        var upgrade = Upgrade(former)
        var count = 0
        upgrade.interrupt = { step in
            count += step == .naming ? 1 : 0
            if count == 2 { throw UpgradeKilled() }
        }
        #expect(throws: UpgradeFailure.self) { try upgrade.run() }
        former.closeCatalog()
        #expect(state.hasFacts)
        #expect(try !Upgrade.isNeeded(state))
        let facts = try FactStore(of: state)
        #expect(!facts.identity.wasLost)
        #expect(try facts.document(item.id) != nil)
        #expect((try? System.status(Upgrade.temporaryName, in: state.directory)) == nil)
        facts.close()
        // A failure there leaves the new catalog, too.
        former = try VersionStore(over: state)
        former.closeCatalog()
        state.close()
    }
}
