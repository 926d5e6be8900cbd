// After a crash: the facts are brought to what the disk shows (facts.md 6), as far as it may differ.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Looks at what the former mount has marked, and has ``Lineage/Settling`` decide which facts are missing. Nothing else
/// is looked at, so the work does not grow with the container.
///
/// It may be interrupted and begun again: marks are read until all is recorded, and what is recorded is then known.
final class MountSettling {
    /// What is to be looked at.
    struct Marked {
        var places: Set<PlaceNumber> = []
        var files: Set<FileID> = []
        var contents: Set<Content> = []

        var marks: [Mark] { places.map(Mark.place) + files.map(Mark.file) + contents.map(Mark.content) }
    }

    /// What a mount is settled with.
    struct Parts {
        var disk: any SettledDisk
        var kept: any SettledContents
        var recorder: any FactRecorder
        /// The facts, new ones included.
        var log: () -> any SettlingLog
        var clock: any WallClock
        var logger: Logger
        /// What is known of the removal of something without versions that had its name by a row.
        var removed: (NameRow) throws(Errno) -> NameDetail? = { (_) throws(Errno) in nil }
        /// Whether a version's content is known to be lost.
        var isLost: (VersionNumber) -> Bool = { _ in false }
        /// Whether programs may have files open that have no name.
        var mayBeNameless = false
        /// Records, while nothing changes the names that were looked at. It throws ESTALE if they have changed, or the
        /// facts of them.
        var holding: ([PlaceNumber: PlaceFound], Facts, () throws(Errno) -> Void) throws(Errno) -> Void = {
            (_, _, record) throws(Errno) in try record()
        }
    }

    private let parts: Parts
    private let marked: Marked
    /// The time of the crash, as far as it is known.
    private let crashed: Timestamp?
    private var found: [PlaceNumber: PlaceFound] = [:]
    /// The files that programs from before the mount may still write to. Settling looks at copies of them.
    private(set) var stillWritten: [FileID: SharedDescriptor] = [:]
    private lazy var markedContents = Dictionary(grouping: marked.contents, by: \.file)
    private lazy var firstGeneration = parts.log().lastNumber << Engine.generationShift

    init(_ parts: Parts, _ marked: Marked, crashed: Timestamp?) {
        (self.parts, self.marked, self.crashed) = (parts, marked, crashed)
    }

    /// What cannot be looked at must not keep the rest from its users: it stays marked, and is tried again.
    ///
    /// - Returns: how many facts were missing, and what is left.
    /// - Throws: EIO if the catalog cannot be read.
    @discardableResult
    func run() throws(Errno) -> (facts: Int, left: Marked) {
        var (count, left) = (0, Marked())
        for group in try groups() {
            do throws(Errno) { count += try settle(group) } catch {
                guard parts.recorder.isSound(parts.log()) else { throw error }
                if error.rawValue != ESTALE { parts.logger.error("names were not put in order: \(error)") }
                left.places.formUnion(group.places)
                left.files.formUnion(group.files)
                left.contents.formUnion(marked.contents.filter { group.files.contains($0.file) })
            }
        }
        if count > 0 { parts.logger.notice("brought the history up to date", metadata: ["facts": "\(count)"]) }
        return (count, left)
    }

    /// The files and documents that are settled.
    func subjects() throws(Errno) -> Subjects {
        let log = parts.log()
        let subjects = Subjects(of: try groups().map { part(of: $0, log).subjects })
        guard parts.recorder.isSound(log) else { throw .ioError }
        return subjects
    }

    /// The places and files that are settled.
    func reach() throws(Errno) -> (places: Set<PlaceNumber>, files: Set<FileID>) {
        let groups = try groups()
        return (Set(groups.flatMap(\.places)), Set(groups.flatMap(\.files)))
    }

    // MARK: What belongs together

    /// Names and files that are settled in one transaction.
    private struct Group {
        var places: Set<PlaceNumber> = []
        var files: Set<FileID> = []
    }

    /// A file belongs to all its names, by the facts and on the disk, and these to the documents that they show.
    private func groups() throws(Errno) -> [Group] {
        let log = parts.log()
        var links = Links()
        var places = marked.places
        var files = marked.files.union(marked.contents.map(\.file))
        // An image of a database has no name of its own: it says whose it is.
        for content in marked.contents {
            for label in try parts.kept.labels(of: content) {
                links.join(.file(content.file), .place(label.place))
                places.insert(label.place)
            }
        }
        var (newPlaces, newFiles) = (places, files)
        while !newPlaces.isEmpty || !newFiles.isEmpty {
            try look(at: newPlaces)
            var next: (places: Set<PlaceNumber>, files: Set<FileID>) = ([], [])
            for place in newPlaces {
                let last = log.lastRow(at: place)
                let occupant = log.lastOccupant(of: place, before: RowNumber(.max))
                for file in [last?.file, found[place]?.file].compactMap(\.self) {
                    links.join(.place(place), .file(file))
                    next.files.insert(file)
                }
                if let occupant, !occupant.hasNoVersions { links.join(.place(place), .document(occupant.document)) }
            }
            for file in newFiles {
                let names = log.names(of: file)
                for row in names + (log.lastRow(of: file).map { [$0] } ?? []) where !row.hasNoVersions {
                    links.join(.file(file), .document(row.document))
                }
                let places = names.map(\.place) + (names.isEmpty ? try placesByLabels(of: file, log) : [])
                for place in places {
                    links.join(.file(file), .place(place))
                    next.places.insert(place)
                }
            }
            (newPlaces, newFiles) = (next.places.subtracting(places), next.files.subtracting(files))
            places.formUnion(newPlaces)
            files.formUnion(newFiles)
        }
        guard parts.recorder.isSound(log) else { throw .ioError }
        var groups: [Links.Subject: Group] = [:]
        for place in places { groups[links.first(of: .place(place)), default: Group()].places.insert(place) }
        for file in files { groups[links.first(of: .file(file)), default: Group()].files.insert(file) }
        return groups.values.sorted { ($0.places.min() ?? PlaceNumber(0)) < ($1.places.min() ?? PlaceNumber(0)) }
    }

    /// The places that kept contents of a file name, of which no row tells: rows are recorded there for them.
    private func placesByLabels(of file: FileID, _ log: any SettlingLog) throws(Errno) -> [PlaceNumber] {
        guard log.lastRow(of: file) == nil else { return [] }
        var places: [PlaceNumber] = []
        for content in contents(of: file, after: 0).sorted(by: { $0.generation < $1.generation }) {
            guard parts.kept.size(of: content) != nil else { continue }
            places += try parts.kept.labels(of: content).map(\.place)
        }
        return places
    }

    /// A directory may itself be found at a place that is looked at.
    private func look(at places: Set<PlaceNumber>) throws(Errno) {
        var left = places.sorted()
        while true {
            var unknown: [PlaceNumber] = []
            for place in left {
                let what = try parts.disk.look(at: place)
                found[place] = what
                if what == .unknown { unknown.append(place) }
            }
            if unknown.isEmpty || unknown.count == left.count { return }
            left = unknown
        }
    }

    // MARK: One group

    private func part(of group: Group, _ log: any SettlingLog) -> SettlingPart {
        var part = SettlingPart(log)
        for place in group.places.sorted() { part.add(place) }
        for file in group.files.sorted() { part.add(file) }
        return part
    }

    private func settle(_ group: Group) throws(Errno) -> Int {
        let log = parts.log()
        let part = part(of: group, log)
        let facts = part.facts
        let found = try self.found(group, part, facts)
        guard parts.recorder.isSound(log) else { throw .ioError }
        let now = parts.clock.now()
        let last = facts.rows.last?.time ?? now
        var count: UInt64 = 1024
        while true {
            let first = parts.recorder.reserve(count)
            defer { parts.recorder.finish(first) }
            let scene = Scene(facts: facts, memory: Memory(), now: now, nextNumber: first)
            let plan = Lineage.Settling.settle(scene, found, crashed: min(now, max(crashed ?? last, last)))
            let end = max(plan.facts.lastNumber, first)
            if end >= first + count {
                count = end - first + 64
                continue
            }
            let lost = lost(by: plan, over: facts, group, found)
            if !plan.facts.isEmpty || !lost.isEmpty {
                let names = self.found.filter { group.places.contains($0.key) }
                try parts.holding(names, facts) { () throws(Errno) in
                    try record(plan.facts, lost, CutContents(found), over: facts, from: first, last: end)
                }
            }
            try perform(plan.before + plan.after)
            return plan.facts.count
        }
    }

    /// The versions whose bytes are nowhere any more: neither kept, nor in the file that they were in.
    private func lost(
        by plan: Plan, over former: Facts, _ group: Group, _ found: Lineage.Found
    ) -> [VersionNumber] {
        var facts = former
        for fact in plan.facts { facts.apply(fact) }
        var kept: Set<Content> = []
        for case .keep(let content, _) in plan.before + plan.after { kept.insert(content) }
        return facts.versions.filter { version in
            let (content, bytes) = (version.content, version.fingerprint)
            guard !version.isForgotten, group.files.contains(content.file), bytes.size > 0, !kept.contains(content),
                !parts.kept.contains(content, size: bytes.size)
            else { return false }
            if let file = found.files.first(where: { $0.id == content.file }),
                plan.memory[file.id]?.generation == content.generation, found.begins(file, bytes)
            {
                return false
            }
            return !parts.isLost(version.number)
        }.map(\.number)
    }

    private func record(
        _ facts: [Fact], _ lost: [VersionNumber], _ cut: CutContents, over former: Facts,
        from first: UInt64, last: UInt64
    ) throws(Errno) {
        var told = FactTransaction(facts)
        told.lose(lost, at: parts.clock.now())
        told.changes += cut.marks(of: facts)
        for case .row(let row) in facts where row.hasNoVersions {
            guard let file = row.file, let status = try parts.disk.status(of: file) else { continue }
            told.describe(row.number, NameDetail(type: status.entryType))
        }
        for case .row(let row) in facts where row.how == .removed {
            guard let occupant = former.lastOccupant(of: row.place, before: row.number), occupant.hasNoVersions,
                let detail = try parts.removed(occupant)
            else { continue }
            told.describe(row.number, detail)
        }
        parts.recorder.describe(facts)
        parts.recorder.commit(told, from: first, last: last)
    }

    private func perform(_ steps: [Step]) throws(Errno) {
        for case .keep(let content, let labels) in steps {
            let file = try parts.disk.open(content.file)
            if let original = stillWritten[content.file] {
                try parts.kept.keep(file, of: original, as: content, labels)
            } else {
                try parts.kept.keep(copying: file.raw, as: content, labels, isDurable: false)
            }
        }
    }

    private func found(_ group: Group, _ part: SettlingPart, _ facts: Facts) throws(Errno) -> Lineage.Found {
        let seen = group.places.filter { found[$0] != .unknown }
        var names = part.names.filter { !seen.contains($0.place) }
        var (directories, there) = (part.directories, Set<FileID>())
        for place in seen {
            guard let what = found[place], let file = what.file else { continue }
            names.append(Lineage.Found.Name(place: place, file: file))
            if case .other = what { directories.insert(file) } else { there.insert(file) }
        }
        let others = parts.mayBeNameless ? group.files.subtracting(directories) : []
        var files: [Lineage.Found.File] = []
        for file in others.union(there).sorted() {
            guard let look = try look(at: file, facts) else { continue }
            there.insert(file)
            files.append(look)
        }
        var objects: [Lineage.Found.Object] = []
        for file in group.files.sorted() where !directories.contains(file) {
            objects += try self.objects(of: file, facts)
        }
        let contents = FoundContents(facts, parts.disk)
        var result = Lineage.Found(
            names: names.sorted { $0.place < $1.place }, directories: directories.sorted(), files: files,
            objects: objects, begins: { contents.begins($0, with: $1) })
        result.firstGeneration = firstGeneration
        let gone = group.files.subtracting(there)
        result.isGone = { [kept = parts.kept] content in
            gone.contains(content.file) && kept.size(of: content) == nil
        }
        return result
    }

    // MARK: Contents

    private func look(at file: FileID, _ facts: Facts) throws(Errno) -> Lineage.Found.File? {
        guard let status = try parts.disk.status(of: file), status.isRegular else { return nil }
        let awaitsCapture = parts.disk.awaitsCapture(file)
        if !awaitsCapture, parts.kept.mayKeep(size: status.size), let original = try parts.disk.freeze(file) {
            stillWritten[file] = original
        }
        guard let status = try parts.disk.status(of: file) else { return nil }
        var found = try look(at: file, status, facts)
        found.awaitsCapture = awaitsCapture
        found.isStillWritten = stillWritten[file] != nil
        return found
    }

    private func look(at file: FileID, _ status: FileStat, _ facts: Facts) throws(Errno) -> Lineage.Found.File {
        // A big file with the stamp of a version is that, unread.
        let fitting = facts.versions.last { version in
            version.file == file && !version.isForgotten && !version.isImage && version.fingerprint.size == status.size
                && version.modified == status.modified
        }
        if let fitting, status.size > FileLooks.hashedAtOnce {
            return Lineage.Found.File(id: file, fingerprint: fitting.fingerprint, modified: status.modified)
        }
        if status.size > FileLooks.hashedAtOnce, let copied = copied(file, status, facts) {
            return Lineage.Found.File(id: file, fingerprint: copied, modified: status.modified)
        }
        let opened = try parts.disk.open(file)
        let content = facts.lastContent(of: file) ?? Content(file: file, generation: firstGeneration)
        return Lineage.Found.File(
            id: file, fingerprint: FileLooks.fingerprint(of: opened.raw, status, as: content),
            modified: status.modified)
    }

    /// A big file that no fact tells of, with the size and time of what its name showed, is a copy of that, unread. Its
    /// former file is nowhere.
    private func copied(_ file: FileID, _ status: FileStat, _ facts: Facts) -> Fingerprint? {
        guard facts.lastRow(of: file) == nil else { return nil }
        let places = found.filter { $0.value.file == file }.keys
        let shown = places.compactMap { facts.occupant(of: $0) }.filter { row in
            !found.values.contains { $0.file == row.file }
        }
        return shown.compactMap { row in facts.current(of: row.document).flatMap { facts[$0] } }
            .first { $0.fingerprint.size == status.size && $0.modified == status.modified }?.fingerprint
    }

    /// The contents of a file that may be kept and that no version tells of: an event keeps at most two of them.
    private func contents(of file: FileID, after last: UInt64) -> Set<Content> {
        let next = (0...2).map { Content(file: file, generation: last &+ UInt64($0)) }
        return Set(markedContents[file] ?? []).union(next)
    }

    /// The kept contents of a file from its last recorded one on. One that was kept too early, and not again, is none.
    private func objects(of file: FileID, _ facts: Facts) throws(Errno) -> [Lineage.Found.Object] {
        let contents = contents(of: file, after: facts.lastContent(of: file)?.generation ?? 0)
        var objects: [Lineage.Found.Object] = []
        for content in contents.sorted(by: { $0.generation < $1.generation }) {
            guard let size = parts.kept.size(of: content) else { continue }
            let labels = try parts.kept.labels(of: content)
            let isWhole = facts.versions(in: content).allSatisfy { version in
                // Or it was amended before that, and is shorter now.
                version.fingerprint.size <= size || labels.contains { $0.version.number == version.number }
            }
            guard isWhole else {
                parts.kept.drop(content)
                continue
            }
            objects.append(Lineage.Found.Object(content: content, labels: labels))
        }
        return objects
    }
}

/// Subjects that are settled together.
private struct Links {
    enum Subject: Hashable {
        case place(PlaceNumber)
        case file(FileID)
        case document(DocumentNumber)
    }

    private var above: [Subject: Subject] = [:]

    mutating func first(of subject: Subject) -> Subject {
        var first = subject
        while let next = above[first] { first = next }
        if first != subject { above[subject] = first }
        return first
    }

    mutating func join(_ one: Subject, _ other: Subject) {
        let (first, second) = (first(of: one), first(of: other))
        if first != second { above[second] = first }
    }
}
