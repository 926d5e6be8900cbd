// Versions, conflicts and identities of facts in tables.

import GRDB
import Lineage
import LineageWorlds
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: versions")
struct FactVersionsTests {
    @Test("A document has its versions, newest first, and all that it goes back to")
    func versions() throws {
        var origins = 0
        try FactWorld.random("versions", rounds: 100) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            for document in Set(facts.rows.map(\.document)) {
                let (listing, history) = (facts.listing(of: document), facts.history(of: document))
                let conflicts = facts.conflicts(of: document)
                for size in [1, 2, 3, 100] {
                    let own = try pages { try reader.versions(of: document, from: $0, limit: size) }
                    #expect(own.map(\.number) == listing, "VERSIONSFS_SEED=\(seed)")
                    let all = try pages { try reader.versions(of: document, all: true, from: $0, limit: size) }
                    #expect(all.map(\.number) == history, "VERSIONSFS_SEED=\(seed)")
                    for version in own {
                        let isCurrent = version.number == facts.current(of: document)
                        let wanted: VersionKind =
                            isCurrent ? .current : conflicts.contains(version.number) ? .conflict : .history
                        #expect(version.kind == wanted, "VERSIONSFS_SEED=\(seed)")
                        #expect(version.row == facts[version.number], "VERSIONSFS_SEED=\(seed)")
                        #expect(version.document == facts.document(of: version.number), "VERSIONSFS_SEED=\(seed)")
                    }
                }
                if history.count > listing.count { origins += 1 }
                let current = facts.current(of: document)
                let steps = history.drop { $0 != current }.filter { !conflicts.contains($0) }
                for step in 0..<steps.count + 2 {
                    let found = try reader.version(of: document, back: step)?.number
                    let wanted = step < steps.count ? steps[steps.startIndex + step] : nil
                    #expect(found == wanted, "VERSIONSFS_SEED=\(seed) \(document) \(step)")
                }
            }
        }
        #expect(origins > 0)
    }

    @Test("The container and each directory have the documents with unsettled conflicts, and their count")
    func conflicts() throws {
        var count = 0
        try FactWorld.random("conflicts", rounds: 200) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            let documents = Set(facts.rows.filter { $0.file != nil }.map(\.document)).sorted()
            let wanted = documents.filter { facts.hasName($0) && !facts.conflicts(of: $0).isEmpty }
            for size in [1, 100] {
                let found = try pages { try reader.conflicted(after: $0, limit: size) }
                #expect(found.map(\.document) == wanted, "VERSIONSFS_SEED=\(seed)")
                for document in found {
                    #expect(document.heads.conflicts == facts.conflicts(of: document.document))
                    #expect(document.names.map(\.row) == facts.names(of: document.document))
                }
            }
            let conflicts = wanted.map { facts.conflicts(of: $0).count }.reduce(0, +)
            #expect(try reader.countOfConflicts() == conflicts, "VERSIONSFS_SEED=\(seed)")
            count += conflicts
            for directory in Set(facts.rows.compactMap { $0.hasNoVersions ? $0.file : nil }) {
                let inside = wanted.filter { document in
                    facts.names(of: document).contains { FactWorld.place($0.place).directory == directory }
                }
                let found = try reader.conflicted(below: directory, limit: 100).elements.map(\.document)
                #expect(Set(found).isSuperset(of: inside), "VERSIONSFS_SEED=\(seed)")
            }
        }
        print("conflicts: \(count)")
        #expect(count > 0)
    }

    @Test("The first digits of an identity stand for what has it, or for several")
    func identities() throws {
        try FactWorld.random("identities", rounds: 20) { world, seed in
            let (facts, reader) = (world.lists, world.reader)
            var all: [(id: String, named: FactNamed)] = []
            for document in Set(facts.rows.filter { $0.file != nil && !$0.hasNoVersions }.map(\.document)) {
                guard !facts.isGone(document), let id = try reader.id(of: document) else { continue }
                all.append((id.description, .document(document)))
            }
            for version in facts.versions where !version.isForgotten {
                all.append((try #require(try reader.id(of: version.number)).description, .version(version.number)))
            }
            for entry in try pages({ try reader.deleted(before: $0, limit: 100) }) {
                let id = try #require(try reader.id(ofDeletion: entry.number))
                all.append((id.description, .deletion(entry.number)))
            }
            for (id, named) in all {
                for digits in [1, 4, 12, 32] {
                    let found = try #require(try reader.named(byDigits: String(id.prefix(digits)), limit: 1000))
                    let wanted = all.filter { $0.id.hasPrefix(id.prefix(digits)) }.map(\.named)
                    #expect(Set(found.found) == Set(wanted) && !found.isMore, "VERSIONSFS_SEED=\(seed)")
                    #expect(found.found.contains(named))
                }
            }
            #expect(try reader.named(byDigits: "xyz", limit: 1)?.found == nil)
            let some = try #require(try reader.named(byDigits: "", limit: 1))
            #expect(some.found.count == min(1, all.count) && some.isMore == (all.count > 1))
        }
    }

    @Test("Identities from elsewhere stand for the same")
    func aliases() throws {
        var world = try FactWorld()
        var details = FactDetails()
        let (item, version, deletion) = (ItemID.random(), VersionID.random(), DeletionID.random())
        var row = NameRow(
            number: RowNumber(1), time: Timestamp(nanoseconds: 1), place: PlaceNumber(8), file: FileID(7),
            how: .created, actor: nil)
        let saved = VersionRow(
            number: VersionNumber(2), time: Timestamp(nanoseconds: 2), row: row.number,
            content: Content(file: FileID(7), generation: 0), fingerprint: .empty, file: FileID(7),
            modified: Timestamp(nanoseconds: 2), author: nil)
        details.names[row.number] = NameDetail(document: item)
        details.versions[saved.number] = VersionDetail(alias: version)
        try world.record([.row(row), .version(saved)], details)
        (row.number, row.file, row.how, row.document) = (RowNumber(3), nil, .removed, DocumentNumber(3))
        details.names[row.number] = NameDetail(deletion: deletion)
        try world.record([.row(row)], details)
        for (text, named) in [
            (item.description, FactNamed.document(DocumentNumber(1))),
            (version.description, .version(VersionNumber(2))), (deletion.description, .deletion(RowNumber(3))),
        ] {
            for digits in [12, 32] {
                #expect(try world.reader.named(byDigits: String(text.prefix(digits)), limit: 9)?.found == [named])
            }
        }
        #expect(try world.reader.id(of: DocumentNumber(1)) == item)
        #expect(try world.reader.id(of: VersionNumber(2)) == version)
        #expect(try world.reader.id(ofDeletion: RowNumber(3)) == deletion)
    }
}
