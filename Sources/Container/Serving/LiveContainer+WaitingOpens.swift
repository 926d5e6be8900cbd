// Opens that wait: for coordinated claims and presenters, then for others that are replacing the file; answered when
// they may go on.

import Coordination
import Glibc
import SystemPackage
import VersionModel

extension LiveContainer {
    /// With `plain-reads = "wait"`: presenters save first, and coordinated writers finish, up to the deadline.
    func readCoordinated(
        _ caller: Caller, _ node: Node, _ flags: Int32, _ waiting: any WaitingOpen
    ) throws(Errno) -> OpenReply? {
        guard let path = nodes.path(node) else { return try openForReading(caller, node, flags) }
        let claim = coordinator.newClaim()
        let isAdmitted = coordinator.admit(
            claim, Access(path: path, item: identity(of: node), kind: .reading([])),
            by: requester(caller, isOpening: true), descriptor: nil, patience: Arbiter.Limits().deadline, mayWait: true
        ) { [self] in
            coordinator.closed(claim)
            answer(waiting, node) { () throws(Errno) in try readAfterWaiting(caller, node, flags) }
        }
        if isAdmitted {
            // As in POSIX, a reader does not block writers: the claim was only for the time before the open.
            coordinator.closed(claim)
            return try openForReading(caller, node, flags)
        }
        serving.letInterrupt(claim, of: caller, waiting)
        return nil
    }

    /// During the wait another file may have taken the name, usually by a save: that is the one to read.
    private func readAfterWaiting(_ caller: Caller, _ node: Node, _ flags: Int32) throws(Errno) -> OpenReply {
        if isLive(node) { return try openForReading(caller, node, flags) }
        guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
        return try openPlain(caller, node, flags)
    }

    /// Answers an open that has waited, unless it waits again.
    func answer(
        _ waiting: (any WaitingOpen)?, _ node: Node, _ body: () throws(Errno) -> OpenReply?
    ) {
        let result: Result<OpenReply, Errno>
        do throws(Errno) {
            guard let reply = try body() else { return }
            result = .success(reply)
        } catch {
            result = .failure(error)
        }
        if waiting?.complete(result) != true, case .success(let reply) = result {
            release(node: node.id, handle: reply.handle)
        }
    }

    /// Opens a file for writing once others that are replacing it in place are done.
    func takeTurn(_ writing: OpenForWriting, _ waiting: (any WaitingOpen)?) throws(Errno) -> OpenReply? {
        let isAdmitted = serving.takesTurn(writing, waiting) { [self] in
            answer(waiting, writing.node) { () throws(Errno) in try goOn(writing) }
        }
        return isAdmitted ? try goOn(writing) : nil
    }
}
