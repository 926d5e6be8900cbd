// Upgrades that end early: format 1 stays, and the next attempt begins anew.

import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("Upgrades that end early")
struct UpgradeFailureTests {
    private func world(_ seed: UInt64, path: String? = nil) throws -> (Fixture, FormerWorld) {
        let fixture = try Fixture(path: path)
        let world = try FormerWorld(fixture, seed: seed)
        for _ in 0..<40 { try world.step() }
        world.store.flush()
        return (fixture, world)
    }

    /// What lies in the state, but for the new catalog; with the size of each file.
    private func files(_ fixture: Fixture) throws -> [String: Int] {
        let state = fixture.path + "/.versionsfs"
        var found: [String: Int] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) where !name.hasPrefix("catalog2") {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")
            found[name] = attributes[.size] as? Int
        }
        return found
    }

    @Test("Killed in any step, it begins anew", arguments: Upgrade.Step.allCases)
    func killed(_ step: Upgrade.Step) throws {
        let (fixture, world) = try world(11)
        let before = try files(fixture)
        var upgrade = Upgrade(world.store)
        upgrade.interrupt = { if $0 == step { throw UpgradeKilled() } }
        #expect(throws: UpgradeFailure.self) { try upgrade.run() }
        #expect(try files(fixture) == before)
        #expect((try? System.status(FactCatalog.fileName, in: world.store.state)) == nil)
        try Upgrade(world.store).run()
        #expect((try? System.status(Upgrade.temporaryName, in: world.store.state)) == nil)
        let seen = try SeenAfterwards(world.store)
        try seen.expectSame("after a kill while \(step)")
        seen.facts.close()
    }

    @Test("Killed between two entries, it goes on")
    func killedWhileMoving() throws {
        for most in 0..<8 {
            let (_, world) = try world(12)
            for _ in 0..<12 {
                for operation in [world.create, world.delete] {
                    world.tick()
                    if try operation() { world.commit() }
                }
            }
            try Upgrade(world.store).run()
            let facts = try FactStore(in: world.store.state, options: .init(logger: Fixture.quiet))
            var (moves, done) = (EntryMoves(facts, world.store.base), 0)
            moves.interrupt = {
                done += 1
                if done > most { throw UpgradeKilled() }
            }
            #expect(throws: UpgradeKilled.self) { try moves.run() }
            facts.close()
            let seen = try SeenAfterwards(world.store)
            try seen.expectSame("after \(most) entries")
            try seen.expectContents("after \(most) entries")
            seen.facts.close()
        }
    }

    @Test("A catalog that says something else does not count")
    func different() throws {
        let (fixture, world) = try world(13)
        var upgrade = Upgrade(world.store)
        upgrade.interrupt = { step in
            guard step == .checking else { return }
            let path = fixture.path + "/.versionsfs/" + Upgrade.temporaryName
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            // The pages in the middle are gone.
            var torn = bytes
            torn.replaceSubrange(8192..<(bytes.count / 2), with: repeatElement(0, count: bytes.count / 2 - 8192))
            let file = try FileDescriptor.open(FilePath(path), .writeOnly)
            try file.writeAll(torn)
            try file.close()
        }
        #expect(throws: UpgradeFailure.self) { try upgrade.run() }
        #expect((try? System.status(FactCatalog.fileName, in: world.store.state)) == nil)
        #expect((try? System.status(Upgrade.temporaryName, in: world.store.state)) == nil)
    }

    /// Mounting takes root.
    @Test("On a full disk format 1 stays, and the message says so", .enabled(if: geteuid() == 0, "mounting takes root"))
    func full() throws {
        let path = "/var/tmp/versionsfs-store-\(ContentID.random().short)-full"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=16m") == 0)
        defer {
            umount2(path, Int32(MNT_DETACH))
            rmdir(path)
        }
        let (fixture, world) = try world(14, path: path)
        let before = try files(fixture)
        // None of it before it begins, or in the middle.
        for step: Upgrade.Step? in [nil, .writing, .indexing] {
            let filler = path + "/filler"
            func fill() throws {
                let file = try FileDescriptor.open(
                    FilePath(filler), .writeOnly, options: .create, permissions: [.ownerReadWrite])
                while (try? file.writeAll([UInt8](repeating: 1, count: 4096))) != nil {}
                try file.close()
            }
            var upgrade = Upgrade(world.store)
            if step == nil { try fill() }
            upgrade.interrupt = { if $0 == step { try fill() } }
            let failure = #expect(throws: UpgradeFailure.self) { try upgrade.run() }
            let text = failure.map { "\($0)" } ?? ""
            #expect(text.hasPrefix("the container stays in format 1: "), "\(text)")
            #expect(step == nil ? text.contains("MiB") : text.contains("the file system is full"), "\(text)")
            #expect(try files(fixture) == before)
            #expect(unlink(filler) == 0)
        }
        try Upgrade(world.store).run()
        let seen = try SeenAfterwards(world.store)
        try seen.expectSame("after a full disk")
        seen.facts.close()
        fixture.close()
    }
}
