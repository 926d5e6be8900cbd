// Descriptors of the directories in use, so that a request does not walk a path.

import Collections
import DequeModule
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Where a file is below: a path relative to an open directory; an empty one is the descriptor's own file.
struct Location {
    var directory: SharedDescriptor
    var path: [UInt8]
}

/// A bounded cache of O_PATH descriptors. A directory's descriptor stays valid after a rename. The cache may drop one
/// at any time, so the borrower holds it in a variable for as long as it uses the number. Lock order: last.
final class DirectoryDescriptors: Sendable {
    private struct State {
        var open: [UInt64: SharedDescriptor] = [:]
        var order: Deque<UInt64> = []
    }

    private let root: SharedDescriptor
    private let nodes: NodeTable
    private let store: ContainerState
    private let capacity: Int
    private let state = RankedMutex(State())

    init(root: SharedDescriptor, nodes: NodeTable, store: ContainerState, capacity: Int) {
        (self.root, self.nodes, self.store, self.capacity) = (root, nodes, store, capacity)
    }

    /// The directory's descriptor, for `at` calls.
    func descriptor(of node: Node) throws(Errno) -> SharedDescriptor {
        if node.id == Node.rootID { return root }
        if let known = state.withLock({ $0.open[node.id] }) { return known }
        let place = try location(of: node)
        let key = nodes.key(of: node)
        // A removed directory in use: its node holds its descriptor.
        if place.path.isEmpty { return place.directory }
        let raw = try CText.lend(place.path) { pointer throws(Errno) in
            try Backing.check {
                linuxOpenDirectory(place.directory.raw, pointer)
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

    /// Where the node's file is; ENOENT if it is nowhere.
    func location(of node: Node) throws(Errno) -> Location {
        if node.id == Node.rootID { return Location(directory: root, path: []) }
        let (name, whereabouts) = nodes.location(node)
        if name == nil, let held = nodes.held(node) { return Location(directory: held, path: []) }
        switch whereabouts {
        case .live:
            guard let name else { throw .noSuchFileOrDirectory }
            return Location(directory: try descriptor(of: name.parent), path: name.name.bytes)
        case .kept(let content):
            let place = store.contents.place(of: content)
            return Location(directory: borrowed(place.directory), path: Array(place.name.utf8))
        case .deleted(let deletion):
            let place = store.deletedArea.place(of: deletion)
            return Location(directory: borrowed(place.directory), path: Array(place.name.utf8))
        case .gone:
            throw .noSuchFileOrDirectory
        }
    }

    /// Borrows a descriptor that the store owns for as long as the container lives.
    private func borrowed(_ descriptor: FileDescriptor) -> SharedDescriptor {
        SharedDescriptor(borrowing: descriptor.rawValue)
    }

    /// Drops a directory that the kernel has forgotten or that is gone.
    func drop(_ id: UInt64) {
        state.withLock { state in
            // Its entry in `order` stays, and is skipped at the front.
            state.open[id] = nil
        }
    }
}
