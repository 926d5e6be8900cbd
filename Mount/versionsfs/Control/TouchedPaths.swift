// The names in some rows of the change feed, each once: a query looks up their present state.

import VersionModel

/// The names below a directory that changes touched.
struct TouchedPaths {
    private let scope: TreePath
    private var byDirectory: [TreePath: Set<FileName>] = [:]
    /// Names that may have another item now, with all names below them.
    private var moved: Set<TreePath> = []
    /// The scope itself, or a directory above it, has changed.
    private(set) var isScopeTouched = false

    init(within scope: TreePath) { self.scope = scope }

    /// - Parameters:
    ///   - rightsMatter: changed rights of a directory may show or hide its entries.
    ///   - mayKnow: whether the caller may know a name in a directory. A hidden name is not reported even when it is
    ///     gone.
    mutating func add(_ change: Change, rightsMatter: Bool, mayKnow: (TreePath, FileID?) -> Bool) {
        let isMove =
            switch change.event {
            case .created, .renamed, .deleted, .undeleted: true
            case .attributes: rightsMatter
            case .saved, .conflict, .resolved, .versionLost: false
            }
        for (path, home) in [(change.from, change.fromDirectory), (change.path, change.directory)] {
            guard let path else { continue }
            if scope.isWithin(path), isMove || path == scope && !path.bytes.isEmpty {
                isScopeTouched = true
            } else if path != scope, path.isWithin(scope), let name = path.name, let directory = path.parent,
                mayKnow(path, home)
            {
                byDirectory[directory, default: []].insert(name)
                if isMove { moved.insert(path) }
                // Its directory has a new modification time.
                if change.event != .attributes, directory != scope, let name = directory.name,
                    let above = directory.parent
                {
                    byDirectory[above, default: []].insert(name)
                }
            }
        }
    }

    func isMoved(_ path: TreePath) -> Bool { moved.contains(path) }

    /// Sorted. A name inside a directory that is reported as a whole appears twice. That is harmless, because both show
    /// the present state.
    var directories: [TreePath] { byDirectory.keys.sorted() }

    func names(in directory: TreePath) -> [FileName] { byDirectory[directory, default: []].sorted() }
}

/// Tells which paths are of document scope.
struct DocumentScopes {
    private let directories: [TreePath]

    init(_ settings: [String]) { directories = settings.compactMap { TreePath(bytes: Array($0.utf8)) } }

    func contains(_ path: TreePath) -> Bool { directories.contains { path.isWithin($0) } }
}
