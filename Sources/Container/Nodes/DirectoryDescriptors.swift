// Descriptors of directories, kept for the ones in use so that a path is not walked for every request.

import Collections
import DequeModule
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// A bounded cache of O_PATH descriptors. A directory's descriptor stays right when it is renamed. The cache may let go
/// of one at any time: the borrower holds it, in a variable, for as long as it uses the number. Lock order: last.
final class DirectoryDescriptors: Sendable {
    private struct State {
        var open: [UInt64: SharedDescriptor] = [:]
        var order: Deque<UInt64> = []
    }

    private let root: SharedDescriptor
    private let capacity: Int
    private let state = Mutex(State())

    init(root: SharedDescriptor, capacity: Int) {
        self.root = root
        self.capacity = capacity
    }

    /// The directory's descriptor; `locate` says where to open it if it is not at hand, and which file it is.
    func descriptor(
        of node: Node, locate: (Node) throws(Errno) -> (parent: SharedDescriptor, name: [UInt8], key: BackingKey)
    ) throws(Errno) -> SharedDescriptor {
        if node.id == Node.rootID { return root }
        if let known = state.withLock({ $0.open[node.id] }) { return known }
        let (parent, name, key) = try locate(node)
        // A directory that is gone and still in use: what holds it is its descriptor.
        if name.isEmpty { return parent }
        let raw = try CText.lend(name) { pointer throws(Errno) in
            try Backing.check {
                linuxOpenDirectory(parent.raw, pointer)
            }
        }
        let descriptor = SharedDescriptor(raw)
        // Who looks without the name lock may find another directory under the name by now.
        let stat = try Backing.stat(raw)
        guard stat.key == key || node.isForeign else { throw Errno(rawValue: ESTALE) }
        state.withLock { state in
            if state.open.updateValue(descriptor, forKey: node.id) == nil { state.order.append(node.id) }
            while state.order.count > capacity, let oldest = state.order.popFirst() { state.open[oldest] = nil }
        }
        return descriptor
    }

    /// Lets go of a directory that the kernel has forgotten or that is gone.
    func drop(_ id: UInt64) {
        state.withLock { state in
            // Its place in `order` stays behind and is passed over when it comes to the front.
            state.open[id] = nil
        }
    }
}
