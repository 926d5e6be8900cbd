// Opens of programs that know nothing of coordination: they wait for claims and have presenters relinquish, as long as
// they have patience, and hold a claim of their own while they change the file.

import Coordination
import VersionModel

extension Coordinator {
    /// How often the files of plain programs are looked at that somebody waits for.
    static let lookNanoseconds: Int64 = 100_000_000
    /// A plain program's claim ends when its file has not changed for so long (DESIGN 4).
    static let lapseNanoseconds: Int64 = 200_000_000

    /// Whether an open may go on; if not, `resume` is called when it may.
    /// - Parameters:
    ///   - descriptor: the file, to see whether it still changes; nil for who only reads.
    ///   - patience: how long it waits at most, in nanoseconds.
    ///   - mayWait: else it goes on at once, and its claim counts from now on.
    func admit(
        _ id: ClaimID, _ access: Access, by requester: Requester, descriptor: SharedDescriptor?, patience: Int64,
        mayWait: Bool, resume: @escaping @Sendable () -> Void
    ) -> Bool {
        var isAdmitted = false
        // Before it changes anything, so that the first look finds out whether it has.
        let stamp = descriptor.flatMap { Stamp(of: $0) }
        drive { state, now in
            let party = CoordinationParty(
                process: requester.author.process, program: requester.author.program, user: requester.author.userID)
            state.opens[id] = PlainOpen(party: party, descriptor: descriptor, stamp: stamp, changed: now)
            var effects = state.arbiter.request(
                Claim(id: id, connection: nil, accesses: [access], actor: requester.actor, patience: patience), now: now)
            if !mayWait, !state.arbiter.isGranted(id) { effects += state.arbiter.hurry(id, now: now) }
            isAdmitted = state.arbiter.isGranted(id)
            if !isAdmitted { state.opens[id]?.resume = resume }
            return effects
        }
        return isAdmitted
    }

    /// A signal has come for an open that waits. After one that is not fatal it goes on; else its claim ends.
    func interrupted(_ id: ClaimID, isFatal: Bool) {
        guard isFatal else { return drive { state, now in state.arbiter.hurry(id, now: now) } }
        closed(id)
    }

    /// The handle was closed, or the open failed, or it was one for reading that waited only for presenters to save.
    func closed(_ id: ClaimID) {
        drive { state, now in
            state.forget(id)
            return state.arbiter.release(id, now: now)
        }
    }
}

extension Stamp {
    /// Of an open file; nil if it cannot be looked at.
    fileprivate init?(of descriptor: SharedDescriptor) {
        guard let stat = try? Backing.stat(descriptor.raw) else { return nil }
        self.init(stat)
    }
}

extension Coordinator.State {
    /// Ends the claims of plain programs that somebody waits for, and whose files have not changed for a while: the
    /// kernel writes without telling.
    mutating func lapse(_ now: Int64) -> [Effect] {
        var effects: [Effect] = []
        for id in arbiter.wantedPlain {
            guard let open = opens[id], open.resume == nil, let descriptor = open.descriptor else { continue }
            // A file that cannot be looked at is as good as one that stays as it is.
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
