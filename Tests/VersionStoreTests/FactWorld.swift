// Random facts in tables and in lists.

import Foundation
import GRDB
import Lineage
import LineageWorlds
import Support
import VersionModel

@testable import VersionStore

/// A database in memory with facts, and the same facts in lists.
struct FactWorld: DatabaseAccess {
    let queue: DatabaseQueue
    /// What listeners were told.
    private(set) var told: [Fact] = []
    /// The same of the last transaction.
    private(set) var last: [Fact] = []

    var reader: FactReader { FactReader(self, epoch: Self.epoch) }
    static let epoch = ContainerID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)

    /// - Parameter statement: hears of every statement.
    init(_ statement: (@Sendable (String) -> Void)? = nil) throws {
        var configuration = Configuration()
        if let statement {
            configuration.prepareDatabase { $0.trace { event in
                if case .statement(let text) = event { statement(text.sql) }
            } }
        }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write { try $0.execute(sql: FactSchema.text) }
    }

    func access<Answer>(_ body: (Database) throws -> Answer) throws -> Answer {
        try queue.writeWithoutTransaction(body)
    }

    mutating func record(_ facts: [Fact], _ details: FactDetails = FactDetails()) throws {
        told += facts
        last = facts
        try queue.write { database in
            try FactTables.record(facts, details, .plainly, database)
            for fact in facts { if case .row(let row) = fact { try Self.put(row.place, database) } }
        }
    }

    /// A random world's places are eight in each directory.
    static func place(_ number: PlaceNumber) -> Place {
        let name = FileName(bytes: [UInt8(97 + number.number % 8)]) ?? FileName("x").unsafelyUnwrapped
        return Place(directory: FileID(UInt64(number.number / 8)), name: name)
    }

    private static func put(_ number: PlaceNumber, _ database: Database) throws {
        let place = place(number)
        try database.execute(
            sql: "INSERT OR IGNORE INTO place (number, directory, name) VALUES (?, ?, ?)",
            arguments: [
                Int64(number.number), Int64(bitPattern: place.directory.number), Data(place.name.bytes),
            ])
    }

    /// The facts in lists.
    var lists: Facts { lists(until: .max) }

    /// Those with numbers until one, as they are now.
    func lists(until last: UInt64) -> Facts {
        var rows: [UInt64: NameRow] = [:]
        var versions: [UInt64: VersionRow] = [:]
        var settled: [VersionNumber] = []
        var purged: [(removal: RowNumber, last: UInt64)] = []
        for fact in told {
            switch fact {
            case .row(let row): rows[row.number.number] = row
            case .version(let version), .amend(let version): versions[version.number.number] = version
            case .settle(let version): settled.append(version)
            case .forget(let version): versions[version.number]?.isForgotten = true
            case .purge(let row): purged.append((row, max(rows.keys.max() ?? 0, versions.keys.max() ?? 0)))
            case .publish: continue
            }
        }
        var facts = Facts()
        for number in (Array(rows.keys) + Array(versions.keys)).sorted() where number <= last {
            if let row = rows[number] { facts.apply(.row(row)) }
            if let version = versions[number] { facts.apply(.version(version)) }
            for purge in purged where purge.last == number { facts.apply(.purge(purge.removal)) }
        }
        for version in settled { facts.apply(.settle(version)) }
        return facts
    }
}

extension FactWorld {
    /// Random worlds, one after another, each at some moments on the way.
    static func random(
        _ title: String, rounds: Int, every count: Int = 25, _ statement: (@Sendable (String) -> Void)? = nil,
        check: (FactWorld, UInt64) throws -> Void
    ) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("\(title): VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(rounds)) {
            var world = try FactWorld(statement)
            let transactions = RandomWalk.transactions(seed: seed &+ round, length: 100)
            for (index, transaction) in transactions.enumerated() {
                try world.record(transaction.told)
                if index % count == count - 1 || index == transactions.count - 1 { try check(world, seed &+ round) }
            }
        }
    }
}

/// A list, page for page.
func pages<Element, Cursor>(
    _ page: (Cursor?) throws -> FactPage<Element, Cursor>
) throws -> [Element] {
    var (elements, cursor): ([Element], Cursor?) = ([], nil)
    repeat {
        let next = try page(cursor)
        elements += next.elements
        cursor = next.next
    } while cursor != nil
    return elements
}
