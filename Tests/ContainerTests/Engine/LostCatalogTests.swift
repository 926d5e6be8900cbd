// The catalog of facts is lost: what is kept says what it is, and the facts are made anew from that.

import Foundation
import Glibc
import Lineage
import Support
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("A lost catalog of facts")
struct LostCatalogTests {
    enum Loss: CaseIterable { case missing, damaged, marked }

    /// The mount ends, its catalog is lost, and the next one begins.
    private func lose(
        _ container: ServedContainer, _ loss: Loss = .missing, _ meanwhile: () throws -> Void = {}
    ) throws {
        try container.remount {
            let catalog = "\(container.path)/.versionsfs/catalog2.sqlite"
            switch loss {
            case .missing: try FileManager.default.removeItem(atPath: catalog)
            case .damaged:
                var bytes = try Data(contentsOf: URL(fileURLWithPath: catalog))
                bytes.replaceSubrange(0..<2000, with: Data(repeating: 7, count: 2000))
                try bytes.write(to: URL(fileURLWithPath: catalog))
            case .marked: try container.write(".versionsfs/catalog.damaged", "")
            }
            try meanwhile()
        }
    }

    @Test("Histories, names and the deleted list are made anew, with their identities", arguments: Loss.allCases)
    func rebuilt(_ loss: Loss) throws {
        let container = try ServedContainer()
        for text in ["one", "two", "three"] { try container.save("f", text) }
        try container.makeDirectory("d")
        try container.makeDirectory("d/e")
        for (index, text) in ["alpha", "beta", "gamma"].enumerated() {
            try container.save("d/e/new\(index)", text)
            try container.rename("d/e/new\(index)", to: "d/e/g")
        }
        try container.save("moved", "here")
        try container.save("moved", "there")
        try container.rename("moved", to: "d/moved")
        try container.save("gone", "old")
        try container.save("gone", "older")
        try container.unlink("gone")
        try container.makeDirectory("empty")
        try container.container.removeDirectory(container.caller, parent: Node.rootID, name: Array("empty".utf8))
        let (epoch, last) = (container.store.identity.epoch, container.facts.facts().lastNumber)
        let (ids, deleted) = (try identities(of: "f", container), try container.deleted())
        #expect(ids.count == 3 && deleted.contains(["older", "old"]))
        try lose(container, loss)
        #expect(container.facts.identity.wasLost && !container.facts.identity.wasCreated)
        #expect(container.store.identity.epoch == epoch + 1)
        #expect(try container.history("f") == ["three", "two", "one"])
        #expect(try container.history("d/e/g") == ["gamma", "beta", "alpha"])
        #expect(try container.history("d/moved") == ["there", "here"])
        #expect(try container.row("moved") == nil)
        let found = try container.deleted()
        #expect(found == deleted)
        #expect(try container.told().deleted().contains { $0.occupant.hasNoVersions })
        // What was current has no label.
        #expect(try identities(of: "f", container).dropFirst() == ids.dropFirst())
        #expect(try container.problems() == [])
        #expect(container.facts.facts().lastNumber > last + 1 << 35)
        #expect(try container.facts.feed(after: last, limit: 10).hasGap)
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(container.path)/.versionsfs")
        #expect(names.contains { $0.hasPrefix("catalog2.sqlite.damaged-") } == (loss != .missing))
        #expect(!names.contains("catalog.damaged"))
        // It goes on, and is not lost again.
        try container.save("f", "four")
        try container.remount()
        #expect(!container.facts.identity.wasLost)
        #expect(container.store.identity.epoch == epoch + 1)
        #expect(try container.history("f") == ["four", "three", "two", "one"])
    }

    private func identities(of path: String, _ container: ServedContainer) throws -> [VersionID] {
        guard let document = try container.row(path)?.document else { return [] }
        return try container.told().history(of: document).compactMap { try container.facts.lists.id(of: $0) }
    }

    @Test("A file that is adopted never meets an old object as its own", arguments: [0, 1, 5])
    func oldObject(_ generation: UInt64) throws {
        let container = try ServedContainer()
        try container.save("f", "now")
        let file = try #require(try container.row("f")?.file)
        try lose(container) {
            // Its label cannot be read.
            let object = ContentID(Content(file: file, generation: generation)).hex
            try FileManager.default.createDirectory(
                atPath: "\(container.path)/.versionsfs/objects/\(object.prefix(2))", withIntermediateDirectories: true)
            try container.write(".versionsfs/objects/\(object.prefix(2))/\(object)", "what it was long ago")
        }
        for text in 0..<8 { try container.save("f", "\(text)") }
        #expect(try container.history("f") == (0..<8).reversed().map { "\($0)" } + ["now"])
        #expect(try container.problems().filter { !$0.contains("label") } == [])
    }

    @Test("A rebuild that was killed begins anew")
    func killed() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try lose(container) {
            // The tables are there, and nothing in them.
            let path = SQLitePath.path(of: FactCatalog.fileName, in: container.store.directory)
            let made = try FactCatalog(path: path, readOnly: false)
            made.connection.close()
        }
        #expect(try container.history("f") == ["two", "one"])
    }

    @Test("A rebuild that was killed before the tree was looked at goes on with that")
    func unsettled() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try container.save("g", "other")
        try container.save("g", "else")
        try lose(container) {
            let facts = try FactStore(of: container.store)
            #expect(facts.identity.wasLost)
            facts.close()
            try container.write("f", "below")
            try FileManager.default.removeItem(atPath: "\(container.path)/g")
        }
        #expect(!container.facts.identity.wasLost)
        #expect(try container.history("f") == ["below", "one"])
        #expect(try container.row("g") == nil)
        #expect(try container.problems() == [])
    }

    @Test("Lost twice, it has what it had")
    func twice() throws {
        let container = try ServedContainer()
        for text in ["one", "two"] { try container.save("f", text) }
        try lose(container)
        try container.save("f", "three")
        let ids = try identities(of: "f", container)
        let last = container.facts.facts().lastNumber
        try lose(container)
        #expect(try container.history("f") == ["three", "two", "one"])
        #expect(try identities(of: "f", container).dropFirst() == ids.dropFirst())
        #expect(container.facts.facts().lastNumber > last)
        #expect(try container.problems() == [])
    }

    @Test("A document in a directory that is gone is in the deleted list")
    func goneDirectory() throws {
        let container = try ServedContainer()
        try container.makeDirectory("d")
        try container.save("d/f", "one")
        try container.save("d/f", "two")
        try lose(container) { try FileManager.default.removeItem(atPath: "\(container.path)/d") }
        #expect(try container.deleted() == [["one"]])
        #expect(try container.problems() == [])
    }

    @Test("A conflict is one still, and one that was resolved is none", arguments: [true, false])
    func conflict(isResolved: Bool) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let me = Principal(user: getuid(), primaryGroup: getgid(), process: getpid())
        let path = try #require(TreePath(bytes: Array("f".utf8)))
        func document() throws -> DocumentRecord { try container.container.finder.document(at: path, as: me) }
        _ = try container.container.operations.simulateConflict(document(), as: me)
        let conflicts = try document().versions.filter { $0.kind == .conflict }.map(\.id)
        #expect(conflicts.count == 1)
        if isResolved {
            _ = try container.container.operations.resolve(document(), .current, seen: nil, as: me)
        }
        try lose(container)
        let versions = try document().versions
        #expect(versions.filter { $0.kind == .conflict }.map(\.id) == (isResolved ? [] : conflicts))
        #expect(versions.contains { $0.id == conflicts.first })
        #expect(container.text("f") == "one")
        #expect(try container.problems() == [])
    }
}
