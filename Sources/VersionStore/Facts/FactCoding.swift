// The binary form of facts, for the redo log and for rows of events. The numbers are part of the format.

import Lineage
import VersionModel

extension FactTransaction: RedoCall {
    static var logName: String { "redo2" }

    var countOfRows: Int { facts.count + changes.count + events.count + places.count + actors.count }

    func write(to writer: inout ByteWriter) {
        writer.list(places) { writer, record in
            writer.count(UInt64(record.number.number))
            writer.place(record.place)
        }
        writer.list(actors) { writer, record in
            writer.count(UInt64(record.number.number))
            writer.count(UInt64(record.boot))
            writer.author(record.facts.author)
            writer.count(record.facts.started)
        }
        writer.count(telling.first)
        writer.count(telling.last)
        writer.optional(eventNumber) { $0.count($1) }
        writer.list(facts) { $0.fact($1, self) }
        writer.list(changes) { $0.factChange($1) }
        writer.list(events) { $0.event($1) }
    }

    static func read(_ reader: inout ByteReader) throws(CodingError) -> FactTransaction {
        let places = try reader.list { (reader) throws(CodingError) in
            PlaceRecord(number: PlaceNumber(try reader.count32()), place: try reader.place())
        }
        let actors = try reader.list { (reader) throws(CodingError) in
            ActorRecord(
                number: ActorNumber(try reader.count32()), boot: try reader.count32(),
                facts: ActorFacts(author: try reader.author(), started: try reader.count()))
        }
        let telling = FactTables.Telling(first: try reader.count(), last: try reader.count())
        let eventNumber = try reader.optional { (reader) throws(CodingError) in try reader.count() }
        var details = FactDetails()
        let facts = try reader.list { (reader) throws(CodingError) in try reader.fact(&details) }
        var transaction = FactTransaction(facts)
        transaction.details = details
        (transaction.places, transaction.actors) = (places, actors)
        (transaction.telling, transaction.eventNumber) = (telling, eventNumber)
        transaction.changes = try reader.list { (reader) throws(CodingError) in try reader.factChange() }
        transaction.events = try reader.list { (reader) throws(CodingError) in try reader.event() }
        return transaction
    }
}

extension ByteWriter {
    mutating func list<Element>(_ list: [Element], _ write: (inout ByteWriter, Element) -> Void) {
        count(UInt64(list.count))
        for element in list { write(&self, element) }
    }

    private mutating func number<Subject>(_ number: FactNumber<Subject>) { count(number.number) }

    private mutating func optional<Subject>(_ number: FactNumber<Subject>?) { optional(number) { $0.number($1) } }

    private mutating func actor(_ actor: ActorNumber?) { optional(actor) { $0.count(UInt64($1.number)) } }

    // MARK: Facts

    fileprivate mutating func fact(_ fact: Fact, _ transaction: FactTransaction) {
        switch fact {
        case .row(let row): tagged(0) { $0.row(row, transaction.detail(of: row.number)) }
        case .version(let version): tagged(1) { $0.version(version, transaction.detail(of: version.number)) }
        case .amend(let version): tagged(2) { $0.version(version, transaction.detail(of: version.number)) }
        case .settle(let version): tagged(3) { $0.number(version) }
        case .forget(let version): tagged(4) { $0.number(version) }
        case .publish(let row): tagged(5) { $0.number(row) }
        case .purge(let row): tagged(6) { $0.number(row) }
        }
    }

    private mutating func row(_ row: NameRow, _ detail: NameDetail?) {
        number(row.number)
        time(row.time)
        count(UInt64(row.place.number))
        optional(row.file) { $0.fixed($1.number) }
        let (code, target) = FactTables.code(of: row.how)
        byte(UInt8(truncatingIfNeeded: code))
        optional(target)
        optional(row.from)
        byte((row.isContinuing ? 1 : 0) | (row.hasNoVersions ? 2 : 0) | (row.isParted ? 4 : 0))
        actor(row.actor)
        number(row.document)
        optional(row.origin)
        optional(detail) { writer, detail in
            writer.byte(detail.type.code)
            writer.byte(detail.isEntry ? 1 : 0)
            writer.optional(detail.document) { $0.identity($1) }
            writer.optional(detail.deletion) { $0.identity($1) }
        }
    }

    private mutating func version(_ version: VersionRow, _ detail: VersionDetail?) {
        number(version.number)
        time(version.time)
        number(version.row)
        fixed(version.content.file.number)
        count(version.content.generation)
        optional(version.file == version.content.file ? nil : version.file) { $0.fixed($1.number) }
        count(version.fingerprint.size)
        fixed(version.fingerprint.high)
        fixed(version.fingerprint.low)
        time(version.modified)
        actor(version.author)
        optional(version.base)
        optional(version.parents.first)
        optional(version.parents.second)
        optional(version.loser)
        byte(
            (version.beside == .history ? 1 : 0) | (version.beside == .conflict ? 2 : 0)
                | (version.isAppended ? 4 : 0) | (version.isAtHome ? 8 : 0) | (version.isForgotten ? 16 : 0)
                | (version.isImage ? 32 : 0))
        optional(detail) { writer, detail in
            writer.optional(detail.hash) { $0.string($1) }
            writer.optional(detail.attributes) { $0.attributes($1) }
            writer.optional(detail.changed) { $0.time($1) }
            writer.byte(detail.marks.rawValue)
            writer.optional(detail.alias) { $0.identity($1) }
        }
    }

    // MARK: What is no fact

    fileprivate mutating func factChange(_ change: FactChange) {
        switch change {
        case .hash(let version, let hash): tagged(0) { $0.number(version); $0.string(hash) }
        case .attributes(let version, let attributes): tagged(1) { $0.number(version); $0.attributes(attributes) }
        case .marks(let version, let added, let removed):
            tagged(2) { $0.number(version); $0.byte(added.rawValue); $0.byte(removed.rawValue) }
        case .changed(let version, let time): tagged(3) { $0.number(version); $0.optional(time) { $0.time($1) } }
        case .removeVersion(let version): tagged(4) { $0.number(version) }
        case .removeRow(let row): tagged(5) { $0.number(row) }
        case .label(let subject, let text): tagged(6) { $0.count(subject); $0.optional(text) { $0.text($1) } }
        case .setting(let key, let value): tagged(7) { $0.text(key); $0.optional(value) { $0.string($1) } }
        case .times(let row, let accessed, let modified):
            tagged(8) { $0.number(row); $0.time(accessed); $0.time(modified) }
        case .directory(let former, let now): tagged(9) { $0.fixed(former.number); $0.fixed(now.number) }
        }
    }

    mutating func event(_ event: FactEvent) {
        switch event {
        case .amended(let version): tagged(0) { $0.number(version) }
        case .settled(let version): tagged(1) { $0.number(version) }
        case .forgotten(let version): tagged(2) { $0.number(version) }
        case .purged(let row): tagged(3) { $0.number(row) }
        case .published(let row): tagged(4) { $0.number(row) }
        case .attributes(let row, let circumstances): tagged(5) { $0.number(row); $0.circumstances(circumstances) }
        case .lost(let version, let circumstances): tagged(6) { $0.number(version); $0.circumstances(circumstances) }
        case .marked(let version, let circumstances): tagged(7) { $0.number(version); $0.circumstances(circumstances) }
        case .labeled(let subject, let circumstances): tagged(8) { $0.count(subject); $0.circumstances(circumstances) }
        case .origin(let purpose): tagged(9) { $0.fixed(purpose) }
        case .former(let version, let size, let time):
            tagged(10) { $0.number(version); $0.optional(size) { $0.count($1) }; $0.time(time) }
        case .refused(let version, let circumstances):
            tagged(11) { $0.number(version); $0.circumstances(circumstances) }
        }
    }

    private mutating func circumstances(_ circumstances: FactEvent.Circumstances) {
        time(circumstances.time)
        actor(circumstances.actor)
    }

    private mutating func tagged(_ tag: UInt8, _ body: (inout ByteWriter) -> Void) {
        byte(tag)
        body(&self)
    }
}
