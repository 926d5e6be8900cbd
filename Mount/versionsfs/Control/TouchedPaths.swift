// Which names some rows of the change feed are about, each once: a query looks at them as they are now.

import VersionModel

/// The names below a directory that changes touched.
struct TouchedPaths {
    private let scope: TreePath
    private var byDirectory: [TreePath: Set<FileName>] = [:]
    /// Names that something else may be behind now, with all below them.
    private var moved: Set<TreePath> = []
    /// What is asked about, or a directory above it, is another one now.
    private(set) var isScopeTouched = false

    init(within scope: TreePath) { self.scope = scope }

    /// - Parameters:
    ///   - rightsMatter: changed rights of a directory may show or hide what is in it.
    ///   - mayKnow: whether whoever asks may know a name in a directory: not even that it is gone is told of others.
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
                // Its directory has another time now.
                if change.event != .attributes, directory != scope, let name = directory.name, let above = directory.parent {
                    byDirectory[above, default: []].insert(name)
                }
            }
        }
    }

    func isMoved(_ path: TreePath) -> Bool { moved.contains(path) }

    /// In order. What lies below a name that is looked at as a whole is told with that; looking at it twice does no
    /// harm, for both see it as it is.
    var directories: [TreePath] { byDirectory.keys.sorted() }

    func names(in directory: TreePath) -> [FileName] { byDirectory[directory, default: []].sorted() }
}

/// Which paths are of document scope.
struct DocumentScopes {
    private let directories: [TreePath]

    init(_ settings: [String]) { directories = settings.compactMap { TreePath(bytes: Array($0.utf8)) } }

    func contains(_ path: TreePath) -> Bool { directories.contains { path.isWithin($0) } }
}
