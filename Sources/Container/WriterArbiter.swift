// Lets programs that replace a file in place take turns: parks their opens and wakes them (DESIGN 4).

import Coordination
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// An open that may be answered later.
public protocol WaitingOpen: AnyObject, Sendable {
    /// Answers it; false if nobody waits any more, so that what was opened must be closed again.
    func complete(_ result: Result<OpenReply, Errno>) -> Bool
    /// Has a handler called when a signal comes for the caller.
    func onInterrupt(_ handler: @escaping @Sendable () -> Void)
}

/// Drives ``WriterClaims``. A claim is one on a file, not on the document that the file belongs to at the moment: a
/// rename may make it another's while it is being written. Lock order: last; woken opens go on outside the lock.
final class WriterArbiter: Sendable {
    fileprivate struct Watched {
        var descriptor: SharedDescriptor
        var stamp: Stamp?
    }

    /// An open that waits.
    fileprivate struct Parked {
        var node: Node
        var requester: Requester
        var resume: @Sendable () -> Void
    }

    fileprivate struct State {
        var claims: WriterClaims
        var next: UInt64 = 1
        var parked: [ClaimID: Parked] = [:]
        /// The files of items that somebody waits for, to see whether they still change.
        var watched: [ItemID: Watched] = [:]
        /// When the scheduler is to call, so that it is not asked twice.
        var called: Int64?
    }

    private let state: Mutex<State>
    private let scheduler: Scheduler
    /// Where opens go on whose time has come: one that truncates may copy a big file first, and the scheduler keeps
    /// everybody's deadlines.
    private let opens: Scheduler

    init(replaceWait: Int64, scheduler: Scheduler, opens: Scheduler) {
        state = Mutex(State(claims: WriterClaims(replaceWait: replaceWait)))
        self.scheduler = scheduler
        self.opens = opens
    }

    /// How long opens wait from now on, in nanoseconds.
    func set(replaceWait: Int64) { state.withLock { $0.claims.replaceWait = max(0, replaceWait) } }

    /// A claim that an open makes.
    func newClaim() -> ClaimID {
        state.withLock { state in
            defer { state.next += 1 }
            return ClaimID(state.next)
        }
    }

    /// Whether an open may go on; if not, `resume` is called when it may.
    /// - Parameter deadline: when it goes on at the latest.
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

    /// A program has made a file, and is about to write it. This never waits.
    /// - Parameter sharing: it was opened for reading and writing, without O_TRUNC: a database, perhaps.
    func created(_ node: Node, _ actor: FileActor?, sharing: Bool) -> ClaimID {
        state.withLock { state in
            defer { state.next += 1 }
            let claim = ClaimID(state.next)
            state.claims.created(claim, item: node.claimed, actor: actor, sharing: sharing, now: Scheduler.now)
            return claim
        }
    }

    /// A program has emptied a file that it has open.
    func truncated(_ claim: ClaimID, _ node: Node, _ actor: FileActor?) {
        state.withLock { $0.claims.truncated(claim, item: node.claimed, actor: actor, now: Scheduler.now) }
    }

    func closed(_ claim: ClaimID) {
        for resume in woken({ $0.claims.closed(claim, now: Scheduler.now) }) { resume() }
    }

    /// A signal has come for a parked open. A fatal one ends the wait with EINTR; after another the open goes on.
    func interrupted(_ claim: ClaimID, isFatal: Bool) {
        if isFatal { state.withLock { _ = $0.parked.removeValue(forKey: claim) } }
        for resume in woken({ $0.claims.interrupted(claim, isFatal: isFatal, now: Scheduler.now) }) { resume() }
    }

    /// The claims that are held and waited for, with who waits for what; a holder is known by its open file.
    func all() -> [(listed: WriterClaims.Listed, waiting: (node: Node, requester: Requester)?)] {
        state.withLock { state in
            // Passthrough tells nothing of writes: whoever has a file open may be writing it just now.
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

    /// What goes on with what `body` has woken.
    private func woken(_ body: (inout State) -> [WriterClaims.Resumption]) -> [@Sendable () -> Void] {
        state.withLock { state in
            // Nobody waits, as nearly always.
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
    /// Looks whether an item's file has changed since the last look; passthrough does not tell us.
    fileprivate mutating func look(at item: ItemID, _ descriptor: SharedDescriptor, _ now: Int64) {
        guard let stat = try? Backing.stat(descriptor.raw) else { return }
        let stamp = Stamp(stat)
        let last = watched.updateValue(.init(descriptor: descriptor, stamp: stamp), forKey: item)
        if let last, last.stamp == stamp { return }
        claims.changed(item, at: now)
    }
}

extension Node {
    /// The identity that a claim on the node's file names: the file's number, which is never given out again.
    fileprivate var claimed: ItemID { ItemID(high: 0, low: file.number) }
}
