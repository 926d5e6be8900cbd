// Where a name has gone that is asked for and is not there: its renames, by the change feed.

import VersionModel
import VersionStore

extension Finder {
    /// How many of the last changes are looked at: a name that went longer ago is not looked for.
    private static let changesToLookAt: UInt64 = 20_000

    /// What a path is called now.
    /// - Returns: nil if it was not renamed, is gone from its new name, or lies where the caller may not look.
    public func renamedSince(_ path: TreePath, as principal: Principal) -> TreePath? {
        guard let last = try? history.lastTold() else { return nil }
        var after = last > Self.changesToLookAt ? last - Self.changesToLookAt : 0
        var now: TreePath?
        while let page = try? history.told(after: after, limit: 1000), page.last > after {
            for (_, change) in page.changes where change.event == .renamed {
                guard let from = change.from else { continue }
                let place = [now, path].compactMap { $0 }.first { $0.isWithin(from) }
                guard let place else { continue }
                now = TreePath(names: change.path.names + place.names.dropFirst(from.names.count))
            }
            after = page.last
        }
        guard let now, now != path, let parent = now.parent, mayList(parent, as: principal),
            ((try? entry(at: now, as: principal)) ?? nil) != nil
        else { return nil }
        return now
    }
}
