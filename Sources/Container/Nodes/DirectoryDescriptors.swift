// Descriptors of the directories in use, so that a request does not walk a path.

import Collections
import DequeModule
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// A bounded cache of O_PATH descriptors. A directory's descriptor stays valid after a rename. The cache may drop one
/// at any time, so the borrower holds it in a variable for as long as it uses the number. Lock order: last.
final class DirectoryDescriptors: Sendable {
    private struct State {
        var open: [UInt64: SharedDescriptor] = [:]
        var order: Deque<UInt64> = []
    }

    private let root: SharedDescriptor
    private let capacity: Int
    private let state = RankedMutex(State())

    init(root: SharedDescriptor, capacity: Int) {
        self.root = root
        self.capacity = capacity
    }

    /// The directory's descriptor; `locate` returns its place and its expected file if it is not in the cache.
    func descriptor(
        of node: Node, locate: (Node) throws(Errno) -> (parent: SharedDescriptor, name: [UInt8], key: BackingKey)
    ) throws(Errno) -> SharedDescriptor {
        if node.id == Node.rootID { return root }
        if let known = state.withLock({ $0.open[node.id] }) { return known }
        let (parent, name, key) = try locate(node)
        // A removed directory in use: its node holds its descriptor.
        if name.isEmpty { return parent }
        let raw = try CText.lend(name) { pointer throws(Errno) in
            try Backing.check {
                linuxOpenDirectory(parent.raw, pointer)
            }
        }
        let descriptor = SharedDescriptor(raw)
        // Without the name lock, the name may have another directory by now.
        let stat = try Backing.stat(raw)
        guard stat.key == key || node.isForeign else { throw Errno(rawValue: ESTALE) }
        state.withLock { state in
            if state.open.updateValue(descriptor, forKey: node.id) == nil { state.order.append(node.id) }
            while state.order.count > capacity, let oldest = state.order.popFirst() { state.open[oldest] = nil }
        }
        return descriptor
    }

    /// Drops a directory that the kernel has forgotten or that is gone.
    func drop(_ id: UInt64) {
        state.withLock { state in
            // Its entry in `order` stays, and is skipped at the front.
            state.open[id] = nil
        }
    }
}
