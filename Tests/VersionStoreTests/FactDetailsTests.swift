// What users see of versions and names, beside what the rules read.

import GRDB
import Lineage
import Testing
import VersionModel

@testable import VersionStore

@Suite("Details of facts")
struct FactDetailsTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: FactSchema.text) }
    }

    private func time(_ seconds: Int64) -> Timestamp { Timestamp(nanoseconds: seconds * 1_000_000_000) }

    private func name(_ number: UInt64, file: UInt64? = 77, how: How = .created) -> NameRow {
        NameRow(
            number: RowNumber(number), time: time(5), place: PlaceNumber(3), file: file.map { FileID($0) }, how: how,
            actor: nil)
    }

    private func version(_ number: UInt64, row: UInt64, hash: [UInt8], size: UInt64 = 3) throws -> VersionRow {
        let first = try #require(ContentID(bytes: hash.prefix(16)))
        return VersionRow(
            number: VersionNumber(number), time: time(6), row: RowNumber(row),
            content: Content(file: FileID(77), generation: 1),
            fingerprint: Fingerprint(size: size, high: first.high, low: first.low), file: FileID(77),
            modified: time(4), author: nil)
    }

    private func record(_ facts: [Fact], _ details: FactDetails = FactDetails()) throws {
        try queue.write { try FactTables.record(facts, details, .plainly, $0) }
    }

    private func detail(of version: UInt64) throws -> VersionDetail? {
        try queue.read { try FactTables.detail(of: VersionNumber(version), $0) }
    }

    @Test("A version has all its details, and its row is what it was without them")
    func version() throws {
        var details = FactDetails()
        let row = try version(2, row: 1, hash: Records.hash("one"))
        let detail = VersionDetail(
            hash: Records.hash("one"), attributes: Attributes(mode: 0o640, owner: 7, group: 8, accessList: [1, 2]),
            changed: time(9), marks: [.pinned, .unfinished], alias: .random())
        details.versions[row.number] = detail
        try record([.row(name(1)), .version(row)], details)
        #expect(try self.detail(of: 2) == detail)
        #expect(try queue.read { try FactTables.version(VersionNumber(2), $0) } == row)
        let alias = try #require(detail.alias)
        #expect(try queue.read { try FactTables.version(alias: alias, $0) } == row.number)
        #expect(try queue.read { try FactTables.version(alias: .random(), $0) } == nil)
    }

    @Test("An amendment keeps marks and identity, and the hash only of an equal content")
    func amended() throws {
        var details = FactDetails()
        let row = try version(2, row: 1, hash: Records.hash("one"))
        let detail = VersionDetail(
            hash: Records.hash("one"), attributes: Attributes(mode: 0o640, owner: 7, group: 8, accessList: [1, 2]),
            marks: [.pinned], alias: .random())
        details.versions[row.number] = detail
        try record([.row(name(1)), .version(row)], details)
        try record([.amend(row)])
        #expect(try self.detail(of: 2) == detail)
        try record([.amend(try version(2, row: 1, hash: Records.hash("two")))])
        var wanted = detail
        wanted.hash = nil
        #expect(try self.detail(of: 2) == wanted)
        details.versions[row.number] = VersionDetail(
            hash: Records.hash("two"), attributes: Attributes(mode: 0o600, owner: 7, group: 8))
        try record([.amend(try version(2, row: 1, hash: Records.hash("two")))], details)
        wanted.hash = Records.hash("two")
        wanted.attributes = Attributes(mode: 0o600, owner: 7, group: 8)
        #expect(try self.detail(of: 2) == wanted)
    }

    @Test("What is no hash of a content is not recorded as its hash")
    func otherHash() throws {
        var details = FactDetails()
        let row = try version(2, row: 1, hash: Records.hash("one"))
        for hash in [Records.hash("two"), [], [UInt8](repeating: 0, count: 40)] {
            details.versions[row.number] = VersionDetail(hash: hash)
            try record([.row(name(1)), .version(row)], details)
            #expect(try self.detail(of: 2)?.hash == nil)
        }
    }

    @Test("A name has its type, its entry and its identities", arguments: [EntryType.file, .symlink, .device, .link])
    func names(type: EntryType) throws {
        var details = FactDetails()
        let (document, deletion) = (ItemID.random(), DeletionID.random())
        details.names[RowNumber(1)] = NameDetail(type: type, document: document)
        details.names[RowNumber(2)] = NameDetail(type: type, isEntry: true, deletion: deletion)
        try record([.row(name(1)), .row(name(2, file: nil, how: .removed))], details)
        func read<Answer>(_ body: (Database) throws -> Answer) throws -> Answer { try queue.read(body) }
        for (row, detail) in details.names { #expect(try read { try FactTables.detail(of: row, $0) } == detail) }
        #expect(try read { try FactTables.document(alias: document, $0) } == DocumentNumber(1))
        #expect(try read { try FactTables.removal(alias: deletion, $0) } == RowNumber(2))
        #expect(try read { try FactTables.detail(of: RowNumber(3), $0) } == nil)
        #expect(try read { try FactTables.names($0, "seq = 1") } == [name(1)])
    }

    @Test("A row of what has no versions has its type; without a detail it is a directory's")
    func typesWithoutVersions() throws {
        for (number, type) in [(1, EntryType.symlink), (2, .directory), (3, nil)] {
            var row = name(UInt64(number))
            row.hasNoVersions = true
            var details = FactDetails()
            if let type { details.names[row.number] = NameDetail(type: type) }
            try record([.row(row)], details)
            #expect(try queue.read { try FactTables.detail(of: row.number, $0) }?.type == type ?? .directory)
            #expect(try queue.read { try FactTables.names($0, "seq = ?", .number(UInt64(number))) } == [row])
            let count = try queue.read {
                try FactTables.names($0, "seq = ? AND \(FactTables.hasDirectory)", .number(UInt64(number))).count
            }
            #expect(count == (type == .symlink ? 0 : 1))
        }
    }
}
