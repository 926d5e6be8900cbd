// A name of the live tree that a request is about to take away.

import VersionModel

/// A name that is about to go, with what it stands for.
struct LeavingName {
    var parent: Node
    var name: FileName
    var directory: SharedDescriptor
    var stat: FileStat
    var node: Node?
    /// What may go for good if there is no room for its deletion.
    var unprotected: ItemID?

    var place: Place { Place(directory: parent.file, name: name) }
}
