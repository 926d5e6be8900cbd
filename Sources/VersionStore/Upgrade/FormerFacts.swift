// From the records of format 1 to facts: a pure function of the records and of what the files are.

import Lineage
import VersionModel

/// Takes the facts of an upgrade, in the order of their numbers.
protocol UpgradeSink {
    mutating func put(_ place: Place, _ number: PlaceNumber) throws
    mutating func put(_ author: Author, _ number: ActorNumber) throws
    mutating func put(_ row: NameRow, _ detail: NameDetail) throws
    mutating func put(_ version: VersionRow, _ detail: VersionDetail) throws
    /// A further identity of a version.
    mutating func put(alias: VersionID, of version: VersionNumber) throws
    mutating func put(_ move: EntryMove) throws
    mutating func put(_ change: FactChange) throws
}

/// What becomes of an entry of the deleted area once facts tell of it.
struct EntryMove: Hashable {
    var deletion: DeletionID
    /// The content that the entry becomes, and its label; nil for one that only stood for a name.
    var kept: ContentStore.Label?
}

/// Facts for all that is recorded in format 1.
///
/// First come the missing parents, which have numbers and no rows; then what was there before everything that is told;
/// then names and versions in the order of their times.
struct FormerFacts {
    let records: FormerRecords
    let files: any FormerFiles
    let origins: Origins
    var names: FormerNames
    let rivals: Rivals
    let contents: FormerContents
    /// Since when the names are known.
    let horizon: Timestamp

    var next: UInt64
    /// The numbers of versions; 0 before they are recorded, and for those that have no row.
    var numbers: [UInt64]
    var missing: [VersionID: UInt64] = [:]
    var rowsOfStays: [UInt64]
    var firstRows: [UInt64]
    var lastRows: [UInt64]
    var actors: [Author: ActorNumber] = [:]
    /// Bases that are recorded with a loser and are its winner's.
    var basesOfWinners: [Int32: VersionID] = [:]
    /// Copies that wait for the first rows of their documents, and those of them that became versions like others.
    var deferred: Set<Int32> = []
    var late: [Int32] = []
    var written = UpgradeCounts()

    /// - Parameter last: the last number that the feed of format 1 has given; facts begin after it.
    init(_ records: FormerRecords, _ files: any FormerFiles, after last: UInt64, now: Timestamp) {
        (self.records, self.files) = (records, files)
        origins = Origins(records)
        names = FormerNames(records, files, partings: origins.partings)
        rivals = Rivals(records)
        contents = FormerContents(records, names, files)
        horizon = Self.horizon(records, now)
        next = last + 1
        numbers = Array(repeating: 0, count: records.versions.count)
        rowsOfStays = Array(repeating: 0, count: names.stays.count)
        firstRows = Array(repeating: 0, count: records.documents.count)
        lastRows = firstRows
    }

    /// A feed from its beginning tells all since the adoption. Rows of former releases do not tell directories.
    private static func horizon(_ records: FormerRecords, _ now: Timestamp) -> Timestamp {
        let last = records.changes.lastIndex { $0.change.tellsOfName && $0.change.directory == nil }
        let usable = last.map { $0 + 1 } ?? 0
        let isWhole = usable == 0 && (records.changes.first?.sequence ?? records.lastSequence + 1) == 1
        if isWhole, let adoption = records.adoption { return adoption }
        return usable < records.changes.count ? records.changes[usable].change.time : now
    }

    // MARK: Writing

    mutating func write(
        to sink: inout some UpgradeSink, version: (Int64) throws -> Version?, _ progress: (Int, Int) throws -> Void
    ) throws {
        for (index, place) in names.places.places.enumerated() {
            try sink.put(place, PlaceNumber(UInt32(index + 1)))
        }
        numberMissing()
        let timeline = timeline()
        try writeBeginning(at: beginning(timeline), to: &sink)
        for (index, event) in timeline.enumerated() {
            if index % 1024 == 0 { try progress(index, timeline.count) }
            if event.isVersion {
                try write(event.index, version: version, to: &sink)
            } else {
                let following = index + 1 < timeline.count ? timeline[index + 1] : nil
                try write(moment: event.index, before: following, to: &sink)
                try writeLate(version: version, to: &sink)
            }
        }
        try moveEntries(version: version, to: &sink)
        try progress(timeline.count, timeline.count)
    }

    /// A moment of a name, or a version.
    struct Event {
        var order: Int64
        var isVersion: Bool
        /// Decides between those of one time: what was undone later comes first.
        var tie: Int64
        var index: Int32
    }

    private func timeline() -> [Event] {
        var events: [Event] = []
        events.reserveCapacity(names.moments.count + records.versions.count)
        for (index, moment) in names.moments.enumerated() {
            events.append(
                Event(order: moment.order, isVersion: false, tie: -Int64(index), index: Int32(index)))
        }
        for (index, version) in records.versions.enumerated() {
            let copied = origins.times[Int32(index)]
            events.append(
                Event(
                    order: copied ?? version.time.wall.nanoseconds, isVersion: true,
                    tie: copied != nil ? -1 : Int64(version.time.logical) << 31 | Int64(index), index: Int32(index)))
        }
        events.sort { left, right in
            if left.order != right.order { return left.order < right.order }
            if left.isVersion != right.isVersion { return right.isVersion }
            return left.tie < right.tie
        }
        return events
    }

    /// Nothing is older, so that a question about any time finds what was there at the beginning.
    private func beginning(_ timeline: [Event]) -> Timestamp {
        Timestamp(nanoseconds: min(timeline.first?.order ?? .max, horizon.nanoseconds))
    }

    /// Parents that are gone say that the nearest common ancestor of their children is gone, too.
    private mutating func numberMissing() {
        for parent in records.parents where records.index(of: parent) == nil && missing[parent] == nil {
            missing[parent] = takeNumber()
        }
    }

    mutating func takeNumber() -> UInt64 {
        defer { next += 1 }
        return next
    }

    mutating func actor(_ author: Author?, to sink: inout some UpgradeSink) throws -> ActorNumber? {
        guard let author else { return nil }
        if let known = actors[author] { return known }
        let number = ActorNumber(UInt32(actors.count + 1))
        actors[author] = number
        try sink.put(author, number)
        return number
    }
}

/// How many records an upgrade has written.
public struct UpgradeCounts: Hashable, Sendable {
    public var names = 0
    public var versions = 0
    /// Versions that are another document's now.
    public var origins = 0
    /// Versions whose content is nowhere, and that were not known to be lost.
    public var lost = 0
    /// Versions with more than two parents, and versions that named a later one.
    public var parentsLeftOut = 0
}
