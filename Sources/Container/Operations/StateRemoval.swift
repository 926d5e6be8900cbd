// Giving up a container: its state goes, the tree stays (DESIGN 3.1).

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// Removes a container's state directory.
public enum StateRemoval {
    /// - Parameter root: the container's directory. No process may have the state open.
    public static func remove(below root: FileDescriptor) throws(Errno) {
        try remove(LiveContainer.stateName, in: root.rawValue)
    }

    private static func remove(_ name: [UInt8], in directory: Int32) throws(Errno) {
        let inner = SharedDescriptor(
            try CText.lend(name) { pointer throws(Errno) in
                try Backing.check { linuxOpenDirectory(directory, pointer) }
            })
        for entry in try Backing.list(inner.raw) {
            let stat = try Backing.stat(entry.name.bytes, in: inner.raw)
            if stat.isDirectory {
                try remove(entry.name.bytes, in: inner.raw)
            } else {
                try Backing.unlink(entry.name.bytes, in: inner.raw)
            }
        }
        try Backing.unlink(name, in: directory, flags: AT_REMOVEDIR)
    }
}
