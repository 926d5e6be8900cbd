// One transaction of facts, as it is committed, logged and told.

import Lineage
import VersionModel

/// Facts that are recorded together or not at all, with what the catalog has of them beside.
public struct FactTransaction: Hashable, Sendable {
    /// The facts that others may see (``Facts/feed(of:)``), in their order.
    public private(set) var facts: [Fact]
    var details = FactDetails()
    /// Changes that are no facts.
    public var changes: [FactChange] = []
    /// What listeners hear besides.
    public var events: [FactEvent] = []

    /// Places and actors that the catalog has not had before; the store adds them.
    var places: [PlaceRecord] = []
    var actors: [ActorRecord] = []
    /// How the facts are told again, and the number of the event row; the store gives them.
    var telling = FactTables.Telling.plainly
    var eventNumber: UInt64?

    public init(_ facts: [Fact] = []) {
        // A row that is published by this comes with the facts.
        self.facts = facts.filter { if case .publish = $0 { false } else { true } }
    }

    public var isEmpty: Bool { countOfRows == 0 }

    mutating func add(_ fact: Fact) { facts.append(fact) }

    mutating func replace(_ version: VersionRow) {
        facts = facts.map { $0.ownNumber == version.number.number ? .version(version) : $0 }
    }

    /// The contents of versions are gone.
    public mutating func lose(_ versions: [VersionNumber], at time: Timestamp) {
        for version in versions {
            changes.append(.marks(version, added: .lost, removed: []))
            events.append(.lost(version, FactEvent.Circumstances(time: time, actor: nil)))
        }
    }

    /// Gives a version that is recorded or amended here its details.
    public mutating func describe(_ version: VersionNumber, _ detail: VersionDetail) {
        details.versions[version] = detail
    }

    /// Gives a name row that is recorded here its details.
    public mutating func describe(_ row: RowNumber, _ detail: NameDetail) { details.names[row] = detail }

    public func detail(of version: VersionNumber) -> VersionDetail? { details.versions[version] }
    public func detail(of row: RowNumber) -> NameDetail? { details.names[row] }

    /// The largest number of a row or a version here; 0 if there is none.
    var lastNumber: UInt64 { facts.reduce(0) { max($0, $1.ownNumber ?? 0) } }

    /// All that listeners hear which is no row of its own: the events, and what happens to earlier rows.
    func allEvents(first: UInt64) -> [FactEvent] {
        facts.compactMap { fact -> FactEvent? in
            switch fact {
            case .amend(let version): .amended(version.number)
            case .settle(let version): .settled(version)
            case .forget(let version): .forgotten(version)
            case .purge(let row): .purged(row)
            case .row(let row): row.file != nil && row.number.number < first ? .published(row.number) : nil
            case .version, .publish: nil
            }
        } + events
    }
}

extension FactTransaction {
    /// Whether there is any of ``allEvents(first:)``.
    func hasEvents(first: UInt64) -> Bool {
        !events.isEmpty
            || facts.contains { fact in
                switch fact {
                case .row(let row): row.file != nil && row.number.number < first
                case .version, .publish: false
                case .amend, .settle, .forget, .purge: true
                }
            }
    }
}

extension Fact {
    /// The number of a row or a version that is recorded.
    var ownNumber: UInt64? {
        switch self {
        case .row(let row): row.number.number
        case .version(let version): version.number.number
        case .amend, .settle, .forget, .publish, .purge: nil
        }
    }
}

/// A change of the catalog that is no fact: no rule depends on it.
public enum FactChange: Hashable, Sendable {
    /// The SHA-256 of a version's content is known now.
    case hash(VersionNumber, [UInt8])
    case attributes(VersionNumber, Attributes)
    case marks(VersionNumber, added: VersionMarks, removed: VersionMarks)
    /// The ctime of the live file, which goes on with the version.
    case changed(VersionNumber, Timestamp?)
    /// Takes a version's row away. Rows that name it keep its number.
    case removeVersion(VersionNumber)
    case removeRow(RowNumber)
    /// The times that the directory had before this removal from it.
    case times(RowNumber, accessed: Timestamp, modified: Timestamp)
    /// The text of a document or a version, by its number; nil takes it away.
    case label(UInt64, String?)
    /// A directory is another one from now on, in all rows: it was copied, and the former one is nowhere. No fact
    /// tells of the other.
    case directory(FileID, is: FileID)
    /// A small value that survives the daemon; nil removes it.
    case setting(key: String, value: [UInt8]?)
}

/// What listeners hear and is no row.
public enum FactEvent: Hashable, Sendable {
    // These follow from the facts of the transaction.

    case amended(VersionNumber)
    case settled(VersionNumber)
    case forgotten(VersionNumber)
    case purged(RowNumber)
    /// A row is published after its transaction, with its versions and its departure.
    case published(RowNumber)

    // These are told besides.

    case attributes(RowNumber, Circumstances)
    case lost(VersionNumber, Circumstances)
    /// The marks of a version have changed.
    case marked(VersionNumber, Circumstances)
    /// The text of a document or a version has changed.
    case labeled(UInt64, Circumstances)
    /// A program was refused to replace a version that it has not seen.
    case refused(VersionNumber, Circumstances)
    /// The purpose of the claim that the transaction was made in.
    case origin(UInt64)

    /// A version was amended: how long it was, if the new bytes were appended, and since when. Only the catalog has it.
    case former(VersionNumber, size: UInt64?, since: Timestamp)

    /// When, and by whom.
    public struct Circumstances: Hashable, Sendable {
        public var time: Timestamp
        public var actor: ActorNumber?

        public init(time: Timestamp, actor: ActorNumber?) { (self.time, self.actor) = (time, actor) }
    }

    /// The program that has done it, where the event itself says so.
    var actor: ActorNumber? {
        switch self {
        case .attributes(_, let circumstances), .lost(_, let circumstances), .marked(_, let circumstances),
            .labeled(_, let circumstances), .refused(_, let circumstances):
            circumstances.actor
        case .amended, .settled, .forgotten, .purged, .published, .origin, .former: nil
        }
    }
}
