// Where a name has gone that is asked for and is not there: its renames, by the change feed.

import VersionModel
import VersionStore

extension LiveContainer {
    /// How many of the last changes are looked at: a name that went longer ago is not looked for.
    private static let changesToLookAt: UInt64 = 20_000

    /// What a path is called now.
    /// - Returns: nil if it was not renamed, is gone from its new name, or lies where the caller may not look.
    public func renamedSince(_ path: TreePath, as principal: Principal) -> TreePath? {
        guard let range = (try? store.changeRange()) ?? nil else { return nil }
        var after = range.upperBound > Self.changesToLookAt ? range.upperBound - Self.changesToLookAt : 0
        var now: TreePath?
        while let rows = try? store.changes(after: after, limit: 1000), let last = rows.last {
            for (_, change) in rows where change.event == .renamed {
                guard let from = change.from else { continue }
                let place = [now, path].compactMap { $0 }.first { $0.isWithin(from) }
                guard let place else { continue }
                now = TreePath(names: change.path.names + place.names.dropFirst(from.names.count))
            }
            after = last.sequence
        }
        guard let now, now != path, let parent = now.parent, mayList(parent, as: principal),
            ((try? entry(at: now, as: principal)) ?? nil) != nil
        else { return nil }
        return now
    }
}
