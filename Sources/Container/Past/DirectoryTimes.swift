// The times that directories had at a moment, which `restore DIR --at` gives them back.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// What is known of directories as they were at a moment. Made before anything is brought back.
struct DirectoryTimes {
    struct Times {
        var accessed: Timestamp
        var modified: Timestamp

        init(accessed: Timestamp, modified: Timestamp) { (self.accessed, self.modified) = (accessed, modified) }
        init(_ stat: FileStat) { self.init(accessed: stat.accessed, modified: stat.modified) }
    }

    private let tree: any ReturningTree
    private let time: Timestamp
    /// A deletion remembers what its directory had before: of each the first since.
    private var beforeDeletions: [FileID: Times] = [:]
    /// When a name in a directory was last changed until then, by the directory's path.
    private var lastChanges: [TreePath: Timestamp] = [:]
    private var noted: Set<TreePath> = []
    /// What is about to change, as it is.
    private var present: [FileID: (path: TreePath, times: Times)] = [:]

    init(_ past: Past, _ tree: any ReturningTree, at time: Timestamp) throws {
        (self.tree, self.time) = (tree, time)
        let since = try past.store.deletions(within: nil).filter { $0.deleted > time }
        for deletion in since.sorted(by: { $1.deleted < $0.deleted }) {
            beforeDeletions[deletion.place.directory] = Times(
                accessed: deletion.parentAccessed, modified: deletion.parentModified)
        }
        for change in try past.changes(where: { $0.time <= time && $0.concernsNames }) {
            for path in [change.path, change.from].compactMap({ $0?.parent }) { lastChanges[path] = change.time }
        }
    }

    /// Notes the directory of a name that is about to be brought back, taken away or replaced.
    mutating func note(directoryOf path: TreePath) {
        guard let path = path.parent, noted.insert(path).inserted else { return }
        // Under the name that it had it may have been noted before.
        if let (file, times) = try? tree.times(ofDirectory: path), present[file] == nil {
            present[file] = (path, times)
        }
    }

    /// A directory's times at that moment; nil if they are unknown.
    /// - Parameters:
    ///   - path: its path at that moment.
    ///   - times: its present times, before a change in it.
    func of(_ directory: FileID, at path: TreePath, now times: Times?) -> Times? {
        if let before = beforeDeletions[directory], before.modified <= time { return before }
        if let times, times.modified <= time { return times }
        return lastChanges[path].map { Times(accessed: times?.accessed ?? $0, modified: $0) }
    }

    /// Gives the directories that are there again, and those in which something was changed, the times that they had.
    func apply(within root: TreePath) {
        for directory in Set(present.keys).union(beforeDeletions.keys) {
            guard let path = tree.livePath(of: directory) ?? present[directory]?.path, path.isWithin(root),
                // Where one was that has gone meanwhile another one may be by now.
                (try? tree.directory(at: path, as: .container)) == directory,
                let times = of(directory, at: path, now: present[directory]?.times)
            else { continue }
            tree.setTimes(accessed: times.accessed, modified: times.modified, of: path)
        }
    }
}
