// `.versionsignore` at the root as it was read last: whether it counts, and why if it does not.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// The file that names the files without versions. It counts only if no user but the container's owner and root can
/// have written it: other users could have documents that are not theirs lose their history. On a file system that
/// keeps no modes all files have the owner and the mode that it was mounted with: there the owner alone decides.
public struct IgnoreFile: Sendable {
    /// Its lines are in force.
    public var counts: Bool { objection == nil }
    /// Why it does not count, in a clause.
    public private(set) var objection: String?
    /// Whether all users may read it.
    public private(set) var isPublic = false
    /// Empty if it does not count.
    private(set) var text: [UInt8] = []

    /// The patterns in it, without comments.
    public var patterns: [String] {
        text.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
            .filter { !$0.hasPrefix("#") && $0.contains { !$0.isWhitespace } }
    }

    /// Reads the very file that it judges; nil if there is none.
    init?(_ name: FileName, in root: Int32) {
        do throws(Errno) {
            let file = SharedDescriptor(
                try Backing.open(name.bytes, in: root, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
            let stat = try Backing.stat(file.raw)
            isPublic = stat.permissions & 0o004 != 0
            objection = Self.objection(
                to: stat, file.raw, of: try Backing.stat(root).raw.user, keepsModes: linux_keeps_modes(file.raw) != 0)
            if objection == nil {
                text = try ContentText.read(file.raw, size: min(stat.size, ThreeWayMerge.maximumSize))
            }
        } catch .noSuchFileOrDirectory { return nil } catch {
            objection = error == .tooManySymbolicLinkLevels ? "it is a symbolic link" : "it cannot be read (\(error))"
        }
    }

    /// Why a file does not count.
    static func objection(to stat: FileStat, _ file: Int32, of owner: UInt32, keepsModes: Bool) -> String? {
        guard stat.isRegular else { return "it is not a file" }
        guard [owner, 0].contains(stat.raw.user) else {
            return "it belongs neither to the container's owner nor to root"
        }
        guard keepsModes else { return nil }
        if stat.permissions & 0o002 != 0 { return "any user may write to it" }
        guard stat.permissions & 0o020 != 0 else { return nil }
        // With an access list these bits stand for all that it names.
        let hasList = linux_fgetxattr(file, "system.posix_acl_access", nil, 0) > 0
        if hasList { return "its access list lets others write to it" }
        // A user's own group has, by custom, the user's number.
        return [0, stat.raw.user].contains(stat.raw.group) ? nil : "its group may write to it"
    }
}
