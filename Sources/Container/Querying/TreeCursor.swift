// A walk over a part of the tree in pieces, so that a slow caller delays no other request.

import VersionModel

/// A position in a walk. Between pieces it holds the names of the directories on the way, and no resources of the
/// container: renamed entries may be missed or met twice; the change feed reports them.
public struct TreeCursor: Sendable {
    private struct Level: Sendable {
        var path: TreePath
        var names: ArraySlice<FileName>
        /// The directories among the last names.
        var directories: [TreePath]
    }

    private var levels: [Level]

    /// A walk over the contents of a directory.
    public init(in directory: TreePath) {
        levels = [Level(path: directory, names: [], directories: [directory])]
    }

    public var isDone: Bool { levels.isEmpty }

    /// The next entries, from about `limit` names. Skips directories that are gone, or that the caller may not list.
    public mutating func next(_ limit: Int, in container: Finder, as principal: Principal) -> [TreeEntry] {
        var found: [TreeEntry] = []
        var seen = 0
        while seen < limit, var level = levels.popLast() {
            if let directory = level.directories.popLast() {
                levels.append(level)
                seen += 1
                guard let names = try? container.names(in: directory, as: principal), !names.isEmpty else { continue }
                levels.append(Level(path: directory, names: names[...], directories: []))
            } else if !level.names.isEmpty {
                let names = Array(level.names.prefix(limit))
                level.names = level.names.dropFirst(names.count)
                seen += names.count
                let entries = (try? container.entries(names, in: level.path, as: principal)) ?? [:]
                let inOrder = names.compactMap { entries[$0] }
                level.directories = inOrder.filter { $0.type == .directory }.map(\.path).reversed()
                levels.append(level)
                found += inOrder
            }
        }
        return found
    }
}
