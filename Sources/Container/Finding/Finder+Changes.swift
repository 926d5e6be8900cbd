// Which changes a caller may know of: those in directories that it may list, wherever these are by now; and those of an
// item that it presents and may read.

import VersionModel
import VersionStore

extension Finder {
    /// Whether a caller may know of a change: it may list the directory that it happened in, and the one that something
    /// came from. It is that very directory that counts, not what has its path now: so a save is not missed because
    /// the directory was renamed, and not told because another has its name. What is gone with its directory is told
    /// to root, to the daemon's own user and to who did it.
    public func mayKnow(_ change: Change, as principal: Principal, _ known: inout KnownDirectories) -> Bool {
        if knowsAll(principal) || change.author?.userID == principal.user { return true }
        guard mayKnow(change.path, in: change.directory, as: principal, &known) else { return false }
        return change.from.map { mayKnow($0, in: change.fromDirectory, as: principal, &known) } ?? true
    }

    /// Whether a caller may know a name that a change is about.
    /// - Parameter directory: what it was in; nil in rows of former releases, which give the path alone.
    public func mayKnow(
        _ path: TreePath, in directory: FileID?, as principal: Principal, _ known: inout KnownDirectories
    ) -> Bool {
        if knowsAll(principal) { return true }
        if let directory { return mayList(directory, principal, &known) }
        let parent = path.parent ?? .root
        let answer = known.answersAtPaths[parent] ?? mayList(parent, as: principal)
        known.answersAtPaths[parent] = answer
        return answer
    }

    /// Whether a caller that may not list the directory may know of a change of the item that it presents: it knows the
    /// name, and may read the item; of one that was deleted, could have read it.
    /// - Parameters:
    ///   - place: where the item was before the change.
    ///   - next: where it is behind it.
    public func mayKnow(
        _ change: Change, ofItemAt place: TreePath, then next: TreePath, as principal: Principal
    ) -> Bool {
        // Of what another item comes from, or a further name, it knows nothing.
        guard change.from.map({ place.isWithin($0) }) ?? (change.path == place || change.path == next) else {
            return false
        }
        if change.event == .deleted {
            guard let deletion = try? history.deletions(at: change.path).first,
                AccessRule.allows(.read, to: principal, on: deletion.attributes)
            else { return false }
            return (try? looking(as: principal) { try $0.directory(change.path.parent ?? .root) }) != nil
        }
        let now = change.item.flatMap { try? history.item($0) }.flatMap { try? history.path(of: $0) }
        return [now, next].contains { path in path.map { mayRead(change.item, at: $0, as: principal) } ?? false }
    }

    /// Whether a caller may read what is at a path, and it is this item.
    private func mayRead(_ item: ItemID?, at path: TreePath, as principal: Principal) -> Bool {
        let result = try? looking(as: principal) { walk in
            let spot = try walk.spot(path)
            guard spot.stat != nil else { return false }
            try walk.require(.read, on: spot)
            return item == nil || spot.node.flatMap { host.identity(of: $0) } == item
        }
        return result ?? false
    }
}
