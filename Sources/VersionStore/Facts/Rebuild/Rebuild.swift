// Facts that are made anew from labels, when the catalog is lost.

internal import GRDB
import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel

/// Makes facts from what contents and deleted entries say of themselves. Settling brings them to what the tree has.
///
/// | a label | becomes |
/// |---|---|
/// | with facts of the lost catalog | these facts, by their numbers |
/// | of format 1, or with a number that another label has, too | a version of the document that it names, by time |
/// | of a deleted entry | the row of what was there, and its removal |
///
/// Facts of the second kind get the smallest free numbers: such versions are mostly older.
struct Rebuild {
    /// Numbers go on behind all that a catalog may have given: no label tells of all its facts.
    private static let numberStep: UInt64 = 36
    private static let epochStep: UInt64 = 40
    /// More losses have steps alone. Generations, which numbers begin, are signed in the tables.
    private static let mostEpochs: UInt64 = 4

    let epoch: ContainerID
    let ids: FactIDs
    let state: ContainerState
    var tree: RebuiltTree
    var rows: [UInt64: NameRow] = [:]
    var versions: [UInt64: VersionRow] = [:]
    var details = FactDetails()
    private(set) var places: [Place: PlaceNumber] = [:]
    private var actors: [Author: ActorNumber] = [:]
    /// Numbers that a fact has, or that one names.
    private var taken: Set<UInt64> = [0]
    private var smallest: UInt64 = 1
    /// The last number before the loss, as far as labels tell.
    private var last: UInt64 = 0
    private let removedDirectories: Set<FileID>
    /// The first number that no fact of the lost catalog can have had, and none has now.
    private(set) var next: UInt64 = 1

    init(_ state: ContainerState, _ logger: Logger) throws(StoreError) {
        let labels: KeptLabels
        do throws(Errno) { labels = try KeptLabels(state, logger) } catch {
            throw .io(error, "reading the labels of kept contents")
        }
        self.state = state
        epoch = labels.epoch ?? .random()
        ids = FactIDs(epoch: epoch)
        removedDirectories = Set(labels.deletions.filter { $0.type == .directory }.map(\.file))
        let named = labels.contents.flatMap { label in
            [label.place.directory] + (label.facts?.told.places ?? []).map(\.place.directory)
        }
        tree = RebuiltTree(
            LiveTree(root: state.root, identity: state.fileIdentity),
            wanted: Set(named + labels.deletions.map(\.place.directory)))
        for label in labels.contents where label.facts?.epoch == epoch { reserve(label) }
        tellDirectories(of: labels)
        var others: [ContentStore.Label] = []
        for label in labels.contents where !take(label) { others.append(label) }
        for deletion in labels.deletions where deletion.type != .file && deletion.type != .link { take(deletion) }
        do throws(Errno) { others += try entries(labels.deletions) } catch {
            throw .io(error, "keeping a deleted file")
        }
        takeFormer(others)
        completeDocuments()
        leaveFormerPlaces()
        next = firstNumber
        leaveGoneDirectories()
        if !rows.isEmpty {
            logger.notice(
                "recovered from labels", metadata: ["names": "\(rows.count)", "versions": "\(versions.count)"])
        }
    }

    /// Numbers go on where no fact of the lost catalog can have had one.
    private var firstNumber: UInt64 {
        let steps = min(max(state.identity.epoch, 1) - 1, Self.mostEpochs) << Self.epochStep
        return max((max(last, rows.keys.max() ?? 0) >> Self.numberStep + 1) << Self.numberStep, steps)
    }

    // MARK: Numbers

    /// The smallest number that no fact has.
    mutating func takeNumber() -> UInt64 {
        while !taken.insert(smallest).inserted { smallest += 1 }
        return smallest
    }

    /// The largest number before one that nothing has.
    mutating func takeNumber(below number: UInt64, above least: UInt64 = 0) -> UInt64? {
        var free = number
        while free > least + 1 {
            free -= 1
            if taken.insert(free).inserted { return free }
        }
        return nil
    }

    mutating func number(of place: Place) -> PlaceNumber {
        if let known = places[place] { return known }
        let number = PlaceNumber(UInt32(clamping: places.count + 1))
        places[place] = number
        return number
    }

    mutating func number(of author: Author?) -> ActorNumber? {
        guard let author else { return nil }
        if let known = actors[author] { return known }
        let number = ActorNumber(UInt32(clamping: actors.count + 1))
        actors[author] = number
        return number
    }

    mutating func place(_ place: Place, at path: TreePath) -> PlaceNumber {
        number(of: tree.place(place, at: path) { removedDirectories.contains($0) })
    }

    // MARK: Directories

    /// They come first: what is in a directory is later than that.
    private mutating func tellDirectories(of labels: KeptLabels) {
        for label in labels.contents {
            _ = place(label.place, at: label.path)
            for place in label.facts?.told.places ?? [] {
                _ = self.place(place.place, at: label.path.parent?.appending(place.place.name) ?? .root)
            }
        }
        for deletion in labels.deletions { _ = place(deletion.place, at: deletion.path) }
        let times = labels.contents.map(\.version.saved) + labels.deletions.map(\.deleted)
        let first = times.min() ?? Timestamp(nanoseconds: 0)
        for directory in tree.found {
            var row = NameRow(
                number: RowNumber(takeNumber()), time: first, place: number(of: directory.place),
                file: directory.directory, how: .found, actor: nil)
            row.hasNoVersions = true
            rows[row.number.number] = row
            details.names[row.number] = NameDetail(type: .directory)
        }
    }

    /// What was in a directory that is nowhere was removed with it, if it had not left before.
    private mutating func leaveGoneDirectories() {
        let now = state.options.clock.now()
        var gone = removedDirectories
        for directory in tree.found where !directory.isThere { gone.insert(directory.directory) }
        gone = gone.filter { !tree.has($0) }
        let directories = Dictionary(uniqueKeysWithValues: places.map { ($1, $0.directory) })
        let last = Dictionary(grouping: rows.values, by: \.place).compactMap { _, own in
            own.max { $0.number < $1.number }
        }
        for row in last.sorted(by: { $0.number < $1.number }) {
            let isGone = row.file.map { gone.contains($0) } ?? true
            let wasInGone = directories[row.place].map { gone.contains($0) } ?? false
            guard row.file != nil, isGone || wasInGone else { continue }
            var removal = NameRow(
                number: RowNumber(next), time: now, place: row.place, file: nil, how: .removed, actor: nil)
            removal.document = row.document
            rows[next] = removal
            next += 1
            guard row.hasNoVersions, let type = details.names[row.number]?.type else { continue }
            // A directory comes back as a new one, with what was in it.
            details.names[removal.number] = NameDetail(type: type, isEntry: type == .directory)
        }
    }

    /// What there is of a content that did not reach the disk whole is unfinished.
    mutating func cutToPresent(_ version: inout VersionRow) {
        let id = ContentID(version.content)
        guard let object = try? state.contents.open(id) else { return }
        defer { System.close(object) }
        guard let size = try? System.status(object).st_size, size < version.fingerprint.size else { return }
        let read = try? ContentPrefix.fingerprint(
            of: object, UInt64(clamping: size), in: version.content, modified: version.modified)
        guard let read else { return }
        version.fingerprint = read
        details.versions[version.number]?.hash = nil
        details.versions[version.number]?.marks.insert(.unfinished)
    }

    // MARK: Labels with facts

    /// Facts name others by their numbers, which no other fact must get.
    private mutating func reserve(_ label: ContentStore.Label) {
        guard let facts = label.facts, let version = facts.version else { return }
        var numbers = [version.number, version.base, version.parents.first, version.parents.second, version.loser]
            .compactMap { $0?.number }
        for row in facts.rows {
            numbers += [row.number.number, row.document.number]
            numbers += [row.from?.number, row.origin?.number].compactMap(\.self)
        }
        taken.formUnion(numbers)
        last = max(last, numbers.max() ?? 0)
    }

    /// - Returns: false if it has no facts of the lost catalog, or another label has one of its numbers: of a version
    ///   that was never recorded.
    private mutating func take(_ label: ContentStore.Label) -> Bool {
        guard let facts = label.facts, facts.epoch == epoch, var version = facts.version,
            versions[version.number.number].map({ $0.content == version.content }) ?? true,
            rows[version.number.number] == nil
        else { return false }
        var own: [NameRow] = []
        for var row in facts.rows {
            guard versions[row.number.number] == nil, let spot = facts.place(row.place) else { return false }
            row.place = place(spot, at: facts.path.parent?.appending(spot.name) ?? .root)
            let known = rows[row.number.number] ?? row
            guard (known.place, known.file, known.document) == (row.place, row.file, row.document) else { return false }
            row.actor = number(of: facts.author(row.actor))
            own.append(row)
        }
        version.author = number(of: facts.author(version.author))
        // Of two labels of a version the longer one is the later one.
        let known = versions[version.number.number]
        if let known, known.fingerprint.size >= version.fingerprint.size { return true }
        details.versions[version.number] = facts.told.detail(of: version.number)
        cutToPresent(&version)
        versions[version.number.number] = version
        for row in own {
            rows[row.number.number] = row
            if let detail = facts.told.detail(of: row.number) { details.names[row.number] = detail }
        }
        return true
    }

    // MARK: Deleted entries

    private mutating func take(_ deletion: Deletion) {
        let place = place(deletion.place, at: deletion.path)
        let known = ids.number(of: deletion.id).flatMap { taken.insert($0).inserted ? $0 : nil }
        if let known { last = max(last, known) }
        let below = known.flatMap { takeNumber(below: $0) }
        let first = below ?? takeNumber()
        let removal = below == nil ? takeNumber() : known ?? takeNumber()
        var row = NameRow(
            number: RowNumber(first), time: deletion.deleted, place: place, file: deletion.file, how: .found,
            actor: nil)
        row.hasNoVersions = true
        rows[first] = row
        details.names[row.number] = NameDetail(type: deletion.type)
        rows[removal] = self.removal(removal, of: row, deletion)
        details.names[RowNumber(removal)] = NameDetail(
            type: deletion.type, isEntry: true, deletion: removal == known ? nil : deletion.id)
    }

    mutating func removal(_ number: UInt64, of row: NameRow, _ deletion: Deletion) -> NameRow {
        var removal = NameRow(
            number: RowNumber(number), time: deletion.deleted, place: row.place, file: nil, how: .removed,
            actor: self.number(of: deletion.author))
        removal.document = row.document
        return removal
    }

    // MARK: What labels do not tell

    /// Each document has its first row.
    private mutating func completeDocuments() {
        for row in rows.values.sorted(by: { $0.number < $1.number }) where rows[row.document.number] == nil {
            var first = row
            (first.number, first.how, first.from) = (RowNumber(row.document.number), .found, nil)
            guard first.file != nil else { continue }
            rows[first.number.number] = first
        }
    }

    /// A file that was renamed has left the former place, and so has a document that had its name elsewhere later.
    private mutating func leaveFormerPlaces() {
        var last = Dictionary(rows.values.map { ($0.place, $0.number) }) { max($0, $1) }
        for row in rows.values.sorted(by: { $0.number < $1.number }) where row.how == .moved {
            guard let former = row.from.flatMap({ rows[$0.number] }), former.file == row.file else { continue }
            leave(former, to: row, &last)
        }
        for (_, own) in Dictionary(grouping: rows.values, by: \.document) {
            let named = own.filter { $0.file != nil && !$0.hasNoVersions }.sorted { $0.number < $1.number }
            guard let newest = named.last else { continue }
            for row in named where row.file != newest.file { leave(row, to: newest, &last) }
        }
        // Labels of format 1 do not say how a file came to its name.
        for (_, own) in Dictionary(grouping: rows.values.filter { $0.how == .found && !$0.hasNoVersions }, by: \.file) {
            guard let newest = own.max(by: { $0.number < $1.number }) else { continue }
            for row in own where row.document != newest.document { leave(row, to: newest, &last) }
        }
    }

    /// - Parameter last: the last rows of all places.
    private mutating func leave(_ former: NameRow, to row: NameRow, _ last: inout [PlaceNumber: RowNumber]) {
        guard former.place != row.place, last[former.place] == former.number,
            let number = takeNumber(below: row.number.number, above: former.number.number)
        else { return }
        var left = NameRow(
            number: RowNumber(number), time: row.time, place: former.place, file: nil, how: .movedAway(to: row.number),
            actor: nil)
        left.document = former.document
        rows[number] = left
        last[former.place] = left.number
    }

    // MARK: Writing

    /// All rows, in one transaction of the caller's.
    func write(_ database: Database) throws {
        for (place, number) in places { try FactTables.put(PlaceRecord(number: number, place: place), database) }
        // Of an unknown boot: no process of today is one of these.
        let boot = try FactTables.number(ofBoot: [UInt8](repeating: 0, count: 16), isGiven: true, database)
        for (author, number) in actors {
            let facts = ActorFacts(author: author, started: 0)
            try FactTables.put(ActorRecord(number: number, boot: boot, facts: facts), database)
        }
        for number in Set(rows.keys).union(versions.keys).sorted() {
            if let row = rows[number] { try FactTables.record([.row(row)], details, .plainly, database) }
            guard let version = versions[number] else { continue }
            try FactTables.record([.version(version)], details, .plainly, database)
        }
        // The last number that was given, whatever labels tell: numbers name new contents, too (``Content``).
        var none = ByteWriter()
        none.list([FactEvent]()) { $0.event($1) }
        try SQLStatement.run(
            database, "INSERT INTO event (seq, record) VALUES (?, ?)", .number(next), .blob(none.bytes))
    }
}
