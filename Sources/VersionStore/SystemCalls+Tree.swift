// Paths into the live tree: without symlinks, and never out of it.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension System {
    /// Opens a directory of the live tree in several steps, because paths may be longer than a system call allows.
    static func openDirectory(
        _ names: [FileName], in root: FileDescriptor, _ flags: Int32 = linux_O_PATH
    ) throws(Errno) -> FileDescriptor {
        var rest = names[...]
        var directory = try open(".", in: root, flags | O_DIRECTORY)
        while !rest.isEmpty {
            let step = rest.prefix(15)
            rest = rest.dropFirst(15)
            let last = directory
            defer { close(last) }
            directory = try openBeneath(TreePath(names: Array(step)).cName, in: last, flags | O_DIRECTORY)
        }
        return directory
    }
}
