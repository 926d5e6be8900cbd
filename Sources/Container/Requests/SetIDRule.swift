// Set-id bits and capabilities: they go where a user without the right to keep them chooses a file's content.

import CLinux
import Glibc
import SystemPackage

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

extension SetIDRule {
    /// Takes the set-id bits of a file away whose content the caller changes without the right to keep them.
    static func drop(on file: Int32, by caller: Caller) {
        guard let stat = try? Backing.stat(file), stat.hasSetID else { return }
        let kept = afterChange(stat.permissions, byStranger: isBound(stat, caller))
        if kept != stat.permissions { fchmod(file, mode_t(kept)) }
    }

    /// Takes them away for any caller: the content that comes, or comes back, is another user's choice.
    static func drop(on file: Int32) throws(Errno) {
        let stat = try Backing.stat(file)
        guard stat.hasSetID else { return }
        try Backing.check { fchmod(file, mode_t(afterChange(stat.permissions, byStranger: true))) }
    }

    /// Whether a caller has no claim to a file's group, so that a set-group-id bit may not stay.
    static func isBound(_ stat: FileStat, _ caller: Caller) -> Bool {
        guard stat.permissions & UInt32(S_ISGID) != 0, caller.user != 0, caller.group != stat.raw.group else {
            return false
        }
        let status = SystemProcReader().contents(of: "\(caller.thread)/status") ?? []
        let line = status.split(separator: 10).first { $0.starts(with: Array("Groups:".utf8)) } ?? []
        let groups = line.dropFirst(7).split { $0 == 32 || $0 == 9 }
        return !groups.contains { $0.elementsEqual(String(stat.raw.group).utf8) }
    }

    /// An access list was set, which is a change of the mode: set-group-id stays for members of the group only.
    static func dropGroup(on file: Int32, settingAccessListBy caller: Caller) throws(Errno) {
        let stat = try Backing.stat(file)
        guard stat.isRegular || stat.isDirectory, isBound(stat, caller) else { return }
        try Backing.chmod([], in: file, mode: mode_t(stat.permissions & ~UInt32(S_ISGID)))
    }
}
