// The names of a container of format 1 and what became of them: its records, with the change feed undone on them.

import Lineage
import VersionModel

/// The stays at all places, found from the last one back.
///
/// The present names and the deleted area are known; the feed tells what happened before. A row of it that does not fit
/// what is known of the time after it is left out, so that a doubtful row costs one name and no more.
struct FormerNames {
    let records: FormerRecords
    let files: any FormerFiles
    private(set) var places = PlaceTable()
    var stays: [Stay] = []
    /// Of those at one place or of one document, the last one first.
    private(set) var moments: [NameMoment] = []
    /// The document of each deletion; nil for what has no versions.
    private(set) var documents: [Int32?] = []

    /// The stay that a place has at the moment down to which all is undone, by the number of the place.
    var open: [Int32] = []
    /// Places of which something is told later than that: what they have now they did not have then.
    private var isTouched: [Bool] = []
    private var lastStays: [Int32]
    /// What has no versions and came back from the deleted area later than that, by the place that it was deleted from.
    private var returned: [PlaceNumber: [Stay]] = [:]
    var paths: FormerPathsOfDirectories

    /// - Parameter partings: when documents parted from others.
    init(_ records: FormerRecords, _ files: any FormerFiles, partings: [Parting]) {
        (self.records, self.files) = (records, files)
        lastStays = Array(repeating: Stay.none, count: records.documents.count)
        paths = FormerPathsOfDirectories(records, files)
        places.reserve(records.documents.count)
        documents = records.deletions.indices.map { Self.document(ofDeletion: Int32($0), records) }
        beginWithPresent()
        for step in steps(partings) { undo(step) }
        addDirectories()
        addDocuments()
        completeRemovedNames()
    }

    /// A document parted from another one, with which it had its names in common.
    struct Parting {
        var document: Int32
        var origin: Int32
        var time: Int64
    }

    /// The entry document that was made for a deletion counts before the item that it names.
    private static func document(ofDeletion index: Int32, _ records: FormerRecords) -> Int32? {
        let deletion = records.deletions[Int(index)]
        guard deletion.type == .file || deletion.type == .link else { return nil }
        if let own = records.document(ofEntry: index) { return own }
        return deletion.item.flatMap { records.index(of: $0) }
    }

    // MARK: The present

    private mutating func beginWithPresent() {
        for index in records.documents.indices {
            let document = records.documents[index]
            for place in document.places {
                let number = number(of: place)
                var file = document.file.id
                if file.number == 0 {
                    let found = paths.path(of: place).flatMap { files.entry($0) }
                    file = found.flatMap { $0.type == .file ? $0.file : nil } ?? records.substitute(Int32(index))
                }
                begin(Stay(place: number, subject: .document(Int32(index)), file: file, type: .file))
            }
        }
        for directory in records.directories where paths.isPresent(directory.id) {
            let number = number(of: directory.place)
            if stay(at: number) == nil {
                begin(
                    Stay(place: number, subject: .directory(directory.id), file: directory.id, type: .directory))
            }
        }
    }

    // MARK: Places

    mutating func number(of place: Place) -> PlaceNumber {
        let number = places.number(place)
        while open.count <= Int(number.number) {
            open.append(Stay.none)
            isTouched.append(false)
        }
        return number
    }

    func stay(at place: PlaceNumber) -> Int32? {
        let index = open[Int(place.number)]
        return index == Stay.none ? nil : index
    }

    /// A stay of which the begin is not known yet.
    @discardableResult
    mutating func begin(_ stay: Stay) -> Int32 {
        var stay = stay
        let index = Int32(stays.count)
        if case .document(let document) = stay.subject {
            stay.other = lastStays[Int(document)]
            lastStays[Int(document)] = index
        }
        stays.append(stay)
        open[Int(stay.place.number)] = index
        return index
    }

    /// The stays of a document, the one that was found last first.
    func stays(of document: Int32) -> [Int32] {
        var (found, next): ([Int32], Int32) = ([], lastStays[Int(document)])
        while next != Stay.none {
            found.append(next)
            next = stays[Int(next)].other
        }
        return found
    }

    private mutating func touch(_ place: PlaceNumber) { isTouched[Int(place.number)] = true }

    private mutating func note(_ moment: NameMoment) -> Int32 {
        moments.append(moment)
        return Int32(moments.count - 1)
    }

    /// The stay at a place began then.
    private mutating func close(_ index: Int32, _ what: NameMoment.What, _ step: Step) {
        stays[Int(index)].begin = note(
            NameMoment(stay: index, what: what, order: step.order, time: step.time, author: step.author))
        let place = stays[Int(index)].place
        open[Int(place.number)] = Stay.none
        touch(place)
    }

    /// What a place has later and nothing tells of came after this moment.
    private mutating func free(_ place: PlaceNumber, _ step: Step) {
        if let later = stay(at: place) { close(later, .begins(.found, from: nil), step) }
        touch(place)
    }

    // MARK: Undoing

    /// Something to undo.
    private struct Step {
        enum What {
            case change(Int, deletion: Int32?)
            case deletion(Int32)
            case parting(Parting)
        }
        var what: What
        var order: Int64
        var time: Timestamp
        var author: Author?
    }

    /// All that is told, last first.
    private func steps(_ partings: [Parting]) -> [Step] {
        let matches = DeletionMatches(records)
        var steps: [Step] = []
        steps.reserveCapacity(records.changes.count + records.deletions.count + partings.count)
        // Where the clock was set back, the order of the feed counts.
        var least = Int64.max
        for index in records.changes.indices.reversed() {
            let change = records.changes[index].change
            least = min(least, change.time.nanoseconds)
            guard change.tellsOfName, change.directory != nil else { continue }
            let what = Step.What.change(index, deletion: matches.deletion(ofChange: index))
            steps.append(Step(what: what, order: least, time: change.time, author: change.author))
        }
        for (index, deletion) in records.deletions.enumerated() where !matches.isMatched(Int32(index)) {
            let time = deletion.deleted
            steps.append(
                Step(what: .deletion(Int32(index)), order: time.nanoseconds, time: time, author: deletion.author))
        }
        for parting in partings {
            let time = Timestamp(nanoseconds: parting.time)
            steps.append(Step(what: .parting(parting), order: parting.time, time: time))
        }
        // The sort is stable.
        return steps.sorted { $0.order > $1.order }
    }

    private mutating func undo(_ step: Step) {
        switch step.what {
        case .change(let index, let deletion):
            let change = records.changes[index].change
            guard let directory = change.directory, let name = change.path.name else { return }
            undo(change, at: number(of: Place(directory: directory, name: name)), deletion, step)
        case .deletion(let index): undoRemoval(index, at: number(of: records.deletions[Int(index)].place), step)
        case .parting(let parting): undo(parting, step)
        }
    }

    private mutating func undo(_ change: Change, at place: PlaceNumber, _ deletion: Int32?, _ step: Step) {
        switch change.event {
        // Told with its rename.
        case .created where change.detail.isExchange: return
        case .created, .saved: undoArrival(.created, of: change, at: place, step)
        case .undeleted: undoUndelete(change, at: place, step)
        case .deleted:
            if let deletion { return undoRemoval(deletion, at: place, step) }
            // Its entry is gone, or it never had one.
            if let document = change.item.flatMap({ records.index(of: $0) }) {
                leave(.document(document), file(of: document), .file, from: place, .leaves(to: nil), step)
            } else if change.item == nil, let stay = returned[place]?.popLast() {
                leave(stay.subject, stay.file, stay.type, from: place, .leaves(to: nil), step)
            } else {
                free(place, step)
            }
        case .renamed: undoRename(change, to: place, step)
        case .conflict, .resolved, .versionLost, .attributes: return
        }
    }

    /// What is at a place now and has no record, if it was there at this moment, too.
    private mutating func unrecorded(_ change: Change, at place: PlaceNumber) -> Int32? {
        guard change.item == nil, !isTouched[Int(place.number)], stay(at: place) == nil,
            let found = paths.path(of: places[place]).flatMap({ files.entry($0) }), found.type != .file
        else { return nil }
        let isDirectory = found.type == .directory
        return begin(
            Stay(
                place: place, subject: isDirectory ? .directory(found.file) : .other(found.file), file: found.file,
                type: found.type))
    }

    /// The stay at a place, if it may be what a change is about.
    private mutating func stay(at place: PlaceNumber, of change: Change) -> Int32? {
        guard let index = stay(at: place) else { return unrecorded(change, at: place) }
        guard let item = change.item else { return index }
        guard case .document(let document) = stays[Int(index)].subject else { return nil }
        return records.documents[Int(document)].id == item ? index : nil
    }

    private mutating func undoArrival(_ how: How, of change: Change, at place: PlaceNumber, _ step: Step) {
        if let index = stay(at: place, of: change) { close(index, .begins(how, from: nil), step) }
    }

    private mutating func undoUndelete(_ change: Change, at place: PlaceNumber, _ step: Step) {
        guard let index = stay(at: place, of: change) else { return }
        close(index, .begins(.undeleted, from: nil), step)
        guard stays[Int(index)].type != .file else { return }
        var former = place
        if let directory = change.fromDirectory, let name = change.from?.name {
            former = number(of: Place(directory: directory, name: name))
        }
        returned[former, default: []].append(stays[Int(index)])
    }

    private mutating func undoRemoval(_ index: Int32, at place: PlaceNumber, _ step: Step) {
        let deletion = records.deletions[Int(index)]
        // A name of a file of which nothing else is recorded: the file goes on under another one.
        if deletion.type == .link, documents[Int(index)] == nil { return free(place, step) }
        var step = step
        (step.time, step.author) = (deletion.deleted, deletion.author)
        let subject: Stay.Subject =
            documents[Int(index)].map { .document($0) }
            ?? (deletion.type == .directory ? .directory(deletion.file) : .other(deletion.file))
        let type = deletion.type == .link ? .file : deletion.type
        leave(subject, deletion.file, type, from: place, .removed(index), step)
    }

    /// Until this moment a place had something, which has left it.
    @discardableResult
    private mutating func leave(
        _ subject: Stay.Subject, _ file: FileID, _ type: EntryType, from place: PlaceNumber, _ what: NameMoment.What,
        _ step: Step
    ) -> Int32 {
        free(place, step)
        let index = begin(Stay(place: place, subject: subject, file: file, type: type))
        stays[Int(index)].end = note(
            NameMoment(stay: index, what: what, order: step.order, time: step.time, author: step.author))
        return index
    }

    private mutating func undoRename(_ change: Change, to place: PlaceNumber, _ step: Step) {
        guard let directory = change.fromDirectory, let name = change.from?.name else { return }
        let from = number(of: Place(directory: directory, name: name))
        if change.detail.isExchange { return undoExchange(change, place, from, step) }
        if change.version != nil {
            // Renamed over a document, which goes on under its name.
            guard let document = change.item.flatMap({ records.index(of: $0) }) else { return free(from, step) }
            let target = stay(at: place)
            leave(.document(document), file(of: document), .file, from: from, .leaves(to: target), step)
            return
        }
        guard let index = stay(at: place, of: change) else { return free(from, step) }
        free(from, step)
        // The stay before comes to be known with this one's begin, and the departure before that.
        close(index, .begins(.moved, from: Int32(stays.count)), step)
        let moved = stays[Int(index)]
        leave(moved.subject, moved.file, moved.type, from: from, .leaves(to: index), step)
    }

    /// The two names have changed places. One of them may be of something that is not recorded.
    private mutating func undoExchange(_ change: Change, _ one: PlaceNumber, _ other: PlaceNumber, _ step: Step) {
        let first = stay(at: one, of: change) ?? stay(at: one)
        var anything = change
        anything.item = nil
        let second = stay(at: other, of: anything)
        let formers = [(first, other), (second, one)].compactMap { index, place in
            index.map { (stays[Int($0)], place) }
        }
        let base = Int32(stays.count)
        if let first { close(first, .begins(.moved, from: base), step) }
        if let second { close(second, .begins(.moved, from: base + (first == nil ? 0 : 1)), step) }
        let both = first != nil && second != nil
        for (former, place) in formers {
            if both {
                var stay = Stay(place: place, subject: former.subject, file: former.file, type: former.type)
                stay.end = Stay.next
                begin(stay)
            } else {
                leave(former.subject, former.file, former.type, from: place, .leaves(to: first ?? second), step)
            }
        }
    }

    /// Its names were the other document's before.
    private mutating func undo(_ parting: Parting, _ step: Step) {
        for index in stays(of: parting.document) where stays[Int(index)].begin == Stay.none {
            let parted = stays[Int(index)]
            guard stay(at: parted.place) == index else { continue }
            close(index, .parts, step)
            var former = Stay(place: parted.place, subject: .document(parting.origin), file: parted.file, type: .file)
            former.end = Stay.next
            begin(former)
        }
    }

    func file(of document: Int32) -> FileID {
        let file = records.documents[Int(document)].file.id
        return file.number == 0 ? records.substitute(document) : file
    }
}

extension NameMoment {
    var isParting: Bool { if case .parts = what { true } else { false } }
}

extension Change {
    /// Whether a name came or went.
    var tellsOfName: Bool {
        switch event {
        case .created, .renamed, .deleted, .undeleted: true
        case .saved: detail.isComingBack
        case .conflict, .resolved, .versionLost, .attributes: false
        }
    }
}
