// A symlink, FIFO, socket or device with several names: a stand-in goes to the deleted area, and the name is removed,
// so that the file's number of links goes down as on any file system.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Removes one of several names of a symlink, FIFO, socket or device.
    func unlinkOneName(
        _ names: borrowing NamesHeldAlone, _ entry: Entry, _ requester: Requester
    ) throws(Errno) {
        let deletion = try deletion(of: entry, nil, requester)
        let isKept = try keepStandIn(names, for: entry, deletion)
        do throws(Errno) {
            try holding(names, entry) { () throws(Errno) in
                try Backing.unlink(entry.name.bytes, in: entry.directory.raw)
            }
        } catch {
            if isKept { custodian.drop(deletion.id) }
            throw error
        }
        leave(names, entry, now: .gone)
        let event = change(.deleted, in: entry.parent, entry.name, by: requester)
        record(entry.parent, (isKept ? [.deletion(deletion)] : []) + [.change(event)])
    }

    /// - Returns: false where none can be made, for want of the right to make devices, or of room: the file itself
    /// goes on under its other names.
    private func keepStandIn(
        _ names: borrowing NamesHeldAlone, for entry: Entry, _ deletion: Deletion
    ) throws(Errno) -> Bool {
        guard let name = FileName("\(ContentID.random().hex).other") else { return false }
        let staging = SharedDescriptor(
            try Backing.open(path: "staging", in: store.state.rawValue, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        do throws(Errno) {
            try space.retryingWhenFull(isRecord: true) { () throws(Errno) in
                // An attempt before this one may have left a file.
                try? Backing.unlink(name.bytes, in: staging.raw)
                try makeStandIn(for: entry, name, in: staging)
                try custodian.moveIn(names, name, of: staging, deletion)
            }
            return true
        } catch {
            try? Backing.unlink(name.bytes, in: staging.raw)
            guard error.isFull || error == .notPermitted || error == .permissionDenied else { throw error }
            return false
        }
    }

    private func makeStandIn(for entry: Entry, _ name: FileName, in staging: SharedDescriptor) throws(Errno) {
        let stat = entry.stat
        if stat.entryType == .symlink {
            let target = try Backing.readLink(entry.name.bytes, in: entry.directory.raw)
            // That was no access.
            try? Backing.setTimes(
                entry.name.bytes, in: entry.directory.raw, accessed: stat.raw.accessed,
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
