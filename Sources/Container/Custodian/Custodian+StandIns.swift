// Copies of symlinks, FIFOs, sockets and devices that have other names.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension Custodian {
    /// Puts a copy of what is neither a file nor a directory into the deleted area. Its name stays.
    func moveInCopy(
        _ names: borrowing NamesHeldAlone, of name: FileName, in directory: SharedDescriptor, _ stat: FileStat,
        _ deletion: Deletion
    ) throws(Errno) {
        guard let copy = FileName("\(ContentID.random().hex).other") else { throw .invalidArgument }
        let staging = SharedDescriptor(
            try Backing.open(path: "staging", in: store.state.rawValue, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
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
