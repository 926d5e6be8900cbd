// The whole tree below a directory when a number was the last.

internal import GRDB
import Lineage
import VersionModel

/// A name somewhere below a directory.
public struct PastTreeEntry: Hashable, Sendable {
    /// From the directory on, the name itself last.
    public var names: [FileName]
    public var name: NameThen
}

/// Where a walk through a tree goes on: in each directory of the way down, behind a name.
public struct PastTreeCursor: Hashable, Sendable {
    struct Step: Hashable, Sendable {
        var directory: FileID
        var last: FileName?
    }
    var steps: [Step]

    init(_ directory: FileID) { steps = [Step(directory: directory, last: nil)] }
}

extension FactReader {
    /// How many places are read at once: those behind a directory are read again.
    private static let places = 32

    /// The names at a number below a directory, each directory before what is in it, in the order of their bytes.
    ///
    /// Directories of which no row tells are not entered: nothing in them has a row.
    /// - Parameter cursor: where the page begins; nil: at the start.
    public func tree(
        below directory: FileID, at number: UInt64? = nil, from cursor: PastTreeCursor? = nil, limit: Int
    ) throws(StoreError) -> FactPage<PastTreeEntry, PastTreeCursor> {
        try look { look in
            var cursor = cursor ?? PastTreeCursor(directory)
            var (entries, looked): ([PastTreeEntry], Int) = ([], 0)
            while let step = cursor.steps.last {
                guard entries.count < limit, looked < Self.looks else {
                    return FactPage(elements: entries, next: cursor)
                }
                let spots = try look.spots(in: step.directory, after: step.last, limit: Self.places)
                looked += max(1, spots.count)
                var isEntering = false
                for spot in spots where entries.count < limit && !isEntering {
                    cursor.steps[cursor.steps.count - 1].last = spot.name
                    guard let name = try look.name(spot, in: step.directory, at: number) else { continue }
                    entries.append(PastTreeEntry(names: cursor.steps.compactMap(\.last), name: name))
                    if name.type == .directory, let file = name.row.file, cursor.steps.count < Directories.mostAbove {
                        cursor.steps.append(PastTreeCursor.Step(directory: file, last: nil))
                        isEntering = true
                    }
                }
                if spots.isEmpty { cursor.steps.removeLast() }
            }
            return FactPage(elements: entries, next: nil)
        }
    }
}
