// The rights on a file below the mount: its mode, its owner and its access list.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension Attributes {
    init(_ stat: FileStat) {
        self.init(mode: stat.permissions, owner: stat.raw.user, group: stat.raw.group)
    }

    /// Mode, owner and access list of a file below.
    init(below name: [UInt8], in directory: SharedDescriptor) throws(Errno) {
        self.init(try Backing.stat(name, in: directory.raw))
        accessList = CText.lend(Backing.descriptorPath(directory.raw, name)) { path in
            Self.accessList { buffer, size in linux_lgetxattr(path, "system.posix_acl_access", buffer, size) }
        }
    }

    /// The same of the file of any descriptor, also of an O_PATH one.
    init(held file: Int32) throws(Errno) { self.init(held: file, try Backing.stat(file)) }

    init(held file: Int32, _ stat: FileStat) {
        self.init(stat)
        accessList = Self.accessList { buffer, size in
            let count = linux_fgetxattr(file, "system.posix_acl_access", buffer, size)
            guard count < 0, errno == EBADF else { return count }
            return linux_getxattr(Backing.reopening(file), 1, "system.posix_acl_access", buffer, size)
        }
    }

    /// Mode, owner and access list of an open file.
    init(of file: Int32) throws(Errno) {
        self.init(try Backing.stat(file))
        accessList = Self.accessList { buffer, size in
            linux_fgetxattr(file, "system.posix_acl_access", buffer, size)
        }
    }

    private static func accessList(_ call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            let count = call(buffer.baseAddress, buffer.count)
            if count >= 0 { return Array(buffer.prefix(count)) }
            // A list that is too long to be read gives no rights.
            return errno == ERANGE ? [0] : nil
        }
    }
}
