// Set-id bits and capabilities: they go where a user without the right to keep them chooses a file's content.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Which permission bits survive a change by a user without the right to keep set-id bits.
enum SetIDRule {
    static let bits = UInt32(S_ISUID | S_ISGID)
    static let capability = Array("security.capability".utf8)

    /// The set-user-id bit goes; the set-group-id bit goes where the group may execute, and elsewhere if the user that
    /// changes the file is not of its group (setattr_should_drop_sgid in the kernel's fs/attr.c).
    static func afterChange(_ mode: UInt32, byStranger: Bool) -> UInt32 {
        var mode = mode & ~UInt32(S_ISUID)
        if byStranger || mode & UInt32(S_IXGRP) != 0 { mode &= ~UInt32(S_ISGID) }
        return mode
    }
}

extension FileStat {
    /// Whether a program in it runs with the rights of its owner or its group.
    var hasSetID: Bool { isRegular && permissions & SetIDRule.bits != 0 }
}

extension LiveContainer {
    /// Takes the set-id bits of a file away whose content the caller changes without the right to keep them.
    func dropSetID(_ file: Int32, _ caller: Caller) {
        guard let stat = try? Backing.stat(file), stat.hasSetID else { return }
        let kept = SetIDRule.afterChange(stat.permissions, byStranger: setIDIsBound(stat, caller))
        if kept != stat.permissions { fchmod(file, mode_t(kept)) }
    }

    /// Takes them away for any caller: the content that comes, or comes back, is another user's choice.
    func dropSetID(_ file: Int32) throws(Errno) {
        let stat = try Backing.stat(file)
        guard stat.hasSetID else { return }
        try Backing.check { fchmod(file, mode_t(SetIDRule.afterChange(stat.permissions, byStranger: true))) }
    }

    /// Whether a caller has no claim to a file's group, so that a set-group-id bit may not stay.
    func setIDIsBound(_ stat: FileStat, _ caller: Caller) -> Bool {
        guard stat.permissions & UInt32(S_ISGID) != 0, caller.user != 0, caller.group != stat.raw.group else {
            return false
        }
        let status = SystemProcReader().contents(of: "\(caller.thread)/status") ?? []
        let line = status.split(separator: 10).first { $0.starts(with: Array("Groups:".utf8)) } ?? []
        let groups = line.dropFirst(7).split { $0 == 32 || $0 == 9 }
        return !groups.contains { $0.elementsEqual(String(stat.raw.group).utf8) }
    }

    /// The kernel asks, before each write to a file with set-id bits, whether there is a capability to take away, and
    /// leaves the bits to us. For a write that it passes through this is all that we see of it: the bits may have come
    /// since the file was opened.
    public func willWriteUnseen(_ caller: Caller, node id: UInt64) {
        guard caller.user != 0, let node = nodes[id], node.isRegular,
            let writer = node.writers.first(where: { $0.state.withLock { !$0.isMediated } }),
            let stat = try? Backing.stat(writer.descriptor.raw), stat.hasSetID
        else { return }
        names.reading {
            try? preservingStamp(of: knownDocument(of: node), node) { () throws(Errno) in
                dropSetID(writer.descriptor.raw, caller)
            }
        }
    }

    /// An access list was set, which is a change of the mode: set-group-id stays for members of the group only.
    func dropSetGroupID(_ file: Int32, settingAccessListBy caller: Caller) throws(Errno) {
        let stat = try Backing.stat(file)
        guard stat.isRegular || stat.isDirectory, setIDIsBound(stat, caller) else { return }
        try Backing.chmod([], in: file, mode: mode_t(stat.permissions & ~UInt32(S_ISGID)))
    }

    // MARK: Content that comes back

    /// Whether a file keeps its set-id bits when it gets the content of this version: root may do that with content
    /// that root or the file's owner wrote. Asked with no lock held.
    func keepsSetID(_ version: VersionID?, at path: TreePath, as principal: Principal) -> Bool {
        guard principal.isRoot, let version, let author = try? store.version(version)?.author.userID,
            let owner = try? looking(as: .container, { try $0.document(path).stat.raw.user })
        else { return false }
        return author == 0 || author == owner
    }

    /// A file that was deleted with set-id bits or a capability does not come back with them through any user: it may
    /// have been deleted for a flaw. The owner keeps the set-user-id bit, for the owner could set it anew.
    func dropRightsOfReturned(_ spot: Spot, _ requester: Requester) throws(Errno) {
        let user = requester.author.userID
        guard user != 0 else { return }
        let stat = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
        guard stat.isRegular else { return }
        let file = try Backing.hold(spot.name.bytes, in: spot.directory.raw, stat.key)
        try withExtendedLifetime(file) { () throws(Errno) in
            let path = Backing.reopening(file.raw)
            if linux_getxattr(path, 1, "security.capability", nil, 0) >= 0 {
                try Backing.check { linux_removexattr(path, 1, "security.capability") }
            }
            guard stat.hasSetID else { return }
            var mode = SetIDRule.afterChange(stat.permissions, byStranger: true)
            if user == stat.raw.user { mode |= stat.permissions & UInt32(S_ISUID) }
            if mode != stat.permissions { try Backing.chmod([], in: file.raw, mode: mode_t(mode)) }
        }
    }
}
