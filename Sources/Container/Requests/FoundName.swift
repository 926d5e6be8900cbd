// A name of the live tree as a request has found it.

import VersionModel

/// A name on the disk, with what it stands for.
struct FoundName {
    var parent: Node
    var name: FileName
    var directory: SharedDescriptor
    var stat: FileStat
    /// nil if the kernel does not know the file.
    var node: Node?
    /// Whether it belongs to another file system or to a container within this one.
    var isForeign: Bool

    var place: Place { Place(directory: parent.file, name: name) }
}
