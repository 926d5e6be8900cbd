// What settling asks of the disk.

import Lineage
import SystemPackage
import VersionModel

/// What a name stands for.
enum PlaceFound: Equatable, Sendable {
    case file(FileID)
    /// What has no versions: a directory, a symlink or a special file.
    case other(FileID)
    case nothing
    /// The place's directory is not found, or the place has another container: the facts stand.
    case unknown

    var file: FileID? {
        switch self {
        case .file(let file), .other(let file): file
        case .nothing, .unknown: nil
        }
    }
}

/// The tree at a mount. Files that were found at places can be looked at.
protocol SettledDisk: FilesBelow {
    func look(at place: PlaceNumber) throws(Errno) -> PlaceFound
}

/// The kept contents at a mount.
protocol SettledContents: KeptContents {
    /// What a kept content says of itself.
    func labels(of content: Content) throws(Errno) -> [Label]
}
