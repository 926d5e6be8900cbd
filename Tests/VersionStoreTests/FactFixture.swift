// A store of facts in a directory of its own, and facts to fill it with.

import Foundation
import Glibc
import Lineage
import LineageWorlds
import Support
import SystemPackage
import VersionModel

@testable import VersionStore

/// A directory that is removed with the fixture, and the store of facts in it.
final class FactFixture {
    static let boot = ContainerID.random().bytes
    /// In memory, if there is such a place: these tests open a store hundreds of times, which synchronizes each time.
    private static let top = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/var/tmp"

    let path: String
    let state: FileDescriptor
    private var opened: FactStore?
    private let removes: Bool

    init(path: String? = nil) throws {
        removes = path == nil
        self.path = path ?? "\(Self.top)/versionsfs-facts-\(ContentID.random().short)"
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
        state = try FileDescriptor.open(FilePath(self.path), .readOnly, options: .directory)
    }

    deinit {
        opened?.close()
        try? state.close()
        if removes { try? FileManager.default.removeItem(atPath: path) }
    }

    static func options(readOnly: Bool = false) -> FactStore.Options {
        FactStore.Options(logger: Fixture.quiet, readOnly: readOnly, boot: boot)
    }

    /// The store, opened if it is not.
    func store() throws -> FactStore {
        if let opened { return opened }
        let store = try FactStore(in: state, options: Self.options())
        opened = store
        return store
    }

    func close() {
        opened?.close()
        opened = nil
    }

    /// The files of the state.
    static let names = ["catalog2.sqlite", "catalog2.sqlite-wal", "redo2"]

    /// Their bytes at one moment: rows that come meanwhile are in the redo log, which is read last.
    func contents() -> [String: Data] {
        func bytes(_ name: String) -> Data? { try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) }
        while true {
            var contents: [String: Data] = [:]
            for name in Self.names { contents[name] = bytes(name) }
            // A checkpoint changes the database, and a log that is begun anew its first bytes.
            let log = (contents["catalog2.sqlite-wal"] ?? Data()).prefix(32)
            let isOneMoment =
                bytes("catalog2.sqlite") == contents["catalog2.sqlite"]
                && (log.isEmpty || bytes("catalog2.sqlite-wal")?.prefix(32) == log)
            if isOneMoment { return contents }
        }
    }

    /// A fixture with the files as they are now: what a kill would leave.
    func killed() throws -> FactFixture { try FactFixture(contents()) }

    /// A store that finds these files.
    static func finding<Result>(_ contents: [String: Data], _ body: (FactStore) throws -> Result) throws -> Result {
        let fixture = try FactFixture(contents)
        return try withExtendedLifetime(fixture) { try body(fixture.store()) }
    }

    /// A store that finds the files as they are now.
    func afterKill<Result>(_ body: (FactStore) throws -> Result) throws -> Result {
        try Self.finding(contents(), body)
    }

    convenience init(_ contents: [String: Data]) throws {
        try self.init()
        for (name, data) in contents { try data.write(to: URL(fileURLWithPath: path + "/" + name)) }
    }
}

/// Every question, to the facts of a store.
struct StoreAsked: FactsAsked {
    let store: FactStore

    func answer<Answer>(_ question: (any FactLog) -> Answer) -> Answer { question(store.facts()) }
}

extension FactStore {
    /// The questions that this store answers otherwise than lists of the facts that it was told.
    func problems(with told: [Fact]) -> String {
        // Rows of events have numbers, too.
        ListedFacts(recorded: told).differences(from: StoreAsked(store: self))
            .filter { !$0.hasPrefix("last number") && !$0.hasPrefix("purge of") }.prefix(3).joined(separator: "\n")
    }
}

/// Transactions of random walks, and the numbers that a store gives them.
struct WalkedFacts {
    let transactions: [World.Transaction]
    private var given: [UInt64: UInt64] = [:]

    init(seed: UInt64, length: Int = 100) {
        transactions = RandomWalk.transactions(seed: seed, length: length)
    }

    static func seed(_ what: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("\(what): VERSIONSFS_SEED=\(seed)")
        return seed
    }

    /// How many numbers the facts of a transaction have.
    static func count(of transaction: World.Transaction) -> UInt64 {
        UInt64(transaction.recorded.filter { $0.ownNumber != nil }.count)
    }

    /// The facts that a transaction tells, with numbers from a block. Those of a walk follow one another in the same
    /// order.
    mutating func told(_ transaction: World.Transaction, from first: UInt64) -> [Fact] {
        var next = first
        for number in transaction.recorded.compactMap(\.ownNumber).sorted() {
            given[number] = next
            next += 1
        }
        return transaction.told.map(renumbered)
    }

    private func number(_ number: UInt64) -> UInt64 { given[number] ?? number }
    private func number<Subject>(_ number: FactNumber<Subject>) -> FactNumber<Subject> {
        FactNumber(self.number(number.number))
    }

    private func renumbered(_ fact: Fact) -> Fact {
        switch fact {
        case .row(let row): .row(renumbered(row))
        case .version(let version): .version(renumbered(version))
        case .amend(let version): .amend(renumbered(version))
        case .settle(let version): .settle(number(version))
        case .forget(let version): .forget(number(version))
        case .publish(let row): .publish(number(row))
        case .purge(let row): .purge(number(row))
        }
    }

    private func renumbered(_ row: NameRow) -> NameRow {
        var how = row.how
        if case .movedAway(let target) = how { how = .movedAway(to: target.map { number($0) }) }
        var new = NameRow(
            number: number(row.number), time: row.time, place: row.place, file: row.file, how: how, actor: row.actor)
        new.from = row.from.map { number($0) }
        new.document = number(row.document)
        new.origin = row.origin.map { number($0) }
        (new.isContinuing, new.hasNoVersions, new.isParted) = (row.isContinuing, row.hasNoVersions, row.isParted)
        return new
    }

    private func renumbered(_ version: VersionRow) -> VersionRow {
        var new = version
        new.number = number(version.number)
        new.row = number(version.row)
        new.base = version.base.map { number($0) }
        new.parents = Parents(
            version.parents.first.map { number($0) }, version.parents.second.map { number($0) })
        new.loser = version.loser.map { number($0) }
        return new
    }
}
