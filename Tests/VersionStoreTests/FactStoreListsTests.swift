// Lists and changes of the store of facts.

import Lineage
import Testing
import VersionModel

@testable import VersionStore

@Suite("Lists of facts: the store")
struct FactStoreListsTests {
    @Test("Listeners hear changes with paths, identities, authors and the purpose of a claim")
    func changes() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let (one, other) = (try #require(FileName("one")), try #require(FileName("other")))
        let author = Author(userID: 7, user: "ann", program: "vi", process: 99)
        let actor = try store.number(of: ActorFacts(author: author, started: 5))
        let place = try store.number(of: Place(directory: .root, name: one))
        let next = try store.number(of: Place(directory: .root, name: other))

        let first = store.reserve(4)
        func row(_ number: UInt64, _ place: PlaceNumber, _ file: FileID?, _ how: How) -> NameRow {
            NameRow(
                number: RowNumber(number), time: Timestamp(nanoseconds: 3), place: place, file: file, how: how,
                actor: actor)
        }
        let made = row(first, place, FileID(77), .created)
        let version = VersionRow(
            number: VersionNumber(first + 1), time: Timestamp(nanoseconds: 4), row: made.number,
            content: Content(file: FileID(77), generation: 0), fingerprint: .empty, file: FileID(77),
            modified: Timestamp(nanoseconds: 4), author: actor)
        let left = row(first + 2, place, nil, .movedAway(to: RowNumber(first + 3)))
        var moved = row(first + 3, next, FileID(77), .moved)
        (moved.from, moved.document) = (made.number, made.document)
        var transaction = FactTransaction([.row(made), .version(version), .row(left), .row(moved)])
        let circumstances = FactEvent.Circumstances(time: Timestamp(nanoseconds: 9), actor: actor)
        transaction.events = [
            .origin(77), .attributes(moved.number, circumstances), .lost(version.number, circumstances),
            .marked(version.number, circumstances),
        ]
        store.commit(transaction, from: first)
        store.finish(first)

        let told = try #require(try store.feed(after: 0, limit: 10).transactions.first)
        let changes = try store.changes(of: told)
        // All hear of the last name: they never knew the first.
        #expect(changes.map(\.event) == [.created, .saved, .attributes, .versionLost])
        let messages = try changes.map { try store.change($0) }
        #expect(messages.allSatisfy { $0.path == TreePath(names: [other]) && $0.from == nil })
        #expect(messages.allSatisfy { $0.author == author && $0.origin == 77 && $0.directory == .root })
        let item = try #require(try store.lists.id(of: made.document))
        #expect(messages.allSatisfy { $0.item == item })
        #expect(messages.last?.version == (try store.lists.id(of: version.number)))
        #expect(messages.last?.time == circumstances.time)
        #expect(try store.lists.names(in: .root, limit: 9).elements.map(\.place.name) == [other])

        let second = store.reserve(2)
        var back = row(second + 1, place, FileID(77), .moved)
        (back.from, back.document) = (moved.number, made.document)
        let facts: [Fact] = [.row(row(second, next, nil, .movedAway(to: back.number))), .row(back)]
        store.commit(FactTransaction(facts), from: second)
        store.finish(second)
        let renames = try store.feed(after: told.last, limit: 10).transactions.flatMap { try store.changes(of: $0) }
        let rename = try #require(try renames.map { try store.change($0) }.first)
        #expect(renames.map(\.event) == [.renamed])
        #expect(rename.path == TreePath(names: [one]) && rename.from == TreePath(names: [other]))
    }
}
