// Opens of programs without coordination: they wait for claims and make presenters relinquish, for a limited time, and
// hold a claim of their own while they change the file.

import Coordination
import VersionModel

extension Coordinator {
    /// The time between looks at plain programs' files that claims wait for.
    static let lookNanoseconds: Int64 = 100_000_000
    /// The time without a change of its file after which a plain program's claim ends (DESIGN 4).
    static let lapseNanoseconds: Int64 = 200_000_000

    /// Whether an open may continue; if not, `resume` is called later.
    /// - Parameters:
    ///   - descriptor: the file, to see whether it still changes; nil for an open for reading.
    ///   - patience: the longest wait, in nanoseconds.
    ///   - mayWait: whether it may wait; otherwise it continues at once, and its claim counts from now on.
    func admit(
        _ id: ClaimID, _ access: Access, by requester: Requester, descriptor: SharedDescriptor?, patience: Int64,
        mayWait: Bool, resume: @escaping @Sendable () -> Void
    ) -> Bool {
        var isAdmitted = false
        // Before any change, so that the first look shows one.
        let stamp = descriptor.flatMap { Stamp(of: $0) }
        drive { state, now in
            let party = CoordinationParty(
                process: requester.author.process, program: requester.author.program, user: requester.author.userID)
            state.opens[id] = PlainOpen(party: party, descriptor: descriptor, stamp: stamp, changed: now)
            var effects = state.arbiter.request(
                Claim(
                    id: id, connection: nil, accesses: [access], actor: requester.actor, patience: patience),
                now: now)
            if !mayWait, !state.arbiter.isGranted(id) { effects += state.arbiter.hurry(id, now: now) }
            isAdmitted = state.arbiter.isGranted(id)
            if !isAdmitted { state.opens[id]?.resume = resume }
            return effects
        }
        return isAdmitted
    }

    /// Handles a signal for a waiting open. A fatal one ends its claim; after another one it continues.
    func interrupted(_ id: ClaimID, isFatal: Bool) {
        guard isFatal else { return drive { state, now in state.arbiter.hurry(id, now: now) } }
        closed(id)
    }

    /// Ends the claim of a closed handle, of a failed open, or of an open for reading that waited only for presenters
    /// to save.
    func closed(_ id: ClaimID) {
        drive { state, now in
            state.forget(id)
            return state.arbiter.release(id, now: now)
        }
    }
}

extension Stamp {
    /// The stamp of an open file; nil if it cannot be read.
    fileprivate init?(of descriptor: SharedDescriptor) {
        guard let stat = try? Backing.stat(descriptor.raw) else { return nil }
        self.init(stat)
    }
}

extension Coordinator.State {
    /// Ends the claims of plain programs that others wait for, if their files have not changed for a while: the kernel
    /// writes without a report.
    mutating func lapse(_ now: Int64) -> [Effect] {
        var effects: [Effect] = []
        for id in arbiter.wantedPlain {
            guard let open = opens[id], open.resume == nil, let descriptor = open.descriptor else { continue }
            // A file that cannot be read counts as unchanged.
            if let stamp = Stamp(of: descriptor), stamp != open.stamp {
                opens[id]?.stamp = stamp
                opens[id]?.changed = now
                continue
            }
            guard open.changed + Coordinator.lapseNanoseconds <= now else { continue }
            forget(id)
            effects += arbiter.release(id, now: now)
        }
        return effects
    }
}
