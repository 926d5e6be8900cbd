// Opens that wait: for coordinated claims and presenters, then for others that are replacing the file; answered when
// they may go on.

import Coordination
import Glibc
import SystemPackage
import VersionModel

/// What an open does when it may go on.
struct WaitingTurn: Sendable {
    var open: @Sendable () throws(Errno) -> OpenReply
    /// Closes a handle whose caller has not waited for it.
    var release: @Sendable (_ handle: UInt64) -> Void
}

extension Serving {
    /// An open for writing that is about to ask for its turn.
    /// - Parameter isDisplaced: whether its file has lost its name; claims are on names.
    func writing(
        _ node: Node, _ descriptor: SharedDescriptor, _ flags: Int32, _ caller: Caller, _ requester: Requester,
        isDisplaced: Bool = false
    ) -> OpenForWriting {
        OpenForWriting(
            node: node, descriptor: descriptor, flags: flags, caller: caller, requester: requester,
            claim: arbiter.newClaim(),
            coordinated: !isDisplaced && coordinator.isInUse ? coordinator.newClaim() : nil,
            patience: Patience(until: Scheduler.now + policy.settings.replaceWaitNanoseconds), isDisplaced: isDisplaced)
    }

    /// Opens a file for writing, once coordinated claims allow it and others that are replacing it in place are done.
    /// - Returns: nil if it waits.
    func open(
        _ writing: OpenForWriting, as access: Access?, _ waiting: (any WaitingOpen)?, _ turn: WaitingTurn
    ) throws(Errno) -> OpenReply? {
        guard let claim = writing.coordinated, let access else { return try takeTurn(writing, waiting, turn) }
        let isAdmitted = coordinator.admit(
            claim, access, by: writing.requester, descriptor: writing.descriptor,
            patience: policy.settings.replaceWaitNanoseconds, mayWait: waiting != nil
        ) { [self] in
            answer(waiting, turn) { () throws(Errno) in try takeTurn(writing, waiting, turn) }
        }
        if isAdmitted { return try takeTurn(writing, waiting, turn) }
        if let waiting { letInterrupt(writing, waiting) }
        return nil
    }

    private func takeTurn(
        _ writing: OpenForWriting, _ waiting: (any WaitingOpen)?, _ turn: WaitingTurn
    ) throws(Errno) -> OpenReply? {
        let isAdmitted = takesTurn(writing, waiting) { [self] in
            answer(waiting, turn) { () throws(Errno) in try goOn(writing, turn) }
        }
        return isAdmitted ? try goOn(writing, turn) : nil
    }

    private func goOn(_ writing: OpenForWriting, _ turn: WaitingTurn) throws(Errno) -> OpenReply {
        do throws(Errno) { return try turn.open() } catch {
            end(writing.claim, writing.coordinated)
            throw error
        }
    }

    /// Ends the claims of a handle.
    func end(_ claim: ClaimID?, _ coordinated: ClaimID?) {
        if let claim { arbiter.closed(claim) }
        if let coordinated { coordinator.closed(coordinated) }
    }

    /// With `plain-reads = "wait"`: presenters save first, and coordinated writers finish, up to the deadline.
    func openForReading(
        _ caller: Caller, _ access: Access, _ waiting: any WaitingOpen, _ turn: WaitingTurn
    ) throws(Errno) -> OpenReply? {
        let claim = coordinator.newClaim()
        let isAdmitted = coordinator.admit(
            claim, access, by: callers.requester(caller, isOpening: true), descriptor: nil,
            patience: Arbiter.Limits().deadline, mayWait: true
        ) { [self] in
            coordinator.closed(claim)
            answer(waiting, turn) { () throws(Errno) in try turn.open() }
        }
        if isAdmitted {
            // As in POSIX, a reader does not block writers: the claim was only for the time before the open.
            coordinator.closed(claim)
            return try turn.open()
        }
        letInterrupt(claim, of: caller, waiting)
        return nil
    }

    /// Answers an open that has waited, unless it waits again.
    private func answer(
        _ waiting: (any WaitingOpen)?, _ turn: WaitingTurn, _ body: () throws(Errno) -> OpenReply?
    ) {
        let result: Result<OpenReply, Errno>
        do throws(Errno) {
            guard let reply = try body() else { return }
            result = .success(reply)
        } catch {
            result = .failure(error)
        }
        if waiting?.complete(result) != true, case .success(let reply) = result { turn.release(reply.handle) }
    }
}
