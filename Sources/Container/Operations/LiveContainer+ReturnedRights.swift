// Set-id bits and capabilities of content that comes back.

import CLinux
import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
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
