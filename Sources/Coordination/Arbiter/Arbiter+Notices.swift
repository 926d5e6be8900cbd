// Notices of actions that cannot wait: renames, deletions and truncations by plain programs.

import VersionModel

extension Arbiter {
    /// A program without a claim does something that never waits. Presenters get all their questions at once, and have
    /// their items back at once, without a wait for their answers. The holders of claims that exclude the access hear
    /// of it.
    ///
    /// If the program has a claim, only presenters without a question for that claim hear of the action: a claim on a
    /// directory's names does not concern presenters of items inside it.
    /// - Parameter id: a number that no claim has; presenters get it as the number of the access.
    public mutating func notice(_ access: Access, as id: ClaimID, by actor: FileActor?, now: Int64) -> [Effect] {
        let claim = Claim(id: id, connection: nil, accesses: [access], actor: actor, patience: 0)
        let entry = Entry(claim: claim, units: units(of: claim), arrival: 0, since: now)
        let own = ownAccesses(of: actor, around: entry)
        for presenter in presenters.values.sorted(by: { $0.id < $1.id }) {
            guard !own.contains(where: { $0.purpose == presenter.purpose || hasAsked($0, presenter) }) else { continue }
            var hasRelinquished = false
            for question in questions(of: claim, to: presenter) {
                let number = takeQuestion()
                outstanding[number] = (presenter.id, now)
                effects.append(.ask(number, presenter.id, question, for: id))
                if case .relinquish = question { hasRelinquished = true }
            }
            if hasRelinquished { effects.append(.reacquire(presenter.id, id)) }
        }
        let purposes = Set(own.compactMap(\.purpose))
        for holder in inOrder(findRivals(of: entry).intersection(held)) {
            guard let other = claims[holder]?.claim, other.purpose.map({ !purposes.contains($0) }) ?? true
            else { continue }
            effects.append(.disturbed(holder, access))
        }
        return settle(now)
    }

    /// A granted claim of the program, or of a program that has started it, for changes at the place.
    private struct OwnAccess {
        var purpose: Purpose?
        var access: Access
        /// Whether the claim covers the whole action, and not only an item in the same directory.
        var isWhole: Bool
        var isPreparation: Bool
    }

    private func ownAccesses(of actor: FileActor?, around entry: Entry) -> [OwnAccess] {
        guard let actor, let change = entry.claim.accesses.first, let unit = entry.units.first else { return [] }
        return held.compactMap { claims[$0] }.flatMap { own -> [OwnAccess] in
            guard let holder = own.claim.actor, actor.isOrDescends(from: holder) else { return [] }
            return zip(own.claim.accesses, own.units).compactMap { access, place in
                guard access.kind.strength != .reads else { return nil }
                let relation = ClaimMatrix.relation(ofLater: change, on: unit, toEarlier: access, on: place)
                guard relation == .same || relation == .laterIsInside else { return nil }
                return OwnAccess(
                    purpose: own.claim.purpose, access: access,
                    isWhole: relation == .same || access.kind.strength == .takesTree,
                    isPreparation: own.claim.isPreparation)
            }
        }
    }

    /// Whether the presenter got a question about the action when its claim was granted.
    private func hasAsked(_ own: OwnAccess, _ presenter: Presenter) -> Bool {
        guard own.isWhole, let path = presenter.path else { return false }
        let asked = PresenterRules.questions(
            for: own.access, to: PresenterRules.relation(of: path, presenter.item, to: own.access, packages),
            accommodatesSubitems: presenter.accommodatesSubitems, preparing: own.isPreparation)
        return !asked.isEmpty
    }
}
