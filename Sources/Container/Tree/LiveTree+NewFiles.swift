// New files belong to the caller, not to the daemon.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension LiveTree {
    /// Gives a new file to the caller's user, as the kernel would; returns its attributes then.
    func adopt(
        _ name: FileName, in directory: SharedDescriptor, for caller: Caller, mode: mode_t?,
        file: SharedDescriptor? = nil
    ) throws(Errno) -> FileStat {
        // Of a file without a descriptor, one is taken: no file that comes under the name meanwhile is given away.
        let flags = linux_O_PATH | O_NOFOLLOW
        let held = file == nil ? try Backing.open(name.bytes, in: directory.raw, flags: flags) : -1
        let file = file ?? SharedDescriptor(held)
        defer { withExtendedLifetime(file) {} }
        let made = try Backing.stat(file.raw)
        guard servesOthers, made.raw.user != caller.user || made.raw.group != caller.group else { return made }
        // In a set-group-id directory the file system has given it the directory's group already.
        let parent = try Backing.stat(path: ".", in: directory.raw)
        let group = parent.mode & UInt32(S_ISGID) != 0 ? gid_t.max : caller.group
        // A new file is the daemon's own.
        guard made.raw.user == geteuid() || made.key.device != rootKey.device else { throw Errno(rawValue: ESTALE) }
        try Backing.chown([], in: file.raw, user: caller.user, group: group)
        if let mode, mode & 0o6000 != 0, made.permissions & 0o6000 != 0 {
            try Backing.chmod([], in: file.raw, mode: mode_t(made.permissions))
        }
        return try Backing.stat(file.raw)
    }

    /// As ``adopt(_:in:for:mode:file:)`` for a file without a name.
    func adoptNameless(_ file: SharedDescriptor, in directory: SharedDescriptor, for caller: Caller) throws(Errno) {
        let made = try Backing.stat(file.raw)
        guard servesOthers, made.raw.user != caller.user || made.raw.group != caller.group else { return }
        let parent = try Backing.stat(path: ".", in: directory.raw)
        let group = parent.mode & UInt32(S_ISGID) != 0 ? gid_t.max : caller.group
        try Backing.check { fchown(file.raw, caller.user, group) }
        if made.permissions & 0o6000 != 0 { try Backing.check { fchmod(file.raw, mode_t(made.permissions)) } }
    }
}
