// Ways into the live tree: no symlink on the way, nothing outside of it.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension System {
    /// A directory of the live tree, in steps that a system call takes: paths may be longer.
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
