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
    /// If a program from before the mount may still write to a file, all looks show a copy of it from now on: the bytes
    /// that settling has read must not change until they are kept.
    /// - Returns: the file itself; nil if no such program is there.
    func freeze(_ file: FileID) throws(Errno) -> SharedDescriptor?
}

extension SettledDisk {
    func freeze(_ file: FileID) throws(Errno) -> SharedDescriptor? { nil }
}

/// The kept contents at a mount.
protocol SettledContents: KeptContents {
    /// What a kept content says of itself.
    func labels(of content: Content) throws(Errno) -> [Label]
    /// Keeps a copy that was made of a file.
    func keep(
        _ copy: SharedDescriptor, of file: SharedDescriptor, as content: Content, _ labels: [Label]
    ) throws(Errno)
}

extension SettledContents {
    func keep(
        _ copy: SharedDescriptor, of file: SharedDescriptor, as content: Content, _ labels: [Label]
    ) throws(Errno) {
        try keep(copying: copy.raw, as: content, labels, isDurable: false)
    }
}
