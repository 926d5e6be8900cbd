// All nodes the kernel holds, by number and by file.

import Synchronization
import VersionModel

/// Owns the nodes and guards their names. Lock order: after the name lock and a document's; no system call is made and
/// no other lock is taken under it.
final class NodeTable: Sendable {
    private struct State {
        var byID: [UInt64: Node] = [:]
        var byKey: [BackingKey: Node] = [:]
        /// Deleted files that the kernel still knows.
        var byDeletion: [DeletionID: Node] = [:]
        var nextID = Node.rootID + 1
    }

    let root: Node
    /// Changes with each move of a directory, which invalidates all values derived from directories' places.
    let layout = Atomic<UInt64>(1)
    private let state: RankedMutex<State>

    init(root: FileStat) {
        let node = Node(id: Node.rootID, file: .root, type: root.type, key: root.key, standing: .own)
        node.lookups = 1
        self.root = node
        var state = State()
        state.byID[node.id] = node
        state.byKey[node.key] = node
        self.state = RankedMutex(state, .nodes)
    }

    var count: Int { state.withLock { $0.byID.count } }

    subscript(id: UInt64) -> Node? { state.withLock { $0.byID[id] } }

    func node(_ key: BackingKey) -> Node? { state.withLock { $0.byKey[key] } }

    /// The identity of a file that the kernel has looked up under this name.
    func file(_ key: BackingKey, type: UInt32, as name: FileName, in parent: Node) -> FileID? {
        state.withLock { state in
            guard let node = state.byKey[key], node.type == type, node.lookups > 0, let known = node.name,
                known.parent === parent, known.name == name
            else { return nil }
            return node.file
        }
    }

    /// The node of a file that was found under a name; counts `lookups` look-ups. A file with one link has no other
    /// name: another program has renamed it below.
    func intern(
        _ key: BackingKey, file: FileID, type: UInt32, standing: Node.Standing, as name: Node.Name, lookups: UInt64,
        links: UInt32
    ) -> Node {
        state.withLock { state in
            if let node = state.byKey[key], node.file == file {
                node.lookups += lookups
                if links == 1, node.isRegular, node.name != nil { (node.name, node.otherNames) = (name, []) }
                if node.add(name), node.isDirectory { changeLayout() }
                return node
            }
            let node = Node(id: state.nextID, file: file, type: type, key: key, standing: standing)
            state.nextID += 1
            node.name = name
            node.lookups = lookups
            state.byID[node.id] = node
            state.byKey[key] = node
            return node
        }
    }

    /// Adds a node that has no name (O_TMPFILE); counts one look-up.
    func internNameless(_ key: BackingKey, file: FileID, type: UInt32, held: SharedDescriptor) -> Node {
        state.withLock { state in
            let node = Node(id: state.nextID, file: file, type: type, key: key, standing: .own)
            state.nextID += 1
            node.lookups = 1
            node.whereabouts = .gone
            node.held = held
            state.byID[node.id] = node
            state.byKey[key] = node
            return node
        }
    }

    /// Counts a look-up by the daemon itself.
    func retain(_ node: Node) { state.withLock { _ in node.lookups += 1 } }

    /// Subtracts look-ups; returns the node if the kernel no longer knows it.
    func forget(_ id: UInt64, lookups: UInt64) -> Node? {
        state.withLock { state in
            guard let node = state.byID[id], id != Node.rootID else { return nil }
            node.lookups -= min(lookups, node.lookups)
            guard node.lookups == 0 else { return nil }
            state.byID[id] = nil
            if state.byKey[node.key] === node { state.byKey[node.key] = nil }
            if case .deleted(let deletion) = node.whereabouts { state.byDeletion[deletion] = nil }
            return node
        }
    }

    /// The present file below; another one after a replacement of the node's file.
    func key(of node: Node) -> BackingKey { state.withLock { _ in node.key } }

    /// The node's first name and the place of its file.
    func location(_ node: Node) -> (name: Node.Name?, whereabouts: Node.Whereabouts) {
        state.withLock { _ in (node.name, node.whereabouts) }
    }

    /// The place of its file; also notes the size and time in the answer to the kernel.
    func whereabouts(_ node: Node, seen stat: FileStat) -> Node.Whereabouts {
        state.withLock { _ in
            if node.isRegular { node.seen = (stat.size, stat.modified) }
            return node.whereabouts
        }
    }

    /// Its only name, with the kernel's size and time; nil if it has several, or was never looked up.
    func onlyName(_ node: Node) -> (name: Node.Name, seen: (size: UInt64, modified: Timestamp))? {
        state.withLock { _ in
            guard node.otherNames.isEmpty, let name = node.name, let seen = node.seen else { return nil }
            return (name, seen)
        }
    }

    /// All names of the node that the kernel knows.
    func names(_ node: Node) -> [Node.Name] {
        state.withLock { _ in (node.name.map { [$0] } ?? []) + node.otherNames }
    }

    /// The same, without an array for the usual case of one name.
    func allNames(_ node: Node) -> (first: Node.Name?, others: [Node.Name]) {
        state.withLock { _ in (node.name, node.otherNames) }
    }

    private func changeLayout() { layout.add(1, ordering: .sequentiallyConsistent) }

    func addName(_ names: borrowing NamesHeldAlone, _ name: Node.Name, to node: Node) {
        // Closed outside the lock.
        let held = state.withLock { state in
            if node.add(name), node.isDirectory { changeLayout() }
            if case .deleted(let deletion) = node.whereabouts { state.byDeletion[deletion] = nil }
            node.whereabouts = .live
            node.lostDocument = nil
            defer { node.held = nil }
            return node.held
        }
        withExtendedLifetime(held) {}
    }

    /// Whether the kernel knows the node, and only by one name: after its removal only open handles remain.
    func isLastName(of node: Node) -> Bool {
        state.withLock { _ in node.lookups > 0 && node.otherNames.isEmpty }
    }

    /// Keeps a file that is about to lose its last name; nil: it has kept the name.
    func hold(_ node: Node, _ descriptor: SharedDescriptor?) { state.withLock { _ in node.held = descriptor } }

    func held(_ node: Node) -> SharedDescriptor? { state.withLock { _ in node.held } }

    /// The node of an entry of the deleted area.
    func node(_ deletion: DeletionID) -> Node? { state.withLock { $0.byDeletion[deletion] } }

    /// Removes a name. For the last name, `whereabouts` is the new place of the file, and `document` its former
    /// document.
    func removeName(
        _ names: borrowing NamesHeldAlone, _ name: FileName, in parent: Node, of node: Node,
        now whereabouts: Node.Whereabouts, _ document: Document? = nil
    ) {
        state.withLock { state in
            node.remove(name, in: parent)
            if node.isDirectory { changeLayout() }
            guard node.name == nil else { return }
            node.lostName = Node.Name(parent: parent, name: name)
            node.whereabouts = whereabouts
            if node.lookups > 0 { node.lostDocument = document }
            if case .deleted(let deletion) = whereabouts, node.lookups > 0 { state.byDeletion[deletion] = node }
            // Its inode number may be reused: no look-up may find this node by it.
            if case .gone = whereabouts, state.byKey[node.key] === node { state.byKey[node.key] = nil }
        }
    }

    func moveName(
        _ names: borrowing NamesHeldAlone, _ name: FileName, in parent: Node, of node: Node, to new: Node.Name
    ) {
        state.withLock { _ in
            node.remove(name, in: parent)
            _ = node.add(new)
            if node.isDirectory { changeLayout() }
        }
    }

    func lostName(of node: Node) -> Node.Name? { state.withLock { _ in node.name == nil ? node.lostName : nil } }

    func lostDocument(of node: Node) -> Document? { state.withLock { _ in node.name == nil ? node.lostDocument : nil } }

    /// Separates a node from a kept content that has become a separate file.
    func detach(_ node: Node, _ descriptor: SharedDescriptor) {
        state.withLock { state in
            guard case .kept = node.whereabouts else { return }
            node.whereabouts = .gone
            node.held = descriptor
            if state.byKey[node.key] === node { state.byKey[node.key] = nil }
        }
    }

    /// A deleted file became a kept content.
    func relocate(_ deletion: DeletionID, to content: ContentID) {
        state.withLock { state in state.byDeletion.removeValue(forKey: deletion)?.whereabouts = .kept(content) }
    }

    /// Takes a deleted file out of the deleted area while a program may have it open.
    func detach(_ deletion: DeletionID, _ descriptor: SharedDescriptor) {
        state.withLock { state in
            guard let node = state.byDeletion.removeValue(forKey: deletion) else { return }
            node.whereabouts = .gone
            if node.held == nil { node.held = descriptor }
            if state.byKey[node.key] === node { state.byKey[node.key] = nil }
        }
    }

    /// Notes that the node's file was exchanged below; the kernel sees no difference.
    func replaceKey(of node: Node, with key: BackingKey) {
        state.withLock { state in
            if state.byKey[node.key] === node { state.byKey[node.key] = nil }
            node.key = key
            state.byKey[key] = node
        }
    }

    /// The path of a directory or file; nil if it has none.
    func path(_ node: Node) -> TreePath? {
        state.withLock { _ in
            let layout = layout.load(ordering: .sequentiallyConsistent)
            if let known = node.knownPath, known.layout == layout { return known.path }
            if let name = node.name, let known = name.parent.knownPath, known.layout == layout {
                return known.path.appending(name.name)
            }
            var names: [FileName] = []
            var current = node
            while current.id != Node.rootID {
                guard let name = current.name else { return nil }
                names.append(name.name)
                current = name.parent
            }
            let path = TreePath(names: names.reversed())
            if node.isDirectory { node.knownPath = (layout, path) }
            return path
        }
    }

    /// A directory's ancestors with their places, from itself up to the root's child.
    func chain(_ node: Node) -> [(node: Node, place: Place)] {
        state.withLock { _ in
            var result: [(Node, Place)] = []
            var current = node
            while current.id != Node.rootID, let name = current.name {
                result.append((current, Place(directory: name.parent.file, name: name.name)))
                current = name.parent
            }
            return result
        }
    }
}

extension Node {
    /// - Returns: whether it is new.
    fileprivate func add(_ new: Name) -> Bool {
        guard let first = name else {
            name = new
            return true
        }
        let same = { (other: Name) in other.parent === new.parent && other.name == new.name }
        guard !same(first), !otherNames.contains(where: same) else { return false }
        // A directory has one name, so a second one means that it was moved.
        if isDirectory { name = new } else { otherNames.append(new) }
        return true
    }

    fileprivate func remove(_ old: FileName, in parent: Node) {
        if let first = name, first.parent === parent, first.name == old {
            name = otherNames.popLast()
        } else {
            otherNames.removeAll { $0.parent === parent && $0.name == old }
        }
    }
}
