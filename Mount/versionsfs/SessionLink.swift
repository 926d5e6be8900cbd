// Passes the container's requests to the kernel on to the session.

import Container
import FUSE
import SystemPackage

/// The kernel side of a mounted container.
final class SessionLink: KernelSide {
    private let session: any Session
    let features: Features

    init(_ session: any Session, features: Features) {
        self.session = session
        self.features = features
    }

    var passesThrough: Bool { features.passthrough }

    func register(backing descriptor: Int32) throws(Errno) -> Int32 {
        try session.register(backing: FileDescriptor(rawValue: descriptor))
    }

    func unregister(backing: Int32) { session.unregister(backing: backing) }
    func invalidate(entry name: [UInt8], in directory: UInt64) { session.invalidate(entry: name, in: directory) }
    func awaitNames(of directory: UInt64) { session.awaitNames(of: directory) }
    func invalidate(node: UInt64, data: Bool) { session.invalidate(node: node, data: data) }
}
