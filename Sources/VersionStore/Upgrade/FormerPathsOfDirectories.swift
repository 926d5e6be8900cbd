// Where the directories of a container of format 1 are and were.

import VersionModel

/// Answers by the recorded directories, and by the paths that deletions and the feed have. Used by one thread.
final class FormerPathsOfDirectories {
    private let records: FormerRecords
    private let files: any FormerFiles
    private var rows: [FileID: Place] = [:]
    /// The paths of present directories; nil for those that are not where they are recorded.
    private var present: [FileID: TreePath?] = [.root: .root]
    /// Paths that directories had, for those without a row; and the directories of these paths.
    private lazy var former = Self.formerPaths(records, except: rows)
    private lazy var directories = Dictionary(former.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })

    init(_ records: FormerRecords, _ files: any FormerFiles) {
        (self.records, self.files) = (records, files)
        for directory in records.directories { rows[directory.id] = directory.place }
    }

    /// The present path of a directory.
    func path(of directory: FileID) -> TreePath? { path(of: directory, depth: 0) }

    private func path(of directory: FileID, depth: Int) -> TreePath? {
        if let known = present[directory] { return known }
        // Damaged rows may form a circle.
        guard depth < Directories.mostAbove, let place = rows[directory] else { return nil }
        let path = path(of: place.directory, depth: depth + 1)?.appending(place.name)
        let found = path.flatMap { files.entry($0) }
        let isThere = found.map { $0.type == .directory && $0.file == directory } ?? false
        present[directory] = .some(isThere ? path : nil)
        return isThere ? path : nil
    }

    func isPresent(_ directory: FileID) -> Bool { path(of: directory) != nil }

    func path(of place: Place) -> TreePath? { path(of: place.directory)?.appending(place.name) }

    // MARK: Directories that have gone

    /// The last known place of a directory that is not there; nil if nothing tells of it.
    func formerPlace(of directory: FileID) -> Place? {
        if let row = rows[directory] { return row }
        guard let path = former[directory], let above = path.parent, let name = path.name else { return nil }
        return Place(directory: self.directory(of: above), name: name)
    }

    /// A directory with a path, now or once. One of which nothing is known gets a number from its path.
    private func directory(of path: TreePath) -> FileID {
        if path.bytes.isEmpty { return .root }
        if let known = directories[path] { return known }
        if let found = files.entry(path), found.type == .directory { return found.file }
        var number: UInt64 = 0
        for byte in path.bytes { number = BitMixing.mix(number ^ UInt64(byte)) }
        let directory = FileID(max(number, 2))
        directories[path] = directory
        former[directory] = path
        return directory
    }

    private static func formerPaths(_ records: FormerRecords, except rows: [FileID: Place]) -> [FileID: TreePath] {
        var paths: [FileID: TreePath] = [:]
        func note(_ directory: FileID?, _ path: TreePath?) {
            guard let directory, directory != .root, rows[directory] == nil, let above = path?.parent else { return }
            paths[directory] = above
        }
        for (_, change) in records.changes {
            note(change.directory, change.path)
            note(change.fromDirectory, change.from)
        }
        for deletion in records.deletions { note(deletion.place.directory, deletion.path) }
        return paths
    }
}
