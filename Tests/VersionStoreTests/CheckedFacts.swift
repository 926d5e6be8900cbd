// A container of facts with contents, for tests of its check.

import Foundation
import GRDB
import Lineage
import SystemPackage
import Testing
import VersionModel

@testable import VersionStore

/// A document `f` with two kept versions and one in its file, and a directory `d` that was deleted.
final class CheckedFacts: CheckedContainer {
    static let file = FileID(77)
    private static let directory = FileID(78)

    let fixture: Fixture
    let store: ContainerState
    let facts: FactStore
    let place: PlaceNumber
    let row: RowNumber
    /// Oldest first.
    private(set) var versions: [VersionNumber] = []
    private(set) var removal = RowNumber(0)
    var found = CheckedFile.there
    var isOpen = false
    /// Contents that memory alone knows.
    var known: Set<Content> = []
    private(set) var remembered: [Fact] = []

    init() throws {
        fixture = try Fixture()
        store = try ContainerState(root: fixture.root, options: .init(clock: fixture.clock, logger: Fixture.quiet))
        facts = try FactStore(of: store)
        place = try facts.number(of: Place(directory: .root, name: name("f")))
        let first = facts.reserve(4)
        row = RowNumber(first)
        var transaction = FactTransaction([.row(named(row, place, Self.file))])
        for index in 0..<3 {
            let number = VersionNumber(first + 1 + UInt64(index))
            transaction.add(.version(try version(number, UInt64(index), "text \(index)")))
            if index < 2 { try keep("text \(index)", as: number, UInt64(index)) }
            versions.append(number)
        }
        facts.commit(transaction, from: first, last: first + 3)
        facts.finish(first)
        try removeDirectory()
        fixture.clock.advance(seconds: 60)
    }

    deinit {
        facts.close()
        store.close()
    }

    private func named(_ number: RowNumber, _ place: PlaceNumber, _ file: FileID?, _ how: How = .created) -> NameRow {
        NameRow(number: number, time: fixture.clock.now(), place: place, file: file, how: how, actor: nil)
    }

    private func version(_ number: VersionNumber, _ generation: UInt64, _ text: String) throws -> VersionRow {
        var row = VersionRow(
            number: number, time: fixture.clock.now(), row: row,
            content: Content(file: Self.file, generation: generation),
            fingerprint: Fingerprint(hash: Records.hash(text), size: UInt64(text.utf8.count)), file: Self.file,
            modified: Timestamp(nanoseconds: 5), author: try facts.number(of: author))
        row.parents = Parents(versions.last)
        return row
    }

    private let author = ActorFacts(author: Records.author, started: 0)

    /// Puts a text among the objects, with the label that a version has.
    func keep(_ text: String, as number: VersionNumber, _ generation: UInt64) throws {
        try fixture.write("kept", text)
        let id: VersionID = try #require(facts.id(of: number, nil))
        let content = ContentID(high: Self.file.number, low: generation)
        var version = Records.version(content: content, size: UInt64(text.utf8.count))
        version.id = id
        let path = try #require(TreePath(bytes: "f".utf8))
        try store.contents.keep(
            moving: name("kept"), in: fixture.root, as: content,
            .init(version: version, path: path, place: Place(directory: .root, name: name("f"))))
    }

    private func removeDirectory() throws {
        let first = facts.reserve(2)
        let place = Place(directory: .root, name: try name("d"))
        let number = try facts.number(of: place)
        removal = RowNumber(first + 1)
        var made = named(RowNumber(first), number, Self.directory)
        made.hasNoVersions = true
        // One without a program was removed below the mount.
        var gone = named(removal, number, nil, .removed)
        gone.actor = try facts.number(
            of: ActorFacts(author: Author(userID: 0, user: "root", program: "rm", process: 7), started: 1))
        var transaction = FactTransaction([.row(made), .row(gone)])
        transaction.describe(made.number, NameDetail(type: .directory))
        transaction.describe(removal, NameDetail(type: .directory, isEntry: true))
        try putAway(place, try #require(facts.id(ofDeletion: removal, nil)))
        facts.commit(transaction, from: first, last: first + 1)
        facts.finish(first)
    }

    /// Puts a directory into the deleted area.
    func putAway(_ place: Place, _ id: DeletionID) throws {
        try FileManager.default.createDirectory(
            atPath: "\(fixture.path)/\(place.name)", withIntermediateDirectories: false)
        var label = Records.deletion(path: "\(place.name)", type: .directory)
        (label.id, label.place, label.file) = (id, place, Self.directory)
        try store.deletedArea.moveIn(place.name, of: fixture.root, label)
    }

    // MARK: Damage

    func change(_ sql: String) throws {
        facts.flush()
        try facts.catalog.access { try $0.execute(sql: sql) }
    }

    func path(of generation: UInt64) -> String {
        let hex = ContentID(high: Self.file.number, low: generation).hex
        return "\(fixture.path)/.versionsfs/objects/\(hex.prefix(2))/\(hex)"
    }

    // MARK: Checking

    func check(repairs: Bool = false, isAtRest: Bool = true) throws -> [Finding] {
        try FactCheck(facts, store, of: self, repairs: repairs, isAtRest: isAtRest).run()
    }

    /// The names of all that is kept.
    func kept() throws -> Set<String> {
        var names: Set<String> = []
        try store.contents.forEach { names.insert($0.hex) }
        try store.deletedArea.forEach { names.insert($0.hex) }
        return names
    }

    // MARK: The container

    func look(for file: FileID) -> CheckedFile { found }
    func isOpen(_ file: FileID) -> Bool { isOpen }
    func isKnown(_ content: Content) -> Bool { known.contains(content) }
    func alone<Answer>(with file: FileID, _ body: () throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        try body()
    }
    func remember(_ facts: [Fact]) { remembered += facts }
}
