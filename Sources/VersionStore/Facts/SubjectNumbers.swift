// The numbers of places and actors: given once, and recorded with the first fact that names them.

import Lineage
import Synchronization
import VersionModel

/// What memory has of the numbers of places and actors.
final class SubjectNumbers: Sendable {
    typealias Places = KnownNumbers<FileID, FileName>
    typealias Actors = KnownNumbers<ActorRef, ActorFacts>

    /// About how many places, and how many actors, are in memory at most.
    static let limit = 50_000
    /// At so many numbers without a row, the rows are written though no fact names them: most names that programs make
    /// up are never recorded, and most programs only read.
    static let mostFresh = 8_000

    /// Innermost, one at a time; held for a look.
    let places: Mutex<Places>
    let actors: Mutex<Actors>
    /// The number of the machine's boot.
    let boot: UInt32

    init(places: Places, actors: Actors, boot: UInt32) {
        self.places = Mutex(places)
        self.actors = Mutex(actors)
        self.boot = boot
    }

    /// Adds the rows of what the facts name and the catalog may lack. Two transactions may have the same row.
    func add(to transaction: inout FactTransaction) {
        let named = transaction.facts.compactMap(\.place)
        if !named.isEmpty {
            transaction.places = places.withLock { places in
                Self.once(named.map(\.number), in: places.fresh).compactMap { Self.record(ofPlace: $0, places) }
            }
        }
        let programs = transaction.facts.compactMap(\.actor) + transaction.events.compactMap(\.actor)
        if !programs.isEmpty {
            transaction.actors = actors.withLock { actors in
                Self.once(programs.map(\.number), in: actors.fresh).compactMap { record(ofActor: $0, actors) }
            }
        }
    }

    private static func once(_ numbers: [UInt32], in fresh: Set<UInt32>) -> [UInt32] {
        var found: [UInt32] = []
        var seen: Set<UInt32> = []
        for number in numbers where fresh.contains(number) && seen.insert(number).inserted { found.append(number) }
        return found
    }

    private static func record(ofPlace number: UInt32, _ places: borrowing Places) -> PlaceRecord? {
        places.key(of: number).map {
            PlaceRecord(number: PlaceNumber(number), place: Place(directory: $0.group, name: $0.key))
        }
    }

    private func record(ofActor number: UInt32, _ actors: borrowing Actors) -> ActorRecord? {
        actors.key(of: number).map { ActorRecord(number: ActorNumber(number), boot: boot, facts: $0.key) }
    }

    /// The rows of all fresh numbers, if they are too many.
    func surplus() -> FactTransaction? {
        var surplus = FactTransaction()
        surplus.places = places.withLock { places in
            guard places.fresh.count >= Self.mostFresh else { return [] }
            return places.fresh.sorted().compactMap { Self.record(ofPlace: $0, places) }
        }
        surplus.actors = actors.withLock { actors in
            guard actors.fresh.count >= Self.mostFresh else { return [] }
            return actors.fresh.sorted().compactMap { record(ofActor: $0, actors) }
        }
        return surplus.isEmpty ? nil : surplus
    }

    /// The transaction is in the queue.
    func noteQueued(_ transaction: FactTransaction) {
        if !transaction.places.isEmpty {
            places.withLock { $0.noteQueued(transaction.places.map(\.number.number)) }
        }
        if !transaction.actors.isEmpty {
            actors.withLock { $0.noteQueued(transaction.actors.map(\.number.number)) }
        }
    }

    /// The transactions are in the catalog.
    func noteWritten(_ transactions: [FactTransaction]) {
        let written = (
            places: transactions.flatMap { $0.places.map(\.number.number) },
            actors: transactions.flatMap { $0.actors.map(\.number.number) }
        )
        if !written.places.isEmpty { places.withLock { $0.noteWritten(written.places) } }
        if !written.actors.isEmpty { actors.withLock { $0.noteWritten(written.actors) } }
    }
}

extension FactStore {
    /// At most so many places of a directory are read at once.
    private static let mostOfDirectory = 5_000

    // MARK: Places

    /// The number of a place, if memory has it. For a caller that holds locks.
    public func knownNumber(of place: Place) -> PlaceNumber? {
        subjects.places.withLock { $0.number(of: place.name, in: place.directory) }.map { PlaceNumber($0) }
    }

    /// The number of a place, which gets one if it has none. May wait for the catalog.
    public func number(of place: Place) throws(StoreError) -> PlaceNumber { try numbered(place).number }

    /// The same, and whether the place has got it just now: no fact tells of it then.
    public func numbered(_ place: Place) throws(StoreError) -> (number: PlaceNumber, isNew: Bool) {
        while true {
            let (known, losses, isAll) = subjects.places.withLock { places in
                (places.number(of: place.name, in: place.directory), places.losses,
                    places.knowsAll(of: place.directory))
            }
            if let known { return (PlaceNumber(known), false) }
            if !isAll, let found = try find(place, since: losses) { return (found, false) }
            let (given, isExhausted) = subjects.places.withLock { places in
                (places.give(place.name, in: place.directory, since: losses), places.isExhausted)
            }
            if let given {
                writeSurplus()
                return (PlaceNumber(given), true)
            }
            if isExhausted { throw .catalog(code: Self.fullCode, "there are no more numbers of places") }
        }
    }

    /// Reads all places of the directory, if they are not too many, so that the next new name asks nothing.
    private func find(_ place: Place, since losses: UInt64) throws(StoreError) -> PlaceNumber? {
        let most = Self.mostOfDirectory
        let (found, others) = try catalog.connection.read { database in
            let found = try FactTables.number(of: place, database)
            return (found, try FactTables.places(in: place.directory, limit: most + 1, database))
        }
        subjects.places.withLock { places in
            let isAll = others.count <= most
            var learned = isAll ? others.map { ($0.place.name, $0.number.number) } : []
            if let found, !isAll { learned = [(place.name, found.number)] }
            places.learn(learned, in: place.directory, isAll: isAll, since: losses)
        }
        return found
    }

    /// The place of a number, if memory has it.
    public func knownPlace(_ number: PlaceNumber) -> Place? {
        subjects.places.withLock { $0.key(of: number.number) }.map { Place(directory: $0.group, name: $0.key) }
    }

    /// The place of a number; nil for one that was never given. May wait for the catalog.
    public func place(_ number: PlaceNumber) throws(StoreError) -> Place? {
        if let known = knownPlace(number) { return known }
        let losses = subjects.places.withLock(\.losses)
        guard let place = try catalog.connection.read({ try FactTables.place(number, $0) }) else { return nil }
        subjects.places.withLock {
            $0.learn([(place.name, number.number)], in: place.directory, isAll: false, since: losses)
        }
        return place
    }

    /// A directory is another one from now on, with all its places. Called before anything is asked of either.
    public func replace(_ directory: FileID, by other: FileID) {
        var transaction = FactTransaction()
        transaction.changes = [.directory(directory, is: other)]
        commit(transaction)
        flush()
        subjects.places.withLock { $0.move(directory, to: other) }
    }

    // MARK: Actors

    /// The number of an actor, if memory has it. For a caller that holds locks.
    public func knownNumber(of actor: ActorFacts) -> ActorNumber? {
        subjects.actors.withLock { $0.number(of: actor, in: actor.ref) }.map { ActorNumber($0) }
    }

    /// The number of an actor, which gets one if it has none. May wait for the catalog.
    public func number(of actor: ActorFacts) throws(StoreError) -> ActorNumber {
        let (ref, boot) = (actor.ref, subjects.boot)
        while true {
            let (known, losses, isAll) = subjects.actors.withLock { actors in
                (actors.number(of: actor, in: ref), actors.losses, actors.knowsAll(of: ref))
            }
            if let known { return ActorNumber(known) }
            if !isAll {
                let found = try catalog.connection.read { try FactTables.actors(of: ref, boot: boot, $0) }
                let learned = found.map { ($0.facts, $0.number.number) }
                subjects.actors.withLock { $0.learn(learned, in: ref, isAll: true, since: losses) }
                if let same = found.first(where: { $0.facts == actor }) { return same.number }
            }
            let (given, isExhausted) = subjects.actors.withLock { actors in
                (actors.give(actor, in: ref, since: losses), actors.isExhausted)
            }
            if let given {
                writeSurplus()
                return ActorNumber(given)
            }
            if isExhausted { throw .catalog(code: Self.fullCode, "there are no more numbers of programs") }
        }
    }

    /// The actor of a number, if memory has it.
    public func knownActor(_ number: ActorNumber) -> ActorFacts? {
        subjects.actors.withLock { $0.key(of: number.number)?.key }
    }

    /// The actor of a number; nil for one that was never given. May wait for the catalog.
    public func actor(_ number: ActorNumber) throws(StoreError) -> ActorFacts? {
        if let known = knownActor(number) { return known }
        let losses = subjects.actors.withLock(\.losses)
        guard let record = try catalog.connection.read({ try FactTables.actor(number, $0) }) else { return nil }
        // Of another boot, no process is asked for any more.
        if record.boot == subjects.boot {
            subjects.actors.withLock {
                $0.learn([(record.facts, number.number)], in: record.facts.ref, isAll: false, since: losses)
            }
        }
        return record.facts
    }

    private static let fullCode: Int32 = 13

    private func writeSurplus() {
        guard !options.readOnly, let surplus = subjects.surplus() else { return }
        queue.commit(surplus)
        subjects.noteQueued(surplus)
    }
}
