// The consequences of each input: claims advance, presenters get questions, ended claims are removed.

import VersionModel

extension Arbiter {
    /// Does all that is possible now, in the order of arrival, and returns the effects.
    mutating func settle(_ now: Int64) -> [Effect] {
        repeat {
            refreshBlockers()
            while let id = first(of: attention) {
                attention.remove(id)
                if look(at: id, now) { refreshBlockers() }
            }
        } while untie(now)
        defer { effects = [] }
        return effects
    }

    private func first(of ids: Set<ClaimID>) -> ClaimID? {
        ids.count <= 1 ? ids.first : ids.min { (claims[$0]?.arrival ?? 0) < (claims[$1]?.arrival ?? 0) }
    }

    /// Takes a claim to its next phase if possible.
    /// - Returns: whether it has advanced.
    private mutating func look(at id: ClaimID, _ now: Int64) -> Bool {
        guard let entry = claims[id], !entry.isGranted, entry.blockers.isEmpty else { return false }
        let isNew = entry.phase == .waiting
        if isNew { beginAsking(id, now) }
        // Another claim may have passed it while presenters were asked.
        guard let entry = claims[id], entry.steps.isEmpty, entry.blockers.isEmpty else { return isNew }
        grant(id, .free)
        return true
    }

    mutating func grant(_ id: ClaimID, _ grant: Grant) {
        guard let entry = claims[id] else { return }
        for blocker in entry.blockers { removeDependent(id, of: blocker) }
        if grant == .impatient {
            for holder in inOrder(entry.blockers.intersection(held)) {
                effects.append(contentsOf: entry.claim.accesses.map { .disturbed(holder, $0) })
            }
        }
        claims[id]?.blockers = []
        claims[id]?.steps = [:]
        claims[id]?.phase = .granted
        hold(entry.claim)
        for (question, asked) in questions where asked.claim == id { questions[question] = nil }
        effects.append(.granted(id, entry.claim.accesses, grant))
        // The rivals that it has passed wait for it now; those behind it already do.
        for rival in entry.rivals where claims[rival].map({ $0.arrival < entry.arrival && !$0.isGranted }) ?? false {
            addBlocker(id, to: rival)
        }
    }

    mutating func fail(_ id: ClaimID, _ failure: ClaimFailure) {
        guard let claim = claims[id]?.claim else { return }
        effects.append(.failed(claim, failure))
        end(id)
    }

    /// Removes a claim in any phase, and gives presenters their items back.
    mutating func end(_ id: ClaimID) {
        guard let entry = claims.removeValue(forKey: id) else { return }
        release(entry)
        attention.remove(id)
        for blocker in entry.blockers { removeDependent(id, of: blocker) }
        for (question, asked) in questions where asked.claim == id { questions[question] = nil }
        for presenter in entry.owed { effects.append(.reacquire(presenter, id)) }
        dependents[id] = nil
        // Every claim that waits for it is one of its rivals.
        for rival in entry.rivals {
            guard let place = claims.index(forKey: rival) else { continue }
            claims.values[place].rivals.remove(id)
            guard claims.values[place].blockers.remove(id) != nil else { continue }
            if claims.values[place].blockers.isEmpty { attention.insert(rival) }
        }
        forgetNesting(in: id)
    }

    // MARK: Questions

    private mutating func beginAsking(_ id: ClaimID, _ now: Int64) {
        guard let entry = claims[id] else { return }
        claims[id]?.phase = .asking
        for presenter in presenters.values.sorted(by: { $0.id < $1.id }) {
            let steps = questions(of: entry.claim, to: presenter)
            guard !steps.isEmpty else { continue }
            claims[id]?.steps[presenter.id] = steps
            askNext(id, presenter.id, now)
        }
    }

    func questions(of claim: Claim, to presenter: Presenter) -> [Question] {
        guard let path = presenter.path, !revoked.contains(presenter.id), presenter.id != claim.presenter,
            presenter.id != claim.handling, presenter.purpose != claim.purpose
        else { return [] }
        // A program that opens its own presented item gets no question.
        if claim.isPlain, let actor = claim.actor, let own = presenter.actor, actor.isKin(of: own) { return [] }
        let asked = PresenterRules.questions(
            for: claim.accesses,
            to: { access in
                PresenterRules.relation(of: path, presenter.item, to: access, packages)
            },
            accommodatesSubitems: presenter.accommodatesSubitems, preparing: claim.isPreparation)
        guard isPrepared(presenter.id, for: claim) else { return asked }
        return asked.filter { if case .relinquish = $0 { false } else { true } }
    }

    /// Whether the presenter has relinquished already for a preparation of the same purpose that still lasts.
    private func isPrepared(_ presenter: PresenterID, for claim: Claim) -> Bool {
        guard let purpose = claim.purpose, !claim.isPreparation else { return false }
        return claims.values.contains {
            $0.isGranted && $0.claim.isPreparation && $0.claim.purpose == purpose && $0.owed.contains(presenter)
        }
    }

    private mutating func askNext(_ id: ClaimID, _ presenter: PresenterID, _ now: Int64) {
        guard let question = claims[id]?.steps[presenter]?.first else {
            claims[id]?.steps[presenter] = nil
            attention.insert(id)
            return
        }
        if case .relinquish = question {
            claims[id]?.owed.append(presenter)
            owing.insert(id)
        }
        let number = takeQuestion()
        outstanding[number] = (presenter, now)
        questions[number] = Asked(presenter: presenter, claim: id, question: question, since: now)
        effects.append(.ask(number, presenter, question, for: id))
    }

    mutating func takeQuestion() -> QuestionID {
        defer { nextQuestion += 1 }
        return QuestionID(nextQuestion)
    }

    /// Continues after a presenter's answer to its last question.
    mutating func goOn(_ id: ClaimID, with presenter: PresenterID, _ now: Int64) {
        guard claims[id]?.steps[presenter] != nil else { return }
        claims[id]?.steps[presenter]?.removeFirst()
        askNext(id, presenter, now)
    }

    /// Removes a presenter: no claim waits for it, and it gets no reacquire.
    mutating func forget(_ id: PresenterID) {
        guard presenters.removeValue(forKey: id) != nil else { return }
        revoked.remove(id)
        outstanding = outstanding.filter { $0.value.presenter != id }
        letBe(id)
        for claim in owing {
            claims[claim]?.owed.removeAll { $0 == id }
            if claims[claim]?.owed.isEmpty ?? true { owing.remove(claim) }
        }
        forgetHandling(of: id)
    }

    /// Cancels the wait for a presenter's answers.
    mutating func letBe(_ id: PresenterID) {
        for (question, asked) in questions where asked.presenter == id {
            questions[question] = nil
            claims[asked.claim]?.steps[id] = nil
            attention.insert(asked.claim)
        }
    }
}
