// What listeners hear of facts: the events of the change feed.

internal import GRDB
import Lineage
import VersionModel

/// A change as listeners hear it, with the catalog's own numbers.
public struct ToldChange: Hashable, Sendable {
    public var event: ChangeEvent
    /// The name that it is about, where it is behind the change; of a deletion, where it was.
    public var place: Place
    /// The path of that; nil if no row tells of a directory above it.
    public var path: TreePath?
    /// Where it was before, if that is another place.
    public var from: Place?
    public var fromPath: TreePath?
    /// nil for a directory.
    public var document: DocumentNumber?
    public var version: VersionNumber?
    public var time: Timestamp
    public var actor: ActorNumber?
    /// The purpose of the claim that it was made in.
    public var origin: UInt64?
}

extension FactReader {
    /// What listeners hear of the facts that one transaction has told, in their order, however long ago that was.
    ///
    /// | fact | event |
    /// |---|---|
    /// | a file is made, linked, or appears again at a place | `created` |
    /// | a file is found at a place that had none before | none: it was there before anything was told |
    /// | a file comes from another name that it leaves by this | `renamed`, for each of two that change places |
    /// | a file comes to a free name from elsewhere | `created` |
    /// | a name is linked to that its program has made up | none |
    /// | a file goes to a name that they do not know | `deleted` |
    /// | a name is removed, shown in the deleted list or not | `deleted` |
    /// | a directory or a symlink under a made-up name is removed by its program | none, if no fact told of it |
    /// | what a name had between its first and its last file of the transaction | none |
    /// | undelete | `undeleted` |
    /// | a version of a document that has the name | `saved`, and `conflict` for its loser |
    /// | a version beside a document | `conflict` if it is one |
    /// | a conflict is settled | `resolved` |
    /// | a version goes for good, of a document with a name or with an entry that is purged | `version-lost` |
    ///
    /// | event | |
    /// |---|---|
    /// | attributes of a name have changed | `attributes` |
    /// | a content is lost | `version-lost` |
    /// | marks and texts | none |
    /// - Parameter last: the last number of the transaction.
    public func changes(
        toldBy facts: [Fact], _ events: [FactEvent] = [], through last: UInt64
    ) throws(StoreError) -> [ToldChange] {
        try look { look in
            var teller = try Teller(look, facts, last)
            for fact in try teller.inOrder(facts) { try teller.tell(fact) }
            for event in events { try teller.tell(event) }
            return teller.told.map { change in
                var change = change
                change.origin = teller.origin
                return change
            }
        }
    }
}

/// The telling of one transaction.
private struct Teller {
    private let look: Look
    private let last: UInt64
    private var paths: FormerPaths
    /// What facts without circumstances have: those of the transaction.
    private let time: Timestamp
    private let actor: ActorNumber?
    private let names: NamesTold
    private let isPurge: Bool
    private(set) var told: [ToldChange] = []
    private(set) var origin: UInt64?

    init(_ look: Look, _ facts: [Fact], _ last: UInt64) throws {
        (self.look, self.last, paths) = (look, last, FormerPaths(look))
        let circumstances = facts.compactMap { fact -> (time: Timestamp, actor: ActorNumber?)? in
            switch fact {
            case .row(let row): (row.time, row.actor)
            case .version(let version), .amend(let version): (version.time, version.author)
            case .settle, .forget, .publish, .purge: nil
            }
        }
        names = try NamesTold(look, facts.compactMap { if case .row(let row) = $0 { row } else { nil } })
        isPurge = facts.contains { if case .purge = $0 { true } else { false } }
        let known = circumstances.max { $0.time < $1.time }
        // Of what is told alone, such as a resolution, nothing says when it was. A row that is published late may not
        // have been there when it was told first.
        let isInTime = "flags & \(FactTables.NameFlag.isLate) = 0"
        let before = try FactTables.names(
            look.database, "seq <= ? AND \(isInTime) ORDER BY seq DESC LIMIT 1", .bound(last)
        ).first
        time = known?.time ?? before?.time ?? Timestamp(nanoseconds: 0)
        actor = known?.actor
    }

    /// The facts in their order. Where names are told late, all names come first: listeners know them before they hear
    /// of versions. That a file has got the name of another one is told behind the versions, which are saves under it.
    func inOrder(_ facts: [Fact]) throws -> [Fact] {
        let behind = try facts.filter(isOverAnother)
        let others = behind.isEmpty ? facts : facts.filter { !behind.contains($0) }
        func isName(_ fact: Fact) -> Bool { if case .row = fact { true } else { false } }
        return (names.areTheLast ? others : others.filter(isName) + others.filter { !isName($0) }) + behind
    }

    private func isOverAnother(_ fact: Fact) throws -> Bool {
        guard case .row(let row) = fact, row.file != nil, names.isLast(row) else { return false }
        let first = names.first(of: row)
        return try first.how == .moved && first.from.map { names.leavers.contains($0) } ?? false
            && names.isOccupied(row.place)
    }

    mutating func tell(_ fact: Fact) throws {
        switch fact {
        case .row(let row) where names.isLast(row):
            if row.file == nil { try tellDeparture(row) } else if try !look.isUntold(row) { try tellArrival(row) }
        case .version(let version): try tell(version)
        case .amend(let version): try tell(version)
        case .settle(let version): try tell(.resolved, version)
        case .forget(let version): try tellForgotten(version)
        case .row, .publish, .purge: break
        }
    }

    mutating func tell(_ event: FactEvent) throws {
        switch event {
        case .attributes(let number, let circumstances):
            guard let row = look.stored.row(number), try !look.isUntold(row) else { return }
            try add(.attributes, nil, row, circumstances.time, circumstances.actor)
        case .lost(let version, let circumstances):
            try tell(.versionLost, version, circumstances.time, circumstances.actor)
        case .refused(let version, let circumstances):
            try tell(.conflict, version, circumstances.time, circumstances.actor)
        case .origin(let origin): self.origin = origin
        // The feed tells these as facts.
        case .amended, .settled, .forgotten, .purged, .published, .former: break
        case .marked, .labeled: break
        }
    }

    // MARK: Names

    private mutating func tellArrival(_ row: NameRow) throws {
        let first = names.first(of: row)
        let former = first.from.flatMap { look.stored.row($0) }
        switch first.how {
        // A file that had a name which its program has made up is as good as made under the name that it takes.
        case .created, .linked: if try !names.isOccupied(row.place) { try add(.created, row) }
        case .moved:
            if let former, names.leavers.contains(former.number) {
                try add(.renamed, row, from: look.place(former.place), at: first.number)
            } else if try !names.isOccupied(row.place) {
                try add(.created, row)
            }
        case .restored:
            // Over a file there is a version, or nothing new.
            if try !names.isOccupied(row.place) { try add(.created, row) }
        case .undeleted:
            try add(.undeleted, row, from: former.flatMap { try look.place($0.place) }, at: first.number)
        case .found:
            let isFirst = look.facts.lastOccupant(of: first.place, before: first.number) == nil
            if try !isFirst && !names.isOccupied(row.place) { try add(.created, row) }
        case .movedAway, .removed, .hidden: break
        }
    }

    private mutating func tellDeparture(_ row: NameRow) throws {
        guard let occupant = try names.occupant(of: row.place), !names.leavers.contains(occupant.number),
            try !look.isUnheard(occupant, until: row)
        else { return }
        try add(.deleted, row, of: occupant)
    }

    /// - Parameter number: of the row by which the file left the former place.
    private mutating func add(
        _ event: ChangeEvent, _ row: NameRow, of occupant: NameRow? = nil, from: Place? = nil,
        at number: RowNumber? = nil
    ) throws {
        guard let place = try look.place(row.place) else { return }
        var change = ToldChange(
            event: event, place: place, path: try path(of: place, at: last), time: row.time, actor: row.actor)
        let shown = occupant ?? row
        change.document = shown.hasNoVersions ? nil : shown.document
        if let from, from != place {
            (change.from, change.fromPath) = (from, try path(of: from, at: (number ?? row.number).number &- 1))
        }
        told.append(change)
    }

    private mutating func path(of place: Place, at number: UInt64) throws -> TreePath? {
        try paths.path(of: place.directory, at: number)?.appending(place.name)
    }

    // MARK: Versions

    private mutating func tell(_ version: VersionRow) throws {
        guard let row = look.stored.row(version.row), !version.isForgotten else { return }
        let isFound = row.how == .found && version.number.number == row.number.number &+ 1 && version.author == nil
        if version.beside == .no, !isFound, let name = try name(of: row.document, preferring: row) {
            try add(.saved, version.number, name, version.time, version.author)
        }
        if version.beside == .conflict { try tell(.conflict, version.number, version.time, version.author) }
        if let loser = version.loser { try tell(.conflict, loser, version.time, version.author) }
    }

    /// The name of a document that a save was made under, or any that it had behind the transaction.
    private func name(of document: DocumentNumber, preferring row: NameRow) throws -> NameRow? {
        for place in try [row.place] + look.places(of: document) {
            if let name = try look.lastRow(at: place, until: last), name.file != nil, name.document == document,
                try !look.isUntold(name)
            {
                return name
            }
        }
        return nil
    }

    private mutating func tellForgotten(_ version: VersionNumber) throws {
        guard let row = look.stored.version(version).flatMap({ look.stored.row($0.row) }),
            try isPurge || name(of: row.document, preferring: row) != nil
        else { return }
        try tell(.versionLost, version)
    }

    private mutating func tell(
        _ event: ChangeEvent, _ version: VersionNumber, _ time: Timestamp? = nil, _ actor: ActorNumber? = nil
    ) throws {
        guard let row = look.stored.version(version).flatMap({ look.stored.row($0.row) }) else { return }
        let name = try name(of: row.document, preferring: row) ?? row
        try add(event, version, name, time ?? self.time, time == nil ? self.actor : actor)
    }

    private mutating func add(
        _ event: ChangeEvent, _ version: VersionNumber?, _ name: NameRow, _ time: Timestamp, _ actor: ActorNumber?
    ) throws {
        guard let place = try look.place(name.place) else { return }
        told.append(
            ToldChange(
                event: event, place: place, path: try path(of: place, at: last),
                document: name.hasNoVersions ? nil : name.document, version: version, time: time, actor: actor))
    }
}
