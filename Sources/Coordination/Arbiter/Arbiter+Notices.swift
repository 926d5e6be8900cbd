// What cannot wait: renames, deletions and truncations of plain programs, told to whom they concern as they happen.

import VersionModel

extension Arbiter {
    /// A program that did not claim anything does something that waits for nobody. Presenters hear what they would
    /// have been asked, all of it at once, and have their items back at once: nobody waits for their answers. Holders
    /// of claims that exclude it hear what has become of what they hold.
    /// - Parameter id: a number that no claim has; it stands for the access in what presenters are told.
    public mutating func notice(_ access: Access, as id: ClaimID, by actor: FileActor?, now: Int64) -> [Effect] {
        let claim = Claim(id: id, connection: nil, accesses: [access], actor: actor, patience: 0)
        for presenter in presenters.values.sorted(by: { $0.id < $1.id }) {
            var hasRelinquished = false
            for question in questions(of: claim, to: presenter) {
                let number = takeQuestion()
                outstanding[number] = (presenter.id, now)
                effects.append(.ask(number, presenter.id, question, for: id))
                if case .relinquish = question { hasRelinquished = true }
            }
            if hasRelinquished { effects.append(.reacquire(presenter.id, id)) }
        }
        let entry = Entry(claim: claim, units: units(of: claim), arrival: 0, since: now)
        for holder in inOrder(claims.filter { $0.value.isGranted && !$0.value.claim.isPlain && conflict($0.value, entry) }.keys) {
            effects.append(.disturbed(holder, access))
        }
        return settle(now)
    }
}
