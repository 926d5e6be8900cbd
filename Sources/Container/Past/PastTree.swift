// The container's names as they were at a time: the live tree and the deleted
// area, with the change feed undone on them.

import VersionModel
import VersionStore

/// A file or directory of the past, and where it is today.
final class PastEntry {
    enum Source {
        case live(TreePath)
        case deleted(Deletion)
        /// Its file was renamed over another document; only its content is left.
        case lost(DocumentRecord, Aftermath.Content)
    }

    /// A name in a directory.
    struct Home {
        weak var parent: PastEntry?
        var name: FileName
    }

    let source: Source
    let isDirectory: Bool
    /// nil until the first look.
    fileprivate(set) var children: [FileName: PastEntry]?
    /// Its place at that time; nil while it has none, and for the container itself.
    fileprivate(set) var then: Home?
    /// Its present place: nil while it has none, and for the container itself. A move updates it.
    private(set) var now: Home?
    /// Its present entries, as far as they are loaded.
    private(set) var present: [FileName: PastEntry] = [:]

    init(_ source: Source, isDirectory: Bool) {
        self.source = source
        self.isDirectory = isDirectory
        // What was deleted from a deleted directory is put into it by undoing that deletion.
        if case .deleted = source { children = [:] }
    }

    /// Whether it exists now. For an entry that went with another one this is unknown.
    var isPresent: Bool {
        if case .live(.root) = source { return true }
        return now != nil
    }

    /// Whether it was an entry, or below it.
    func was(within other: PastEntry) -> Bool {
        sequence(first: self) { $0.then?.parent }.contains { $0 === other }
    }

    /// Whether it is an entry, or lies below it.
    func lies(within other: PastEntry) -> Bool {
        sequence(first: self) { $0.now?.parent }.contains { $0 === other }
    }

    /// Its name today; of what does not lie anywhere something that means nothing.
    var path: TreePath {
        TreePath(names: sequence(first: self) { $0.now?.parent }.compactMap { $0.now?.name }.reversed())
    }

    /// It lies there from now on.
    func lie(in parent: PastEntry, as name: FileName) {
        leave()
        now = Home(parent: parent, name: name)
        parent.present[name] = self
    }

    /// It lies nowhere from now on.
    func leave() {
        if let now, let parent = now.parent, parent.present[now.name] === self { parent.present[now.name] = nil }
        now = nil
    }
}

/// A picture of the names, which changes nothing. Directories are read when something in them is first looked at: until
/// then no later change has touched them, so that they are as they were.
struct PastTree {
    private let past: Past
    private let present: any PresentTree
    private let root = PastEntry(.live(.root), isDirectory: true)
    /// What undone undeletions and returns took away, for the deletions before them.
    private var taken = Taken<PastEntry>()
    /// What documents held that were renamed over others: their further names have no file to come back to.
    private var lost: [ItemID: PastEntry.Source] = [:]
    /// Names made since that no change tells of.
    private let untold: Set<Place>
    /// Keeps whatever lies or has lain somewhere: entries do not keep what they are in.
    private let keeper = Keeper()

    private final class Keeper { var entries: [PastEntry] = [] }

    init(_ past: Past, _ present: any PresentTree, at time: Timestamp) {
        (self.past, self.present) = (past, present)
        untold = past.untoldNames(since: time)
    }

    /// The tree of a moment.
    init(_ past: Past, _ present: any PresentTree, _ aftermath: Aftermath) throws {
        self.init(past, present, at: aftermath.time)
        for change in aftermath.lastFirst { try undo(change, aftermath) }
    }

    /// The entry at a path; nil if there was none.
    func entry(_ path: TreePath) -> PastEntry? {
        var entry = root
        for name in path.names {
            guard let next = children(of: entry)[name] else { return nil }
            entry = next
        }
        return entry
    }

    /// What lies at a path today.
    func lying(at path: TreePath) -> PastEntry? {
        var entry = root
        for name in path.names {
            _ = children(of: entry)
            guard let next = entry.present[name] else { return nil }
            entry = next
        }
        return entry
    }

    /// The present entry at a path, or the directory above it without loaded entries; nil if the path has none.
    func present(_ path: TreePath) -> PastEntry? {
        var entry = root
        for name in path.names {
            guard entry.children != nil else { return entry }
            guard let next = entry.present[name] else { return nil }
            entry = next
        }
        return entry
    }

    /// What was in a directory.
    func children(of entry: PastEntry) -> [FileName: PastEntry] {
        if let known = entry.children { return known }
        guard entry.isDirectory, case .live(let path) = entry.source else { return [:] }
        var children: [FileName: PastEntry] = [:]
        if let (directory, entries) = try? present.entries(of: path) {
            for (name, isDirectory) in entries where !untold.contains(Place(directory: directory, name: name)) {
                let child = PastEntry(.live(path.appending(name)), isDirectory: isDirectory)
                child.then = PastEntry.Home(parent: entry, name: name)
                child.lie(in: entry, as: name)
                children[name] = child
            }
        }
        keeper.entries += children.values
        entry.children = children
        return children
    }

    /// Undoes one change of a name. Changes come last first.
    private mutating func undo(_ change: Change, _ aftermath: Aftermath) throws {
        switch change.event {
        case .created, .undeleted:
            if let entry = remove(change.path) { taken.put(entry, by: change) }
        case .deleted:
            if let deletion = try past.deletion(of: change, aftermath) {
                if deletion.type == .link, let lost = deletion.item.flatMap({ lost[$0] }) {
                    return insert(PastEntry(lost, isDirectory: false), at: change.path)
                }
                insert(PastEntry(.deleted(deletion), isDirectory: deletion.type == .directory), at: change.path)
            } else if let entry = taken.give(change, aftermath) {
                insert(entry, at: change.path)
            } else if let lost = try past.lostContent(change, aftermath), entry(change.path) == nil {
                insert(PastEntry(.lost(lost.document, lost.content), isDirectory: false), at: change.path)
            }
        case .renamed:
            guard let from = change.from else { return }
            if change.detail.isExchange {
                let (there, back) = (remove(change.path), remove(from))
                if let there { insert(there, at: from) }
                if let back { insert(back, at: change.path) }
            } else if change.version != nil {
                guard let found = try past.lostContent(change, aftermath) else { return }
                let source = PastEntry.Source.lost(found.document, found.content)
                if let item = change.item { lost[item] = source }
                insert(PastEntry(source, isDirectory: false), at: from)
            } else if let moved = remove(change.path), entry(from) == nil {
                // A document that has its name back is what was there.
                insert(moved, at: from)
            }
        default: break
        }
    }

    private func remove(_ path: TreePath) -> PastEntry? {
        guard let above = path.parent, let name = path.name, let directory = entry(above) else { return nil }
        _ = children(of: directory)
        let entry = directory.children?.removeValue(forKey: name)
        entry?.then = nil
        return entry
    }

    private func insert(_ new: PastEntry, at path: TreePath) {
        guard let above = path.parent, let name = path.name, let directory = entry(above), directory.isDirectory else {
            return
        }
        _ = remove(path)
        keeper.entries.append(new)
        directory.children?[name] = new
        new.then = PastEntry.Home(parent: directory, name: name)
    }
}
