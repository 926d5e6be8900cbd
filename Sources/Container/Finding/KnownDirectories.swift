// What a caller may know of directories, remembered for one listing of many entries.

import VersionModel
import VersionStore

/// What one listing has found out about directories.
public struct KnownDirectories {
    var answers: [FileID: Bool] = [:]
    /// Of directories that are known by their paths alone.
    var answersAtPaths: [TreePath: Bool] = [:]
    /// The deleted directories by their identity; read when the first is asked for.
    var deleted: [FileID: Deletion]?

    public init() {}
}
