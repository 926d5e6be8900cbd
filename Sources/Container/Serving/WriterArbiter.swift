// Lets programs that replace a file in place take turns: parks their opens and wakes them (DESIGN 4).

import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// An open that can be answered later.
public protocol WaitingOpen: AnyObject, Sendable {
    /// Answers it; false if no caller waits any more, so that the opened file must be closed again.
    func complete(_ result: Result<OpenReply, Errno>) -> Bool
    /// Sets a handler for a signal to the caller.
    func onInterrupt(_ handler: @escaping @Sendable () -> Void)
}

/// Drives ``WriterClaims``. A claim is on a file, not on the file's present document: a rename may give the file to
/// another document during a write. Lock order: last; woken opens continue outside the lock.
final class WriterArbiter: Sendable {
    fileprivate struct Watched {
        var descriptor: SharedDescriptor
        var stamp: Stamp?
    }

    /// A waiting open.
    fileprivate struct Parked {
        var node: Node
        var requester: Requester
        var resume: @Sendable () -> Void
    }

    fileprivate struct State {
        var claims: WriterClaims
        var next: UInt64 = 1
        var parked: [ClaimID: Parked] = [:]
        /// The files of items that opens wait for, to see whether they still change.
        var watched: [ItemID: Watched] = [:]
        /// The time of the next timer, so that it is set once.
        var called: Int64?
    }

    private let state: RankedMutex<State>
    private let scheduler: Scheduler
    /// The thread for opens whose wait is over. An open that truncates may first copy a big file, and the scheduler
    /// must keep all deadlines.
    private let opens: Scheduler

    init(replaceWait: Int64, scheduler: Scheduler, opens: Scheduler) {
        state = RankedMutex(State(claims: WriterClaims(replaceWait: replaceWait)), .claims)
        self.scheduler = scheduler
        self.opens = opens
    }

    /// Sets the longest wait of later opens, in nanoseconds.
    func set(replaceWait: Int64) { state.withLock { $0.claims.replaceWait = max(0, replaceWait) } }

    /// The claim of an open.
    func newClaim() -> ClaimID {
        state.withLock { state in
            defer { state.next += 1 }
            return ClaimID(state.next)
        }
    }

    /// Whether an open may continue; if not, `resume` is called later.
    /// - Parameter deadline: the latest time for it to continue.
    func admit(
        _ claim: ClaimID, of node: Node, _ requester: Requester, truncates: Bool,
        descriptor: SharedDescriptor, until deadline: Int64, mayWait: Bool, resume: @escaping @Sendable () -> Void
    ) -> Bool {
        let item = node.claimed
        let isGranted = state.withLock { state in
            let now = Scheduler.now
            if state.claims.isClaimed(item) { state.look(at: item, descriptor, now) }
            let admission = state.claims.open(
                claim, item: item, actor: requester.actor, truncates: truncates, until: deadline, now: now)
            switch admission {
            case .granted: return true
            case .parked(let end):
                guard mayWait, end > now else {
                    _ = state.claims.interrupted(claim, isFatal: false, now: now)
                    return true
                }
                state.parked[claim] = Parked(node: node, requester: requester, resume: resume)
                state.look(at: item, descriptor, now)
                return false
            }
        }
        if !isGranted { callLater() }
        return isGranted
    }

    /// Handles a new file that its program is about to write. This never waits.
    /// - Parameter sharing: whether it was opened for reading and writing, without O_TRUNC: possibly a database.
    func created(_ node: Node, _ actor: FileActor?, sharing: Bool) -> ClaimID {
        state.withLock { state in
            defer { state.next += 1 }
            let claim = ClaimID(state.next)
            state.claims.created(claim, item: node.claimed, actor: actor, sharing: sharing, now: Scheduler.now)
            return claim
        }
    }

    /// Handles the truncation of an open file to 0.
    func truncated(_ claim: ClaimID, _ node: Node, _ actor: FileActor?) {
        state.withLock { $0.claims.truncated(claim, item: node.claimed, actor: actor, now: Scheduler.now) }
    }

    func closed(_ claim: ClaimID) {
        for resume in woken({ $0.claims.closed(claim, now: Scheduler.now) }) { resume() }
    }

    /// Handles a signal for a parked open. A fatal one ends the wait with EINTR; after another one the open continues.
    func interrupted(_ claim: ClaimID, isFatal: Bool) {
        if isFatal { state.withLock { _ = $0.parked.removeValue(forKey: claim) } }
        for resume in woken({ $0.claims.interrupted(claim, isFatal: isFatal, now: Scheduler.now) }) { resume() }
    }

    /// The granted and waiting claims, with the waiting requesters; a holder is known by its open file.
    func all() -> [(listed: WriterClaims.Listed, waiting: (node: Node, requester: Requester)?)] {
        state.withLock { state in
            // Passthrough reports no writes: a program that has a file open may be writing it now.
            for (item, watched) in state.watched { state.look(at: item, watched.descriptor, Scheduler.now) }
            return state.claims.all(now: Scheduler.now).map { listed in
                (listed, state.parked[listed.claim.id].map { ($0.node, $0.requester) })
            }
        }
    }

    private func tick() {
        let resumed = woken { state in
            let now = Scheduler.now
            state.called = nil
            for item in state.claims.contestedItems {
                if let watched = state.watched[item] { state.look(at: item, watched.descriptor, now) }
            }
            return state.claims.tick(now: now)
        }
        if !resumed.isEmpty { opens.after(0) { for resume in resumed { resume() } } }
        callLater()
    }

    /// The opens that `body` has woken.
    private func woken(_ body: (inout State) -> [WriterClaims.Resumption]) -> [@Sendable () -> Void] {
        state.withLock { state in
            // No open waits, the usual case.
            if state.parked.isEmpty, state.watched.isEmpty {
                _ = body(&state)
                return []
            }
            let woken = body(&state).compactMap { state.parked.removeValue(forKey: $0.id)?.resume }
            let contested = Set(state.claims.contestedItems)
            state.watched = state.watched.filter { contested.contains($0.key) }
            return woken
        }
    }

    private func callLater() {
        let delay: Int64? = state.withLock { state in
            guard let due = state.claims.nextDeadline, state.called.map({ due < $0 }) ?? true else { return nil }
            state.called = due
            return due - Scheduler.now
        }
        guard let delay else { return }
        scheduler.after(delay) { [weak self] in self?.tick() }
    }
}

extension WriterArbiter.State {
    /// Checks whether an item's file has changed since the last look, because passthrough reports no writes.
    fileprivate mutating func look(at item: ItemID, _ descriptor: SharedDescriptor, _ now: Int64) {
        guard let stat = try? Backing.stat(descriptor.raw) else { return }
        let stamp = Stamp(stat)
        let last = watched.updateValue(.init(descriptor: descriptor, stamp: stamp), forKey: item)
        if let last, last.stamp == stamp { return }
        claims.changed(item, at: now)
    }
}

extension Node {
    /// The identity of a claim on the node's file: the file's number, which is never reused.
    fileprivate var claimed: ItemID { ItemID(high: 0, low: file.number) }
}
