// A catalog of schema 2 that was made from format 1, and its comparison with what format 1 says.

import GRDB
import Lineage
import Testing
import VersionModel

@testable import VersionStore

/// The catalog of an upgraded container.
struct Upgraded: DatabaseAccess {
    let queue: DatabaseQueue
    private let epoch: ContainerID

    init(_ fixture: Fixture) throws {
        queue = try DatabaseQueue(path: fixture.path + "/.versionsfs/" + FactCatalog.fileName)
        epoch = try queue.writeWithoutTransaction { database in
            let bytes = try SQLStatement(database, "SELECT value FROM meta WHERE key = 'epoch'").first { $0.blob(0) }
            return try #require(ContainerID(bytes: bytes ?? []))
        }
    }

    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
        try queue.writeWithoutTransaction(body)
    }

    var reader: FactReader { FactReader(self, epoch: epoch) }

    func number(_ version: VersionID) throws -> VersionNumber? {
        try access { try FactTables.version(alias: version, $0) }
    }

    func document(_ item: ItemID) throws -> DocumentNumber? {
        try access { try FactTables.document(alias: item, $0) }
    }

    func versions(of document: DocumentNumber) throws -> [ListedVersion] {
        try pages { try reader.versions(of: document, from: $0, limit: 100) }
    }

    func author(_ number: ActorNumber?) throws -> Author? {
        guard let number else { return nil }
        return try access { database in
            try SQLStatement(
                database, "SELECT user, login, program, process FROM actor WHERE number = ?",
                .integer(Int64(number.number))
            ).first { row in
                Author(
                    userID: UInt32(row.integer(0)), user: String(decoding: row.blob(1), as: UTF8.self),
                    program: String(decoding: row.blob(2), as: UTF8.self), process: Int32(row.integer(3)))
            }
        }
    }

    // MARK: Comparing

    /// Every record of format 1 is in schema 2.
    func expectSame(as store: VersionStore, _ comment: Comment) throws {
        for item in try store.allItems() { try expectSame(item, store, comment) }
        try expectSameDeletions(as: store, comment)
    }

    private func expectSame(_ item: Item, _ store: VersionStore, _ comment: Comment) throws {
        let former = try store.versions(of: item.id)
        guard let document = try document(item.id) else {
            Issue.record("\(comment): no document \(item.id)")
            return
        }
        let listed = try versions(of: document)
        let numbers = try former.map { try number($0.id) }
        #expect(listed.map { Optional($0.number) } == numbers, "\(comment): \(item.id)")
        for (version, own) in zip(former, listed) {
            let isOrigin = own.document != document
            #expect(own.kind == version.kind, "\(comment): \(version.id)")
            #expect(own.row.fingerprint.size == version.size, comment)
            #expect(own.row.time == version.saved && own.row.modified == version.modified, comment)
            #expect(try author(own.row.author) == version.author, comment)
            #expect(own.detail.attributes == version.attributes, comment)
            #expect(own.detail.hash == version.hash, comment)
            let lost = version.flags.marks.union(own.detail.marks.intersection(.lost))
            #expect(own.detail.marks == lost, comment)
            guard !isOrigin else { continue }
            #expect(own.detail.alias == version.id, comment)
            try expectSameParents(own.row, version, store, comment)
        }
        let heads = try reader.heads(of: document)
        let conflicts = former.filter { $0.kind == .conflict && $0.id != item.current }.reversed()
        #expect(try heads.conflicts == conflicts.compactMap { try number($0.id) }, comment)
        #expect(try heads.current == number(item.current), "\(comment): \(item.id)")
        let places = try reader.names(of: document).map(\.place)
        #expect(Set(places) == Set(item.places), "\(comment): \(item.id)")
    }

    private func expectSameParents(
        _ row: VersionRow, _ version: Version, _ store: VersionStore, _ comment: Comment
    ) throws {
        let wanted = try version.parents.compactMap { try number($0) }
        let known = try version.parents.filter { try store.version($0) != nil }
        let named = [row.parents.first, row.parents.second].compactMap { $0 }
        #expect(named.count == min(version.parents.count, 2), "\(comment): \(version.id)")
        if known.count == version.parents.count, known.count <= 2 { #expect(named == wanted, comment) }
    }

    private func expectSameDeletions(as store: VersionStore, _ comment: Comment) throws {
        let former = try store.deletions(within: nil)
        let entries = try pages { try reader.deleted(before: $0, limit: 100) }
        let found = Set(try entries.filter { $0.kind != .replaced }.compactMap { try reader.id(ofDeletion: $0.number) })
        for deletion in former {
            let isBack = try deletion.type == .link && isBack(deletion)
            #expect(found.contains(deletion.id) || isBack, "\(comment): \(deletion.type) \(deletion.path)")
            guard let number = try access({ try FactTables.removal(alias: deletion.id, $0) }),
                let entry = try reader.deletedEntry(number)
            else { continue }
            #expect(entry.place == deletion.place && entry.departure.time == deletion.deleted, comment)
            #expect(entry.kind == (deletion.type == .link ? .name : .deleted), "\(comment): \(deletion.path)")
            #expect(entry.detail.isEntry == ![.file, .link].contains(deletion.type), comment)
            #expect(try author(entry.departure.actor) == deletion.author, comment)
            if let item = deletion.item, deletion.type != .directory {
                #expect(try document(item) == entry.occupant.document, comment)
            }
        }
        #expect(found.isSubset(of: former.map(\.id)), "\(comment): \(found.subtracting(former.map(\.id)))")
    }

    /// Whether a document has had a removed name again since.
    private func isBack(_ deletion: Deletion) throws -> Bool {
        try access { database in
            guard let number = try FactTables.removal(alias: deletion.id, database),
                let removal = try FactTables.names(database, "seq = ?", .number(number.number)).first,
                let document = try deletion.item.flatMap({ try FactTables.document(alias: $0, database) })
            else { return false }
            return try !FactTables.names(
                database, "place = ? AND seq > ? AND item = ?", .integer(Int64(removal.place.number)),
                .number(number.number), .number(document.number)
            ).isEmpty
        }
    }
}
