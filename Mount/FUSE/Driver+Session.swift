// The file system's way back to the kernel: backing files and notifications.

import CFuse3
import Glibc
import SystemPackage

extension Driver: Session {
    func register(backing descriptor: FileDescriptor) throws(Errno) -> Int32 {
        guard features?.passthrough == true, gate.enter() else { throw .notSupported }
        defer { gate.leave() }
        guard let session else { throw .operationNotSupportedByDevice }
        var map = wire_backing_map(descriptor: descriptor.rawValue, flags: 0, padding: 0)
        let backing = wire_backing_open(fuse_session_fd(session), &map)
        guard backing > 0 else { throw Errno(rawValue: errno) }
        return backing
    }

    func unregister(backing: Int32) {
        within { _ = wire_backing_close(fuse_session_fd($0), UInt32(bitPattern: backing)) }
    }

    func invalidate(entry name: [UInt8], in parent: NodeID) {
        within { session in
            name.withUnsafeBytes {
                _ = fuse_lowlevel_notify_inval_entry(
                    session, parent, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
            }
        }
    }

    func invalidate(node: NodeID, data: Bool) {
        // A negative offset leaves the content alone.
        within { _ = fuse_lowlevel_notify_inval_inode($0, node, data ? 0 : -1, 0) }
    }

    func awaitNames(of directory: NodeID) {
        // The kernel takes the directory's lock before it looks for the name. No entry has one of this length, so
        // nothing else happens. (A name with a slash is refused before the lock by kernels from 6.19 on.)
        invalidate(entry: [UInt8](repeating: UInt8(ascii: "-"), count: 256), in: directory)
    }

    func deleted(entry name: [UInt8], of node: NodeID, in parent: NodeID) {
        within { session in
            name.withUnsafeBytes {
                _ = fuse_lowlevel_notify_delete(
                    session, parent, node, $0.bindMemory(to: CChar.self).baseAddress, $0.count)
            }
        }
    }

    /// Runs `body` with the session, unless it has ended.
    private func within(_ body: (OpaquePointer) -> Void) {
        guard gate.enter() else { return }
        defer { gate.leave() }
        if let session { body(session) }
    }

    /// Whether the kernel accepts a backing file: it may offer passthrough and still refuse it to this process.
    func probePassthrough() -> Bool {
        let file = wire_anonymous_file("probe")
        guard file >= 0 else { return false }
        defer { close(file) }
        guard let backing = try? register(backing: FileDescriptor(rawValue: file)) else { return false }
        unregister(backing: backing)
        return true
    }

    /// Tries the negotiated features, then starts the file system.
    func start(_ negotiated: Features) {
        if negotiated.passthrough && !probePassthrough() { withdrawPassthrough() }
        fileSystem?.started(self, features: features ?? negotiated)
    }
}
