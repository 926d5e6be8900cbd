// The files of the deleted area, which are contents, too.

import SystemPackage
import VersionModel
import VersionStore

extension Custodian {
    /// Moves what a name stands for to the deleted area. The name is gone then.
    func moveIn(
        _ names: borrowing NamesHeldAlone, _ name: FileName, of directory: SharedDescriptor, _ deletion: Deletion
    ) throws(Errno) {
        try store.deletedArea.moveIn(name, of: FileDescriptor(rawValue: directory.raw), deletion)
    }

    /// Notes that one of several names of a file goes.
    func note(_ deletion: Deletion) throws(Errno) { try store.deletedArea.note(deletion) }

    /// Moves an entry to a name in the live tree, which is free.
    func moveOut(
        _ names: borrowing NamesHeldAlone, _ deletion: DeletionID, to name: FileName, in directory: SharedDescriptor
    ) throws(Errno) {
        try store.deletedArea.moveOut(deletion, to: name, of: FileDescriptor(rawValue: directory.raw))
    }

    /// The file of an entry becomes that of another one, which was a note of a further name.
    func hand(_ names: borrowing NamesHeldAlone, _ deletion: DeletionID, to other: Deletion) throws(Errno) {
        try store.deletedArea.hand(deletion, to: other)
    }

    /// Gives an entry another file. A program that has the former one open continues to read that.
    func replace(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion, moving name: FileName, in directory: SharedDescriptor
    ) throws(Errno) {
        try store.deletedArea.replace(deletion, moving: name, in: FileDescriptor(rawValue: directory.raw))
    }

    /// Removes an entry with its file.
    func remove(_ deletion: DeletionID) throws(Errno) { try store.deletedArea.remove(deletion) }

    /// The same where a failure does no harm: at worst the entry is listed again after the next start.
    func drop(_ deletion: DeletionID) { try? store.deletedArea.remove(deletion) }
}
