// The check of facts finds each kind of damage, says what a repair does, and does it without removing content.

import Foundation
import Lineage
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

@Suite("A check of facts") struct FactCheckTests {
    /// A repair does what it says: afterwards the check is clean, and all that was kept is still there.
    private func expectRepaired(
        _ checked: CheckedFacts, finds kinds: [Finding.Kind], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let kept = try checked.kept()
        let found = try checked.check()
        #expect(found.map(\.kind) == kinds, "\(found)", sourceLocation: sourceLocation)
        #expect(found.allSatisfy { !$0.isRepaired && $0.repair != nil }, sourceLocation: sourceLocation)
        #expect(try checked.check(repairs: true).allSatisfy(\.isRepaired), sourceLocation: sourceLocation)
        #expect(try checked.check() == [], sourceLocation: sourceLocation)
        #expect(try checked.kept() == kept, sourceLocation: sourceLocation)
    }

    private func marks(_ checked: CheckedFacts) throws -> [Bool] {
        try checked.versions.map { try checked.facts.detail(of: $0)?.marks.contains(.lost) ?? false }
    }

    @Test("A sound container is clean, also while it is in use")
    func sound() throws {
        let checked = try CheckedFacts()
        #expect(try checked.check() == [])
        #expect(try checked.check(repairs: true, isAtRest: false) == [])
        var progress: [Int] = []
        let check = FactCheck(checked.facts, checked.store, of: checked, repairs: false, isAtRest: true)
        #expect(try check.run { done, _ in progress.append(done) } == [])
        #expect(progress.last == 3)
    }

    // MARK: Contents

    @Test("A version whose content is missing, too short or another one is marked as lost")
    func lost() throws {
        let checked = try CheckedFacts()
        try FileManager.default.removeItem(atPath: checked.path(of: 0))
        try Data("text X".utf8).write(to: URL(fileURLWithPath: checked.path(of: 1)))
        try expectRepaired(checked, finds: [.contentMissing, .contentChanged])
        #expect(try marks(checked) == [true, true, false])
        #expect(try checked.facts.lists.lostContents(naming: 1).count == 2)
        let short = try CheckedFacts()
        try Data("te".utf8).write(to: URL(fileURLWithPath: short.path(of: 1)))
        try expectRepaired(short, finds: [.contentChanged])
        #expect(try marks(short) == [false, true, false])
    }

    @Test("An object that a program has open is not judged, nor a file that cannot be looked at")
    func changing() throws {
        let checked = try CheckedFacts()
        try Data("text X".utf8).write(to: URL(fileURLWithPath: checked.path(of: 1)))
        checked.isOpen = true
        checked.found = .unknown
        #expect(try checked.check(isAtRest: false) == [])
    }

    @Test("A version in a file that is nowhere is lost, and so is one in a content that the file has left")
    func gone() throws {
        let checked = try CheckedFacts()
        checked.found = .gone
        try expectRepaired(checked, finds: [.contentMissing])
        #expect(try marks(checked) == [false, false, true])
    }

    @Test("Versions that share a content each have its first bytes")
    func appended() throws {
        let checked = try CheckedFacts()
        let text = String(repeating: "line\n", count: 1000)
        let digest = Records.hash(String(text.prefix(3000)))
        let bytes = Fingerprint(hash: digest, size: 3000)
        try checked.change(
            """
            UPDATE version SET size = 3000, high = \(Int64(bitPattern: bytes.high)),
                low = \(Int64(bitPattern: bytes.low)), generation = 1 WHERE seq = \(checked.versions[0].number)
            """)
        try FileManager.default.removeItem(atPath: checked.path(of: 0))
        try Data(text.utf8).write(to: URL(fileURLWithPath: checked.path(of: 1)))
        // The other version of that content has other bytes.
        let found = try checked.check()
        #expect(found.map(\.kind) == [.contentChanged])
        #expect(found.first?.subject == checked.facts.id(of: checked.versions[1], nil)?.hex)
        #expect(found.first?.path?.description == "f")
    }

    // MARK: What no fact tells of

    @Test("An object gets its version back from its label")
    func strayObject() throws {
        let checked = try CheckedFacts()
        let id = try #require(checked.facts.id(of: checked.versions[0], nil))
        try checked.change("DELETE FROM version WHERE seq = \(checked.versions[0].number)")
        try expectRepaired(checked, finds: [.objectUnknown])
        let number = try #require(try checked.facts.version(id))
        let again = try #require(try checked.facts.lists.version(number))
        #expect(again.document.number == checked.row.number && again.kind == .history)
        #expect(again.row.fingerprint.size == 6 && !checked.remembered.isEmpty)
    }

    @Test("An object that was kept just now is no finding, nor one whose version only memory has")
    func newObject() throws {
        let checked = try CheckedFacts()
        try checked.change("DELETE FROM version WHERE seq = \(checked.versions[0].number)")
        checked.known = [Content(file: CheckedFacts.file, generation: 0)]
        #expect(try checked.check(isAtRest: false) == [])
        checked.known = []
        checked.fixture.clock.advance(seconds: -60)
        #expect(try checked.check(isAtRest: false) == [])
        #expect(try checked.check().map(\.kind) == [.objectUnknown])
    }

    @Test("An object without a label, and one that would be the live file's content, are listed")
    func unreadable() throws {
        let checked = try CheckedFacts()
        let name = "ab" + String(repeating: "0", count: 30)
        try checked.fixture.write(".versionsfs/objects/ab/\(name)", "whose?")
        try checked.keep("later", as: VersionNumber(999), 7)
        try expectRepaired(checked, finds: [.objectUnknown, .labelUnreadable])
        let later = ContentID(high: CheckedFacts.file.number, low: 7).hex
        #expect(try checked.facts.lostObjects() == ["objects/00/\(later)", "objects/ab/\(name)"])
    }

    @Test("Versions that were given up leave nothing to find")
    func forgotten() throws {
        let checked = try CheckedFacts()
        checked.facts.commit(FactTransaction([.forget(checked.versions[0]), .purge(checked.removal)]))
        #expect(try checked.check() == [])
        try FileManager.default.removeItem(atPath: checked.path(of: 0))
        #expect(try checked.check() == [])
    }

    // MARK: The deleted area

    @Test("A deletion whose entry is gone is forgotten")
    func missingEntry() throws {
        let checked = try CheckedFacts()
        let id = try #require(checked.facts.id(ofDeletion: checked.removal, nil))
        try checked.store.deletedArea.remove(id)
        try expectRepaired(checked, finds: [.deletionMissing])
        #expect(try checked.facts.lists.deleted(limit: 9).elements.isEmpty)
    }

    @Test("An entry gets its deletion back from its label, or is listed where its name is in use")
    func strayEntry() throws {
        let checked = try CheckedFacts()
        let (free, taken) = (DeletionID.random(), DeletionID.random())
        try checked.putAway(Place(directory: .root, name: name("e")), free)
        try checked.putAway(Place(directory: .root, name: name("f")), taken)
        try expectRepaired(checked, finds: [.deletionUnknown, .deletionUnknown])
        #expect(try checked.facts.lostObjects() == ["deleted/\(taken.hex.prefix(2))/\(taken.hex)"])
        let history = FactHistory(checked.facts, of: checked.store)
        #expect(try history.deletion(free)?.path.description == "e")
        #expect(try history.deletions(within: nil).count == 2)
    }

    // MARK: Rows

    @Test("A version without its name becomes history of what its file was last")
    func homeless() throws {
        let checked = try CheckedFacts()
        try checked.change("UPDATE version SET row = 900, item = 900 WHERE seq = \(checked.versions[0].number)")
        try expectRepaired(checked, finds: [.versionWithoutItem])
        let again = try #require(try checked.facts.lists.version(checked.versions[0]))
        #expect(again.document.number == checked.row.number && again.row.beside == .history)
    }

    @Test("A version that is listed for another document comes back to its own")
    func misplaced() throws {
        let checked = try CheckedFacts()
        try checked.change(
            "UPDATE version SET row = \(checked.row.number), item = 900 WHERE seq = \(checked.versions[0].number)")
        try expectRepaired(checked, finds: [.versionWithoutItem])
        let versions = try checked.facts.lists.versions(of: DocumentNumber(checked.row.number), limit: 9).elements
        #expect(versions.map(\.number) == checked.versions.reversed())
    }

    @Test("A version does not go back to itself, and may go back to one that was recorded later")
    func circle() throws {
        let checked = try CheckedFacts()
        try checked.change(
            """
            UPDATE version SET first = NULL WHERE seq = \(checked.versions[2].number);
            UPDATE version SET first = \(checked.versions[2].number) WHERE seq = \(checked.versions[1].number)
            """)
        #expect(try checked.check() == [])
        try checked.change(
            "UPDATE version SET first = \(checked.versions[1].number) WHERE seq = \(checked.versions[2].number)")
        try expectRepaired(checked, finds: [.parentsInACircle])
        #expect(try checked.facts.lists.version(checked.versions[1])?.row.parents == Parents())
    }

    @Test("A version that is its own parent has none")
    func ownParent() throws {
        let checked = try CheckedFacts()
        try checked.change(
            "UPDATE version SET first = \(checked.versions[1].number) WHERE seq = \(checked.versions[1].number)")
        try expectRepaired(checked, finds: [.parentsInACircle])
        #expect(try checked.facts.lists.version(checked.versions[1])?.row.parents == Parents())
    }

    @Test(
        "What cannot be repaired is told",
        arguments: [
            ("DELETE FROM place WHERE name = x'66'", [Finding.Kind.pathUnknown]),
            ("UPDATE name SET actor = 900 WHERE file = 77", [.catalogDamaged]),
            ("UPDATE name SET other = 900 WHERE file = 77", [.catalogDamaged]),
            ("UPDATE version SET author = 900 WHERE generation = 1", [.catalogDamaged]),
            (
                """
                INSERT INTO name (seq, place, file, item, how, time, flags)
                SELECT 500, place + 100, 99, item, 2, time, 0 FROM name WHERE file = 77;
                INSERT INTO place (number, directory, name) SELECT place + 100, 1, x'67' FROM name WHERE file = 77
                """, [.severalCurrents, .severalCurrents]
            ),
            (
                """
                INSERT INTO name (seq, place, file, item, how, time, flags, origin)
                VALUES (500, 200, 99, 500, 2, 0, 0, 400);
                INSERT INTO place (number, directory, name) VALUES (200, 1, x'67')
                """, [.currentMissing]
            ),
        ])
    func told(_ sql: String, _ kinds: [Finding.Kind]) throws {
        let checked = try CheckedFacts()
        try checked.change(sql)
        let found = try checked.check(repairs: true)
        #expect(found.map(\.kind) == kinds, "\(found)")
        #expect(found.allSatisfy { !$0.isRepaired && $0.repair == nil })
    }

    @Test("Damage that SQLite sees is told")
    func damaged() throws {
        let checked = try CheckedFacts()
        try checked.change(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '(file, generation)', '(file, size)')
                WHERE name = 'version_content';
            PRAGMA writable_schema = RESET
            """)
        #expect(try checked.check().contains { $0.kind == .catalogDamaged && $0.subject == FactCatalog.fileName })
    }

    // MARK: Sums

    @Test("Status counts documents, versions and deleted things")
    func status() throws {
        let checked = try CheckedFacts()
        #expect(try checked.facts.lists.counts() == counts(items: 1, versions: 3, deletions: 1))
        #expect(try checked.facts.lists.lostContents(naming: 3) == LostContents(count: 0, items: []))
        var transaction = FactTransaction([.forget(checked.versions[0])])
        transaction.lose([checked.versions[1]], at: checked.fixture.clock.now())
        checked.facts.commit(transaction)
        #expect(try checked.facts.lists.counts() == counts(items: 1, versions: 2, deletions: 1))
        let item = try #require(try checked.facts.lists.id(of: DocumentNumber(checked.row.number)))
        #expect(try checked.facts.lists.lostContents(naming: 3) == LostContents(count: 1, items: [item]))
    }

    private func counts(items: Int, versions: Int, deletions: Int) -> ContainerCounts {
        var counts = ContainerCounts()
        (counts.items, counts.versions, counts.deletions) = (items, versions, deletions)
        return counts
    }

    @Test("Sums of random worlds are those of their lists")
    func sums() throws {
        try FactWorld.random("sums", rounds: 20) { world, seed in
            let (facts, counts) = (world.lists, try world.reader.counts())
            let versions = facts.versions.filter { !$0.isForgotten }
            #expect(counts.versions == versions.count, "seed \(seed)")
            let documents = Set(facts.rows.map(\.document)).filter { !facts.listing(of: $0).isEmpty }
            #expect(counts.items == documents.count, "seed \(seed)")
            let deleted = try pages { try world.reader.deleted(before: $0, limit: 100) }
            #expect(counts.deletions == deleted.count, "seed \(seed)")
            #expect(counts.deletedBytes == deleted.reduce(0) { $0 + ($1.version?.fingerprint.size ?? 0) })
        }
    }
}
