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

    let source: Source
    let isDirectory: Bool
    /// nil until somebody looks.
    fileprivate(set) var children: [FileName: PastEntry]?

    init(_ source: Source, isDirectory: Bool) {
        self.source = source
        self.isDirectory = isDirectory
        // What was deleted from a deleted directory is put into it by undoing that deletion.
        if case .deleted = source { children = [:] }
    }
}

/// A picture of the names, which changes nothing. Directories are read when something in them is first looked at: until
/// then no later change has touched them, so that they are as they were.
struct PastTree {
    private let container: LiveContainer
    private let root = PastEntry(.live(.root), isDirectory: true)
    /// What undone undeletions and returns took away, for the deletions before them.
    private var taken = Taken<PastEntry>()
    /// Names made since that no change tells of.
    private let untold: Set<Place>

    init(_ container: LiveContainer, at time: Timestamp) {
        self.container = container
        untold = container.untoldNames(since: time)
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

    /// What was in a directory.
    func children(of entry: PastEntry) -> [FileName: PastEntry] {
        if let known = entry.children { return known }
        guard entry.isDirectory, case .live(let path) = entry.source else { return [:] }
        var children: [FileName: PastEntry] = [:]
        if let (directory, entries) = try? container.entries(of: path) {
            for (name, isDirectory) in entries where !untold.contains(Place(directory: directory, name: name)) {
                children[name] = PastEntry(.live(path.appending(name)), isDirectory: isDirectory)
            }
        }
        entry.children = children
        return children
    }

    /// Undoes one change of a name. Changes come last first.
    mutating func undo(_ change: Change, _ aftermath: Aftermath) throws {
        switch change.event {
        case .created, .undeleted:
            if let entry = remove(change.path) { taken.put(entry, by: change) }
        case .deleted:
            if let deletion = try container.deletion(of: change, aftermath) {
                insert(PastEntry(.deleted(deletion), isDirectory: deletion.type == .directory), at: change.path)
            } else if let entry = taken.give(change) {
                insert(entry, at: change.path)
            } else if let lost = try container.lostContent(change, aftermath), entry(change.path) == nil {
                insert(PastEntry(.lost(lost.document, lost.content), isDirectory: false), at: change.path)
            }
        case .renamed:
            guard let from = change.from else { return }
            if change.detail.isExchange {
                let (there, back) = (remove(change.path), remove(from))
                if let there { insert(there, at: from) }
                if let back { insert(back, at: change.path) }
            } else if change.version != nil {
                guard let lost = try container.lostContent(change, aftermath) else { return }
                insert(PastEntry(.lost(lost.document, lost.content), isDirectory: false), at: from)
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
        return directory.children?.removeValue(forKey: name)
    }

    private func insert(_ new: PastEntry, at path: TreePath) {
        guard let above = path.parent, let name = path.name, let directory = entry(above), directory.isDirectory else {
            return
        }
        _ = children(of: directory)
        directory.children?[name] = new
    }
}

extension LiveContainer {
    /// The entry of the deleted area that a change of the feed made; nil if it is not there any more.
    func deletion(of change: Change, _ aftermath: Aftermath) throws -> Deletion? {
        try aftermath.deletion(of: change).flatMap { try store.deletion($0) }
    }
}
