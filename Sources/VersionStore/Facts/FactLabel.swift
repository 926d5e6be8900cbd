// What a kept content says of itself in a container of facts: a version, with the rows that it belongs to.

import Lineage
import VersionModel

/// The label of one version, in the coding of facts. It names nothing that it has not: places and programs are in it.
struct FactLabel: Hashable, Sendable {
    /// What the identities of its facts derive from.
    var epoch: ContainerID
    /// Where the version was saved, for people, and for a rebuild if its directory is nowhere.
    var path: TreePath
    /// The version, behind the rows that are known of its document.
    var told: FactTransaction

    var version: VersionRow? {
        for case .version(let version) in told.facts { return version }
        return nil
    }

    var rows: [NameRow] {
        told.facts.compactMap { if case .row(let row) = $0 { row } else { nil } }
    }

    func place(_ number: PlaceNumber) -> Place? { told.places.first { $0.number == number }?.place }

    func author(_ number: ActorNumber?) -> Author? {
        number.flatMap { number in told.actors.first { $0.number == number }?.facts.author }
    }

    /// No catalog gives larger numbers. Behind them there is room for those that a rebuild gives.
    private static let mostNumber: UInt64 = 1 << 46

    /// Whether its numbers are such as a catalog gives. An attribute may be written by anyone.
    fileprivate var isSound: Bool {
        func isSound(_ number: UInt64?) -> Bool { number.map { $0 <= Self.mostNumber } ?? true }
        for row in rows {
            if case .movedAway(let next?) = row.how, !isSound(next.number) { return false }
            guard isSound(row.number.number), isSound(row.document.number), isSound(row.origin?.number),
                isSound(row.from?.number), row.from.map({ $0 < row.number }) ?? true
            else { return false }
        }
        guard let version else { return true }
        return isSound(version.number.number) && isSound(version.row.number) && isSound(version.base?.number)
            && isSound(version.loser?.number) && isSound(version.parents.first?.number)
            && isSound(version.parents.second?.number)
    }

    func write(to writer: inout ByteWriter) {
        writer.identity(epoch)
        writer.string(path.bytes)
        told.write(to: &writer)
    }

    static func read(_ reader: inout ByteReader) throws(CodingError) -> FactLabel {
        FactLabel(epoch: try reader.identity(), path: try reader.path(), told: try FactTransaction.read(&reader))
    }
}

extension ContentStore.Label {
    /// - Throws: if the facts are not those of one version.
    init(_ facts: FactLabel) throws(CodingError) {
        let ids = FactIDs(epoch: facts.epoch)
        guard facts.isSound, let row = facts.version, let home = facts.rows.first(where: { $0.number == row.row }),
            let place = facts.place(home.place), let id: VersionID = ids.id(row.number.number),
            let item: ItemID = ids.id(home.document.number)
        else { throw CodingError() }
        let attributes = facts.told.detail(of: row.number)?.attributes
        let author = facts.author(row.author) ?? Author(userID: .max, user: "?", program: "", process: 0)
        version = Version(
            id: id, item: facts.told.detail(of: RowNumber(home.document.number))?.document ?? item,
            kind: row.beside == .conflict ? .conflict : .history, content: ContentID(row.content),
            size: row.fingerprint.size, modified: row.modified, saved: row.time,
            time: HybridTime(wall: row.time, logical: 0), device: DeviceID(high: 0, low: 0), author: author,
            parents: [row.parents.first, row.parents.second].compactMap { $0.flatMap { ids.id($0.number) } },
            attributes: attributes ?? Attributes(mode: 0o600, owner: author.userID, group: author.userID))
        (path, self.place, self.facts) = (facts.path, place, facts)
    }
}

extension ContentStore.Label {
    /// The version as it was when the label was written; nil for a label of format 1.
    public var row: VersionRow? { facts?.version }

    /// The same with a version as it is by now, if it tells of that.
    public func amended(by version: VersionRow) -> Self {
        guard var facts, facts.version?.number == version.number else { return self }
        facts.told.replace(version)
        return (try? Self(facts)) ?? self
    }
}

extension FactStore {
    /// What a content says of itself that is kept for a version.
    ///
    /// - Parameters:
    ///   - rows: of the version's document; the first is the one that it was saved under.
    ///   - directory: the path of the directory that it was saved in, as far as it is known.
    public func label(
        of version: VersionRow, _ rows: [NameRow], _ attributes: Attributes, in directory: TreePath
    ) throws(StoreError) -> ContentStore.Label {
        var (rows, details) = (rows, FactDetails())
        details.versions[version.number] = VersionDetail(attributes: attributes)
        try addFirst(of: version, &rows, &details)
        var told = FactTransaction(rows.map(Fact.row) + [.version(version)])
        told.details = details
        var places: [PlaceNumber] = []
        for row in rows where !places.contains(row.place) { places.append(row.place) }
        for number in places.sorted() {
            if let place = try place(number) { told.places.append(PlaceRecord(number: number, place: place)) }
        }
        var actors = version.author.map { [$0] } ?? []
        for case let actor? in rows.map(\.actor) where !actors.contains(actor) { actors.append(actor) }
        for number in actors.sorted() {
            // A process of another boot is no program that a reader of the label could meet.
            if let actor = try actor(number) { told.actors.append(ActorRecord(number: number, boot: 0, facts: actor)) }
        }
        let name = rows.first.flatMap { row in told.places.first { $0.number == row.place }?.place.name }
        let path = name.map { directory.appending($0) } ?? directory
        do { return try ContentStore.Label(FactLabel(epoch: identity.epoch, path: path, told: told)) } catch {
            throw .catalog(code: 11, "a label without its place")
        }
    }

    /// The first row of a document says what that began with, and its identity, if it has one of format 1. What is
    /// still to be written is the caller's to know.
    private func addFirst(
        of version: VersionRow, _ rows: inout [NameRow], _ details: inout FactDetails
    ) throws(StoreError) {
        guard let document = rows.first?.document else { return }
        let number = RowNumber(document.number)
        let isKnown = rows.contains { $0.number == number }
        guard !isKnown || document.number <= lastFormer else { return }
        let (first, detail, alias) = try catalog.connection.read { database in
            (
                try FactTables.names(database, "seq = ?", .number(number.number)).first,
                try FactTables.detail(of: number, database),
                version.number.number <= lastFormer ? try FactTables.detail(of: version.number, database)?.alias : nil
            )
        }
        if let first, !isKnown { rows.append(first) }
        details.names[number] = detail
        details.versions[version.number]?.alias = alias
    }
}
