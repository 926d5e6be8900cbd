// What has happened since a moment, as the change feed tells it: the names to undo, and what documents held then.

import VersionModel
import VersionStore

/// Everything since a moment that changed names or documents.
struct Aftermath {
    /// What a document held then.
    struct Content {
        var version: Version
        /// Why it may not be that exactly; nil if it is.
        var doubt: String?

        /// Something that was saved later.
        static func unknown(_ version: Version) -> Content { Content(version: version, doubt: notKept) }
    }

    let time: Timestamp
    /// The changes of names, in order, without those that undo one another.
    private let names: [Change]
    private var firstSaves: [VersionID: Change] = [:]
    private var firstSavesOfItems: [ItemID: Change] = [:]
    private let deletions: Deletions

    /// - Parameters:
    ///   - changes: all since then, in order.
    ///   - deletions: what is in the deleted area, newest first.
    init(since time: Timestamp, _ changes: [Change], _ deletions: [Deletion]) {
        self.time = time
        self.deletions = Deletions(deletions.filter { $0.deleted > time }, changes)
        names = Self.withoutPassing(changes.filter(\.concernsNames), self.deletions)
        for change in changes where change.event == .saved {
            if let version = change.version, firstSaves[version] == nil { firstSaves[version] = change }
            if let item = change.item, firstSavesOfItems[item] == nil { firstSavesOfItems[item] = change }
        }
    }

    // MARK: Names

    /// What has to be undone to have the names of then, last first.
    var lastFirst: [Change] { names.reversed() }

    /// A name that was made and deleted since needs neither made nor deleted again; one that came back was made, unless
    /// it was there at that moment.
    private static func withoutPassing(_ rows: [Change], _ deletions: Deletions) -> [Change] {
        var rows = rows
        var made: [TreePath: Int] = [:]
        var gone: [TreePath: Int] = [:]
        // Whether they were renamed, and not deleted.
        var away: [Departure: Bool] = [:]
        var passing: Set<Int> = []
        // Directories that something was moved into or out of, and when last: they have to be there for undoing that.
        var touched: [TreePath: Int] = [:]
        for (index, row) in rows.enumerated() {
            let name = (row.from ?? row.path).name
            if row.event != .created, row.event != .deleted {
                for path in [row.path, row.from].compactMap({ $0 }) {
                    for above in sequence(first: path, next: \.parent).dropFirst() { touched[above] = index }
                }
            }
            let departure = row.item.flatMap { item in name.map { Departure(item: item, name: $0) } }
            // A name that another item has had meanwhile was away, whichever item has it now.
            let isBack = row.event == .saved && departure.flatMap { away.removeValue(forKey: $0) }.map { wasRenamed in
                wasRenamed || gone[row.path].map { rows[$0].item == row.item } ?? false
            } ?? false
            switch row.event {
            case .undeleted where gone[row.path].map { isReturn(row, of: rows[$0], deletions) } ?? false:
                passing.formUnion([gone.removeValue(forKey: row.path), index].compactMap { $0 })
            case .saved where isBack:
                passing.insert(index)
                if let start = gone.removeValue(forKey: row.path) { passing.insert(start) }
            case .created where row.detail.isExchange: passing.insert(index)
            case .created, .undeleted, .saved:
                rows[index].event = row.event == .undeleted ? .undeleted : .created
                // What came back had been there at that moment, perhaps: its next deletion is undone for the first.
                made[row.path] = row.event == .created ? index : nil
                gone[row.path] = nil
                // What comes back under another name may be that one, of two that were deleted there.
                if row.event == .undeleted, let from = row.from { gone[from] = nil }
            case .deleted:
                if let start = made.removeValue(forKey: row.path) {
                    if touched[row.path].map({ $0 < start }) ?? true { passing.formUnion([start, index]) }
                } else {
                    gone[row.path] = index
                    if let departure { away[departure] = false }
                }
            default:
                if let departure { away[departure] = true }
                // What was renamed is followed no further, nor is anything below it.
                for known in [row.path, row.from].compactMap({ $0 }) {
                    (made[known], gone[known]) = (nil, nil)
                    guard row.item == nil else { continue }
                    made = made.filter { !$0.key.isWithin(known) }
                    gone = gone.filter { !$0.key.isWithin(known) }
                }
            }
        }
        return rows.enumerated().filter { !passing.contains($0.offset) }.map(\.element)
    }

    /// Whether what came back is what was deleted under its name last, and not something older.
    private static func isReturn(_ row: Change, of deleted: Change, _ deletions: Deletions) -> Bool {
        row.from == nil && row.item == deleted.item && deletions[deleted] == nil
    }

    /// The entry of the deleted area that a change made; nil if it was not there any more.
    func deletion(of change: Change) -> DeletionID? { deletions[change] }

    /// Whether a document was deleted under a name.
    func wasDeleted(_ item: ItemID?, at path: TreePath) -> Bool {
        names.contains { $0.event == .deleted && $0.item == item && $0.path == path }
    }

    /// A document that left a name; by the last part of it, for the directory may have had another name since.
    private struct Departure: Hashable {
        var item: ItemID
        var name: FileName
    }

    // MARK: Documents

    /// What a document held then; nil if nothing of then is known.
    func content(of document: DocumentRecord) -> Content? {
        let shown = document.versions.filter { !$0.flags.contains(.beside) }
        let kept = shown.filter { !$0.flags.contains(.contentLost) }
        let before = kept.filter { $0.saved <= time }.max { $0.time < $1.time }
        if let amended = shown.first(where: { firstSaves[$0.id]?.detail.amended != nil }) {
            if let cut = cut(amended), kept.contains(where: { $0.id == amended.id }) { return Content(version: cut) }
            let doubt = "it was being written then: it has what was saved \(before == nil ? "after" : "before") that"
            return (before ?? kept.first { $0.id == amended.id }).map { Content(version: $0, doubt: doubt) }
        }
        guard let then = shown.filter({ $0.saved <= time }).max(by: { $0.time < $1.time }) else {
            // It was there before us, with a time that has not come.
            guard let first = kept.min(by: { $0.time < $1.time }), firstSaves[first.id] == nil else { return nil }
            return Content(version: first, doubt: first.saved == first.modified ? nil : Self.notKept)
        }
        return before.map { Content(version: $0, doubt: $0.id == then.id ? nil : Self.notKept) }
    }

    /// The same for a document that has no rows any more, whose last content another version has.
    func content(_ version: Version, lastOf item: ItemID?) -> Content {
        guard let item, let amended = firstSavesOfItems[item]?.detail.amended else { return Content(version: version) }
        guard amended < version.size else { return Content(version: version, doubt: Self.notKept) }
        return Content(version: Self.cut(version, at: amended, time))
    }

    fileprivate static let notKept = "what it held then is not kept: it has what is nearest to that"

    /// An appended version as long as it was; nil if it was changed otherwise.
    private func cut(_ version: Version) -> Version? {
        guard let size = firstSaves[version.id]?.detail.amended, size <= version.size else { return nil }
        return Self.cut(version, at: size, time)
    }

    private static func cut(_ version: Version, at size: UInt64, _ time: Timestamp) -> Version {
        var version = version
        if version.size != size { version.hash = nil }
        (version.size, version.modified) = (size, min(version.modified, time))
        return version
    }
}

/// What is gone again because a change was undone by which it had come back, for the change that had deleted it.
struct Taken<Entry> {
    private var entries: [(path: TreePath, item: ItemID?, entry: Entry)] = []

    /// Takes what is gone by undoing a change, if that had not made it.
    mutating func put(_ entry: Entry, by change: Change) {
        guard change.event == .undeleted || change.detail.isComingBack else { return }
        entries.append((change.from ?? change.path, change.item, entry))
    }

    /// Gives the last that a deletion can have been of: the same document, or what had no versions under that name. A
    /// further name may have become the file itself meanwhile, as a document of its own.
    mutating func give(_ deletion: Change, _ aftermath: Aftermath) -> Entry? {
        let index = entries.lastIndex { known in
            known.item == deletion.item && (known.item != nil || known.path == deletion.path)
        } ?? entries.lastIndex { known in
            known.path == deletion.path && !aftermath.wasDeleted(known.item, at: known.path)
        }
        return index.map { entries.remove(at: $0).entry }
    }
}

/// What lies in the deleted area, by the changes that tell of it.
private struct Deletions {
    private struct Key: Hashable {
        var path: TreePath
        var time: Timestamp
    }

    private var entries: [Key: Deletion] = [:]

    init(_ deletions: [Deletion], _ changes: [Change]) {
        let rows = Dictionary(grouping: changes.filter { $0.event == .deleted }, by: \.path)
        for deletion in deletions {
            // One request takes the time of both, one after the other: the first that is told from then on.
            guard let row = rows[deletion.path]?.first(where: { $0.time >= deletion.deleted }),
                row.time.since(deletion.deleted) < 5_000_000_000, row.item == deletion.item
            else { continue }
            // Of several the last, which is the first here.
            let key = Key(path: row.path, time: row.time)
            entries[key] = entries[key] ?? deletion
        }
    }

    subscript(change: Change) -> DeletionID? { entries[Key(path: change.path, time: change.time)]?.id }
}

extension Change {
    /// A name came or went.
    var concernsNames: Bool {
        switch event {
        case .created, .renamed, .deleted, .undeleted: true
        case .saved: detail.isComingBack
        default: false
        }
    }
}
