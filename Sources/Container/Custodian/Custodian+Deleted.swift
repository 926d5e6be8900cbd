// The files of the deleted area, which are contents, too.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension Custodian {
    /// Moves what a name stands for to the deleted area. The name is gone then.
    func moveIn(
        _ names: borrowing NamesHeldAlone, _ name: FileName, of directory: SharedDescriptor, _ deletion: Deletion
    ) throws(Errno) {
        try state.deletedArea.moveIn(name, of: FileDescriptor(rawValue: directory.raw), deletion)
    }

    /// Notes that one of several names of a file goes.
    func note(_ deletion: Deletion) throws(Errno) { try state.deletedArea.note(deletion) }

    /// Moves an entry to a name in the live tree, which is free.
    func moveOut(
        _ names: borrowing NamesHeldAlone, _ deletion: DeletionID, to name: FileName, in directory: SharedDescriptor
    ) throws(Errno) {
        try state.deletedArea.moveOut(deletion, to: name, of: FileDescriptor(rawValue: directory.raw))
    }

    /// The file of an entry becomes that of another one, which was a note of a further name.
    func hand(_ names: borrowing NamesHeldAlone, _ deletion: DeletionID, to other: Deletion) throws(Errno) {
        try state.deletedArea.hand(deletion, to: other)
    }

    /// Gives an entry another file. A program that has the former one open continues to read that.
    func replace(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion, moving name: FileName, in directory: SharedDescriptor
    ) throws(Errno) {
        try state.deletedArea.replace(deletion, moving: name, in: FileDescriptor(rawValue: directory.raw))
    }

    /// Removes an entry with its file.
    func remove(_ deletion: DeletionID) throws(Errno) { try state.deletedArea.remove(deletion) }

    /// The same where a failure does no harm: at worst the entry is listed again after the next start.
    func drop(_ deletion: DeletionID) { try? state.deletedArea.remove(deletion) }
}

// MARK: Copies of symlinks, FIFOs, sockets and devices that have other names

extension Custodian {
    /// Puts a copy of a symlink or a special file into the deleted area. The original keeps its name.
    func moveInCopy(
        _ names: borrowing NamesHeldAlone, of name: FileName, in directory: SharedDescriptor, _ stat: FileStat,
        _ deletion: Deletion
    ) throws(Errno) {
        guard let copy = FileName("\(ContentID.random().hex).other") else { throw .invalidArgument }
        let staging = SharedDescriptor(
            try Backing.open(path: "staging", in: state.directory.rawValue, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        do throws(Errno) {
            try makeStandIn(for: name, in: directory, stat, copy, in: staging)
            try moveIn(names, copy, of: staging, deletion)
        } catch {
            try? Backing.unlink(copy.bytes, in: staging.raw)
            throw error
        }
    }

    private func makeStandIn(
        for source: FileName, in directory: SharedDescriptor, _ stat: FileStat, _ name: FileName,
        in staging: SharedDescriptor
    ) throws(Errno) {
        if stat.entryType == .symlink {
            let target = try Backing.readLink(source.bytes, in: directory.raw)
            // That was no access.
            try? Backing.setTimes(
                source.bytes, in: directory.raw, accessed: stat.raw.accessed,
                modified: timespec(tv_sec: 0, tv_nsec: linux_UTIME_OMIT))
            try Backing.makeSymlink(name.bytes, in: staging.raw, target: target)
        } else {
            let device = dev_t(linux_makedev(stat.raw.special_major, stat.raw.special_minor))
            try Backing.makeNode(name.bytes, in: staging.raw, mode: mode_t(stat.raw.mode), device: device)
        }
        if geteuid() == 0 || stat.raw.user == geteuid() {
            try Backing.chown(name.bytes, in: staging.raw, user: stat.raw.user, group: stat.raw.group)
        }
        if stat.entryType != .symlink {
            try Backing.chmod(name.bytes, in: staging.raw, mode: mode_t(stat.permissions))
        }
        try Backing.setTimes(
            name.bytes, in: staging.raw, accessed: stat.raw.accessed, modified: stat.raw.modified)
    }
}
