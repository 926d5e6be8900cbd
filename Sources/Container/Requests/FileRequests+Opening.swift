// Opens of files that exist, over the engine: they may have to wait for others.

import Coordination
import Glibc
import SystemPackage
import VersionModel

extension FileRequests {
    /// Opens a file that exists. `flags` as in open(2), O_TRUNC included.
    /// - Returns: nil if it waits.
    func open(
        _ caller: Caller, node id: UInt64, flags: Int32, waiting: (any WaitingOpen)? = nil
    ) throws(Errno) -> OpenReply? {
        let node = try tree.node(id)
        // The kernel opens pipes and devices by itself.
        guard node.isRegular else { throw Errno(rawValue: ENXIO) }
        if flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 {
            return try openForReading(caller, node, flags, waiting)
        }
        guard !node.isForeign else { return try openPlainly(caller, node, flags, try openBelow(node, flags)) }
        let program = try recorded.program(caller, isOpening: true)
        guard tree.isLive(node) else { return try openNameless(caller, node, flags, by: program) }
        let descriptor = try recorded.repeating { () throws(Errno) in try openBelow(node, flags) }
        let writing = serving.writing(node, descriptor, flags, caller, program.requester)
        let access = writing.coordinated == nil ? nil : coordination.updating(node)
        return try serving.open(writing, as: access, waiting, turn(node) { [self] () throws(Errno) in
            try openInTurn(writing, by: program)
        })
    }

    private func openInTurn(_ writing: OpenForWriting, by program: RecordedTree.Program) throws(Errno) -> OpenReply {
        var first: SharedDescriptor? = writing.descriptor
        do throws(Errno) {
            let reply = try recorded.repeating { () throws(Errno) in
                if let descriptor = first.take() { return try openForWriting(writing, descriptor, by: program) }
                return try openForWriting(writing, try openBelow(writing.node, writing.flags), by: program)
            }
            serving.hasOpened(writing.caller)
            return reply
        } catch {
            // It has lost its name while it waited.
            guard error.rawValue == ESTALE, !tree.isLive(writing.node) else { throw error }
            let reply = try openNameless(writing.caller, writing.node, writing.flags, by: program)
            serving.end(writing.claim, writing.coordinated)
            return reply
        }
    }

    private func turn(_ node: Node, _ open: @escaping @Sendable () throws(Errno) -> OpenReply) -> WaitingTurn {
        WaitingTurn(open: open, release: { [self] in release(node: node.id, handle: $0) })
    }

    private func openForReading(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply? {
        guard serving.policy.settings.plainReads == .wait, serving.coordinator.isInUse, let waiting,
            let path = tree.nodes.path(node)
        else { return try openForReading(caller, node, flags) }
        let access = Access(path: path, item: coordination.identity(of: node), kind: .reading([]))
        return try serving.openForReading(caller, access, waiting, turn(node) { [self] () throws(Errno) in
            try openForReading(caller, node, flags)
        })
    }
}
