// Files that the kernel reads and writes by itself: their registrations are made, counted and dropped here.

import CLinux
import DequeModule
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The registrations of files for passthrough. Lock order: last; the kernel is called without the lock.
final class Passthrough: Sendable {
    /// The number of files that may stay registered while not open, and the surplus before they are dropped.
    private static let mostIdle = 8192
    private static let surplus = 1024

    let kernel = KernelLink()
    private let nodes: NodeTable
    private let timers: Scheduler
    private let logger: Logger
    /// Registered nodes, oldest first; some may be gone by now.
    private let registered = RankedMutex<Deque<UInt64>>([])

    init(nodes: NodeTable, timers: Scheduler, logger: Logger) {
        (self.nodes, self.timers, self.logger) = (nodes, timers, logger)
    }

    /// Whether the kernel passes anything through.
    var isInUse: Bool { kernel.side?.passesThrough == true }

    /// The node's registration, made if there is none; 0 if the file is to be served without. The opening has been
    /// counted.
    ///
    /// - Parameters:
    ///   - descriptor: the file, if it is open.
    ///   - isKept: whether the registration may keep the descriptor open. One for writing would count as a writer for
    ///     as long, when it is asked whether a mapping goes on.
    ///   - open: opens the file with O_PATH, if there is no descriptor.
    func registration(
        of node: Node, _ descriptor: SharedDescriptor?, isKept: Bool, open: () throws(Errno) -> SharedDescriptor
    ) -> Int32 {
        let known: Int32? = node.openings.state.withLock { state in
            guard state.backing == 0, !state.cached else { return state.cached ? 0 : state.backing }
            return nil
        }
        if let known { return known }
        let made = register(node, descriptor, isKept: isKept, open: open)
        var surplus: Int32 = 0
        let chosen: Int32 = node.openings.state.withLock { state in
            if state.cached || state.backing != 0 {
                surplus = made
                return state.cached ? 0 : state.backing
            }
            state.backing = made
            if made == 0 { state.cached = true }
            return made
        }
        unregister(surplus)
        if made != 0, made == chosen { note(node) }
        return chosen
    }

    private func register(
        _ node: Node, _ descriptor: SharedDescriptor?, isKept: Bool, open: () throws(Errno) -> SharedDescriptor
    ) -> Int32 {
        guard let side = kernel.side, side.passesThrough, !node.isForeign else { return 0 }
        do {
            if let descriptor, isKept { return try side.register(backing: descriptor.raw) }
            let file: SharedDescriptor
            if let descriptor {
                file = SharedDescriptor(try Backing.open([], in: descriptor.raw, flags: linux_O_PATH))
            } else {
                file = try open()
            }
            return try withExtendedLifetime(file) { try side.register(backing: file.raw) }
        } catch {
            logger.debug("a file is served without passthrough: \(error)")
            return 0
        }
    }

    /// Lets the kernel free the blocks of a file that is gone and not open.
    /// - Returns: whether it has no registration now.
    @discardableResult
    func drop(_ node: Node) -> Bool {
        let backing: Int32? = node.openings.state.withLock { state in
            guard state.count == 0 else { return nil }
            defer { state.backing = 0 }
            return state.backing
        }
        if let backing { unregister(backing) }
        return backing != nil
    }

    /// The same for a node that the kernel has forgotten: no open of it can come.
    func dropForgotten(_ node: Node) {
        let backing = node.openings.state.withLock { state in
            defer { state.backing = 0 }
            return state.backing
        }
        unregister(backing)
    }

    func unregister(_ backing: Int32) { if backing != 0 { kernel.side?.unregister(backing: backing) } }

    /// Has the kernel drop the pages of a file, once the request at hand is answered.
    func changed(_ node: Node, data: Bool = true) {
        let id = node.id
        timers.after(0) { [kernel] in kernel.side?.invalidate(node: id, data: data) }
    }

    /// Has the kernel look a name up again.
    /// - Parameter isNaming: whether the request at hand holds the directory's names: then once it is answered.
    func changed(_ name: FileName, in directory: Node, isNaming: Bool) {
        let id = directory.id
        guard isNaming else { return kernel.tell([(id, name)]) }
        timers.after(0) { [kernel] in kernel.tell([(id, name)]) }
    }

    /// The kernel asks for a file's attributes whenever they are wanted, from now on: a mapping may change them unseen.
    /// Called with the writer among the file's. It may be called within a request for the file: no lock of the kernel's
    /// is wanted for attributes alone.
    func endAttributes(of node: Node) {
        guard node.hasLastingAttributes.exchange(false, ordering: .sequentiallyConsistent) else { return }
        kernel.side?.invalidate(node: node.id, data: false)
    }

    // MARK: Registrations that stay

    /// Notes a registration. A background thread drops the oldest files that are not open if there are too many.
    private func note(_ node: Node) {
        let isCrowded = registered.withLock { queue in
            queue.append(node.id)
            return queue.count > Self.mostIdle && queue.count.isMultiple(of: Self.surplus)
        }
        if isCrowded { timers.after(0) { [weak self] in self?.dropSurplus() } }
    }

    private func dropSurplus() {
        let surplus = registered.withLock { queue in
            let count = max(0, queue.count - Self.mostIdle)
            defer { queue.removeFirst(count) }
            return Array(queue.prefix(count))
        }
        for id in surplus {
            if let node = nodes[id], !drop(node) { registered.withLock { $0.append(id) } }
        }
    }
}
