// What chattr(1) changes of a file, and the rights that go with a write which the kernel passes through.

import CLinux
import Glibc
import SystemPackage

extension MetadataRequests {
    /// The requests of ioctl(2) that chattr(1) and lsattr(1) make, with the size of what they carry.
    private static let fileFlagRequests: [UInt32: Int] = [
        0x8008_6601: 4, 0x4008_6602: 4,  // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS
        0x801c_581f: 28, 0x401c_5820: 28,  // FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR
    ]

    private static let settingRequests: Set<UInt32> = [0x4008_6602, 0x401c_5820]

    /// ioctl(2), as far as it concerns attributes of files; the kernel has checked the caller's rights.
    func control(
        _ id: UInt64, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8] {
        let node = try tree.node(id)
        guard let size = Self.fileFlagRequests[command], node.isRegular || node.isDirectory, input.count <= size,
            outputSize <= size
        else { throw .inappropriateIOCTLForDevice }
        let keeper = try keeper()
        var bytes = Array(input) + [UInt8](repeating: 0, count: size - input.count)
        try tree.names.reading { () throws(Errno) in
            try keeper.preservingStamp(of: node) { () throws(Errno) in
                let file = try tree.openOwn(node, flags: O_RDONLY | O_NONBLOCK)
                try Backing.check {
                    bytes.withUnsafeMutableBytes { linux_ioctl(file.raw, UInt(command), $0.baseAddress) }
                }
            }
        }
        // A setting request moves the change time, which the kernel may have kept; a notice of attributes waits for
        // nothing.
        if Self.settingRequests.contains(command) { kernel.side?.invalidate(node: id, data: false) }
        return Array(bytes.prefix(outputSize))
    }

    /// The kernel asks, before each write to a file with set-id bits, whether there is a capability to take away, and
    /// leaves the bits to us. For a write that it passes through this is all that we see of it: the bits may have come
    /// since the file was opened.
    func willWriteUnseen(_ caller: Caller, _ id: UInt64) {
        guard caller.user != 0, let node = tree.nodes[id], node.isRegular,
            let writer = node.writers.first(where: { $0.state.withLock { !$0.isMediated } }),
            let stat = try? Backing.stat(writer.descriptor.raw), stat.hasSetID, let keeper = try? keeper()
        else { return }
        tree.names.reading {
            try? keeper.preservingStamp(of: node) { () throws(Errno) in
                SetIDRule.drop(on: writer.descriptor.raw, by: caller)
            }
        }
    }
}
