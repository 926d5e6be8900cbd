// What has no versions goes to `deleted/` when it loses its name: directories, symlinks and special files.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Makes the entries of the deleted area. The identity of one derives from the number of the row by which its name
/// goes.
final class DeletedEntries: Sendable {
    /// An entry that was made.
    struct Entry {
        var id: DeletionID
        /// Whether the file itself is there, and its name free. Else a copy is: the file has other names.
        var isMoved: Bool
    }

    private let recorded: RecordedTree
    private let custodian: Custodian
    private let groups = DeletionGroups()
    private let lastRemovals = RankedMutex([FileID: LastRemoval]())

    /// The last removal from a directory.
    private struct LastRemoval {
        var actor: ActorRef?
        var time: Timestamp
    }

    /// Of more directories than these, removals begin groups again.
    private static let mostDirectories = 1000

    init(_ recorded: RecordedTree, _ custodian: Custodian) {
        (self.recorded, self.custodian) = (recorded, custodian)
    }

    /// Moves what a name stands for to the deleted area, or a copy of it if it has other names.
    ///
    /// - Parameter removal: the row by which the name goes.
    /// - Parameter mayGo: whether the name goes for good where there is no room for that.
    /// - Returns: nil if the name goes for good: also where there is no right to make a copy.
    func take(
        _ names: borrowing NamesHeldAlone, _ found: FoundName, _ removal: NameRow, by requester: Requester,
        mayGo: Bool
    ) throws(Errno) -> Entry? {
        let label = try label(found, removal, by: requester)
        do throws(Errno) {
            let isMoved = found.stat.isDirectory || found.stat.links == 1
            if isMoved {
                try custodian.moveIn(names, found.name, of: found.directory, label)
            } else {
                try custodian.moveInCopy(names, of: found.name, in: found.directory, found.stat, label)
            }
            return Entry(id: label.id, isMoved: isMoved)
        } catch {
            let mayCopy = found.stat.links == 1 || ![.notPermitted, .permissionDenied].contains(error)
            guard error.isFull && mayGo || !mayCopy else { throw error }
            return nil
        }
    }

    /// The name stays after all.
    func takeBack(_ names: borrowing NamesHeldAlone, _ entry: Entry, to found: FoundName) {
        guard entry.isMoved else { return custodian.drop(entry.id) }
        try? custodian.moveOut(names, entry.id, to: found.name, in: found.directory)
    }

    /// A symlink or a special file of several names may have one again that was removed: that is no entry of the
    /// deleted list then.
    func returned(_ file: FileAtPlace, by plan: Plan) throws(Errno) {
        guard file.type != .file, file.type != .directory else { return }
        for case .row(let row) in plan.facts where row.file == file.file {
            guard let removal = try recorded.engine.removal(before: row) else { continue }
            if let id = recorded.facts.id(ofDeletion: removal, nil) { custodian.drop(id) }
        }
    }

    /// A removal is done: those that follow soon belong to its group.
    func note(_ removal: NameRow, by requester: Requester) {
        guard let actor = requester.actor, let id = recorded.facts.id(ofDeletion: removal.number, nil) else { return }
        _ = groups.group(of: id, by: actor.ref, now: removal.time)
    }

    /// The times that a directory has before the first removal of a group from it. Undeleting gives them back.
    func times(before removal: NameRow, _ found: FoundName, by requester: Requester) -> FactChange? {
        let last = LastRemoval(actor: requester.actor?.ref, time: removal.time)
        let isFirst = lastRemovals.withLock { known -> Bool in
            let former = known[found.parent.file]
            if former == nil, known.count >= Self.mostDirectories { known.removeAll() }
            known[found.parent.file] = last
            guard let former, former.actor != nil, former.actor == last.actor else { return true }
            return last.time.since(former.time) > FactReader.groupNanoseconds
        }
        guard isFirst, let stat = try? Backing.stat(found.directory.raw) else { return nil }
        return .times(removal.number, accessed: stat.accessed, modified: stat.modified)
    }

    private func label(
        _ found: FoundName, _ removal: NameRow, by requester: Requester
    ) throws(Errno) -> Deletion {
        guard let id = recorded.facts.id(ofDeletion: removal.number, nil) else { throw .ioError }
        let above = try Backing.stat(found.directory.raw)
        let group = requester.actor.flatMap { groups.group(by: $0.ref, now: removal.time) } ?? id
        return Deletion(
            id: id, place: found.place, path: recorded.tree.path(of: found.name, in: found.parent),
            type: found.stat.entryType, file: recorded.tree.fileID(found.stat), item: nil, size: found.stat.size,
            deleted: removal.time, author: requester.author, group: group, parentAccessed: above.accessed,
            parentModified: above.modified, attributes: Attributes(found.stat))
    }
}
