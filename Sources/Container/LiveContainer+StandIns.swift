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
        do throws(Errno) {
            try space.retryingWhenFull(isRecord: true) { () throws(Errno) in
                try custodian.moveInCopy(names, of: entry.name, in: entry.directory, entry.stat, deletion)
            }
            return true
        } catch {
            guard error.isFull || error == .notPermitted || error == .permissionDenied else { throw error }
            return false
        }
    }
}
