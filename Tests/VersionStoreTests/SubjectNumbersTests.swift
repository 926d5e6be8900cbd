// Numbers of places and programs: one for each, for good, whoever asks.

import Foundation
import Lineage
import Support
import Synchronization
import Testing
import VersionModel

@testable import VersionStore

@Suite("Numbers of places and programs")
struct SubjectNumbersTests {
    private func place(_ directory: UInt64, _ name: String) throws -> Place {
        Place(directory: FileID(directory), name: try #require(FileName(name)))
    }

    private func actor(_ process: Int32, _ program: String = "vim", started: UInt64 = 7) -> ActorFacts {
        ActorFacts(
            author: Author(userID: 1000, user: "ana", program: program, process: process), started: started)
    }

    /// Records a row that names them.
    private func record(_ store: FactStore, _ place: PlaceNumber, _ actor: ActorNumber? = nil) {
        let first = store.reserve(1)
        let row = NameRow(
            number: RowNumber(first), time: Timestamp(nanoseconds: 1), place: place, file: FileID(first), how: .created,
            actor: actor)
        store.commit(FactTransaction([.row(row)]), from: first)
        store.finish(first)
    }

    private func rows(_ table: String, _ store: FactStore) throws -> Int64 {
        store.flush()
        return try store.catalog.access { database in
            try SQLStatement(database, "SELECT count(*) FROM \(table)").first { $0.integer(0) } ?? -1
        }
    }

    @Test("Memory answers what it knows; a number is recorded with the first fact that names it")
    func recorded() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        let (a, b) = (try place(1, "a"), try place(1, "b"))
        #expect(store.knownNumber(of: a) == nil && store.knownNumber(of: actor(5)) == nil)
        let (one, other) = (try store.number(of: a), try store.number(of: b))
        let program = try store.number(of: actor(5))
        #expect(one != other && store.knownNumber(of: a) == one && store.knownPlace(other) == b)
        #expect(store.knownNumber(of: actor(5)) == program && store.knownActor(program) == actor(5))
        #expect(try rows("place", store) == 0 && rows("actor", store) == 0)
        record(store, other, program)
        record(store, other, program)
        #expect(try rows("place", store) == 1 && rows("actor", store) == 1)
        try fixture.afterKill { (killed) throws -> Void in
            #expect(killed.knownNumber(of: b) == nil && killed.knownPlace(other) == nil)
            #expect(try killed.place(other) == b && killed.number(of: b) == other)
            #expect(try killed.actor(program) == actor(5) && killed.number(of: actor(5)) == program)
            // No fact has named it.
            #expect(try killed.place(PlaceNumber(99)) == nil && killed.actor(ActorNumber(99)) == nil)
            #expect(try killed.number(of: place(1, "c")) != other)
        }
    }

    @Test("A process is one for each program and user, and in another boot another one")
    func actors() throws {
        let fixture = try FactFixture()
        let all = [actor(5), actor(5, "cat"), actor(5, started: 8), actor(6)]
        let numbers = try all.map { try fixture.store().number(of: $0) }
        #expect(Set(numbers).count == all.count)
        for number in numbers { record(try fixture.store(), PlaceNumber(1), number) }
        fixture.close()
        #expect(try all.map { try fixture.store().number(of: $0) } == numbers)
        fixture.close()
        var options = FactFixture.options()
        options.boot = ContainerID.random().bytes
        let store = try FactStore(in: fixture.state, options: options)
        let others = try all.map { try store.number(of: $0) }
        #expect(Set(others + numbers).count == 2 * all.count)
        for (index, number) in numbers.enumerated() { #expect(try store.actor(number) == all[index]) }
        store.close()
    }

    @Test("A number that nothing records is given again after the end, one that is recorded never")
    func givenAgain() throws {
        let fixture = try FactFixture()
        let one = try fixture.store().number(of: place(1, "a"))
        fixture.close()
        let other = try fixture.store().number(of: place(1, "b"))
        #expect(one == other)
        record(try fixture.store(), other)
        fixture.close()
        #expect(try fixture.store().number(of: place(1, "c")) > other)
    }

    @Test("What memory has forgotten is found again, and names that nothing records are not kept for ever")
    func forgotten() throws {
        let fixture = try FactFixture()
        let store = try fixture.store()
        var given: [UInt64: PlaceNumber] = [:]
        let count = UInt64(SubjectNumbers.limit + 2 * SubjectNumbers.mostFresh + 10)
        for directory in 0..<count { given[directory] = try store.number(of: place(directory, "a")) }
        store.flush()
        let (known, fresh) = store.subjects.places.withLock { ($0.count, $0.fresh.count) }
        #expect(known < SubjectNumbers.limit + SubjectNumbers.mostFresh && fresh < SubjectNumbers.mostFresh)
        #expect(Set(given.values).count == given.count)
        for directory in stride(from: 0, to: count, by: 331) {
            #expect(try store.number(of: place(directory, "a")) == given[directory])
            #expect(try store.place(#require(given[directory])) == place(directory, "a"))
        }
    }

    @Test("After one look into a directory the next new names ask nothing")
    func directory() throws {
        let fixture = try FactFixture()
        record(try fixture.store(), try fixture.store().number(of: place(1, "a")))
        fixture.close()
        let store = try fixture.store()
        func knowsAll() -> Bool { store.subjects.places.withLock { $0.knowsAll(of: FileID(1)) } }
        #expect(!knowsAll())
        _ = try store.number(of: place(1, "b"))
        #expect(knowsAll())
        #expect(store.knownNumber(of: try place(1, "a")) != nil)
    }

    @Test("Two threads that ask for the same at once get the same, and each fact has its place")
    func threads() throws {
        let fixture = try FactFixture()
        // Not everything is in memory from the beginning.
        record(try fixture.store(), try fixture.store().number(of: place(0, "first")))
        fixture.close()
        let store = try fixture.store()
        let count = 2000
        let found = Mutex<[[PlaceNumber?]]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var numbers: [PlaceNumber?] = []
            for index in 0..<count {
                let number = (try? place(UInt64(index % 50), "name \(index)")).flatMap { try? store.number(of: $0) }
                let program = try? store.number(of: actor(Int32(index % 100)))
                numbers.append(number)
                if let number, index % 3 != thread { record(store, number, program) }
            }
            found.withLock { $0.append(numbers) }
        }
        let numbers = found.withLock(\.self)
        #expect(numbers.allSatisfy { $0 == numbers[0] } && !numbers[0].contains(nil))
        #expect(Set(numbers[0]).count == count)
        store.flush()
        let lacking = try store.catalog.access { database in
            try SQLStatement(
                database,
                """
                SELECT count(*) FROM name WHERE NOT EXISTS (SELECT 1 FROM place WHERE place.number = name.place)
                    OR NOT EXISTS (SELECT 1 FROM actor WHERE actor.number = name.actor) AND actor IS NOT NULL
                """
            ).first { $0.integer(0) }
        }
        #expect(lacking == 0)
        #expect(try rows("place", store) == Int64(count + 1) && rows("actor", store) == 100)
        fixture.close()
        for index in stride(from: 0, to: count, by: 37) {
            #expect(try fixture.store().number(of: place(UInt64(index % 50), "name \(index)")) == numbers[0][index])
        }
    }
}
