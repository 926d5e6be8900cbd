// The arbiter of coordinated accesses: a pure state machine of claims, presenters, questions and deadlines.

import VersionModel

/// The rules of access: which claims are granted, when, and which presenters are asked first (DESIGN 4;
/// docs/decisions/0015).
///
/// It has no clock, lock or I/O: times come in, in nanoseconds of a clock that never goes back, and effects come out. A
/// claim has three phases: it *waits* for earlier claims that exclude it; its presenters are *asked*; it is *granted*.
/// Claims are served in the order of their arrival. A claim passes an earlier one that it excludes only if that one
/// waits for it: without passing, both would wait forever.
public struct Arbiter: Sendable {
    /// Time limits, in nanoseconds.
    public struct Limits: Hashable, Sendable {
        /// The time after which a waiting claim hears of its holders, and the holders are probed.
        public var notice: Int64
        /// The time after which a presenter without an answer, and a client without a sign of life, no longer hold up
        /// other claims.
        public var deadline: Int64

        public init(notice: Int64 = 1_000_000_000, deadline: Int64 = 10_000_000_000) {
            self.notice = max(0, notice)
            self.deadline = max(self.notice, deadline)
        }
    }

    enum Phase { case waiting, asking, granted }

    /// A claim that has not ended.
    struct Entry {
        var claim: Claim
        /// The units of its accesses: the items, or the packages around them.
        var units: [TreePath]
        /// Its position in the order of arrival.
        let arrival: UInt64
        let since: Int64
        var phase = Phase.waiting
        /// The claims that exclude it, in either order.
        var rivals: Set<ClaimID> = []
        /// The claims that it waits for.
        var blockers: Set<ClaimID> = []
        /// Earlier rivals that it does not wait for, because they wait for it.
        var passed: Set<ClaimID> = []
        /// The remaining questions to presenters, including the open one.
        var steps: [PresenterID: [Question]] = [:]
        /// The presenters that have relinquished and get a reacquire at its end, in that order.
        var owed: [PresenterID] = []
        /// The holders that its owner has heard of.
        var named: Set<Culprit> = []

        /// Whether it is granted.
        var isGranted: Bool { phase == .granted }
    }

    /// An open question.
    struct Asked {
        let presenter: PresenterID
        let claim: ClaimID
        let question: Question
        let since: Int64
    }

    /// The state of a client that holds up others.
    struct Pulse {
        /// The time of a probe without an answer since.
        var asked: Int64?
        /// The time of its last answer.
        var answered: Int64?
    }

    public let limits: Limits
    public private(set) var packages: Packages
    var claims: [ClaimID: Entry] = [:]
    /// The places of the claims.
    private(set) var index = ClaimIndex()
    /// Granted claims of clients.
    private(set) var held: Set<ClaimID> = []
    /// All claims that are not granted.
    private(set) var ungranted: Set<ClaimID> = []
    /// Claims that are not granted and nested in others.
    private(set) var nested: Set<ClaimID> = []
    /// Claims that are not granted and made in a presenter's handler.
    private(set) var handled: Set<ClaimID> = []
    /// Claims of plain programs that are not granted.
    private(set) var plainWaiting: Set<ClaimID> = []
    /// Claims that are not granted, by purpose.
    private(set) var waitingOfPurpose: [Purpose: Set<ClaimID>] = [:]
    /// Claims that are not granted and have passed others.
    var passers: Set<ClaimID> = []
    /// Claims to which presenters have relinquished.
    var owing: Set<ClaimID> = []
    /// The claims that wait for each claim.
    var dependents: [ClaimID: Set<ClaimID>] = [:]
    var presenters: [PresenterID: Presenter] = [:]
    /// Presenters that did not answer in time.
    var revoked: Set<PresenterID> = []
    var questions: [QuestionID: Asked] = [:]
    /// All questions without an answer, even if no claim waits for them any more: a presenter counts as silent even if
    /// each single claim has given up sooner.
    var outstanding: [QuestionID: (presenter: PresenterID, since: Int64)] = [:]
    var pulses: [ConnectionID: Pulse] = [:]
    private var nextArrival: UInt64 = 0
    /// The number of plain programs' claims.
    var plainCount = 0
    var nextQuestion: UInt64 = 1
    /// Claims to look at again.
    var attention: Set<ClaimID> = []
    /// The effects of the current input.
    var effects: [Effect] = []

    public init(packages: Packages = Packages(), limits: Limits = Limits()) {
        self.packages = packages
        self.limits = limits
    }

    // MARK: Claims

    /// Adds a claim. An id in use is ignored.
    public mutating func request(_ claim: Claim, now: Int64) -> [Effect] {
        guard claims[claim.id] == nil else { return [] }
        var claim = claim
        claim.within = claim.within.filter { claims[$0]?.isGranted == true }
        if claim.isPlain {
            // A program with a claim waits for the programs that it runs.
            for id in held {
                if let holder = claims[id]?.claim, Self.areKin(holder, claim) { claim.within.insert(id) }
            }
        }
        let entry = Entry(claim: claim, units: units(of: claim), arrival: nextArrival, since: now)
        claims[claim.id] = entry
        nextArrival += 1
        index.insert(entry)
        if claim.isPlain { plainCount += 1 }
        enterQueue(claim)
        setRivals(of: claim.id)
        setBlockers(of: claim.id, above: nil)
        attention.insert(claim.id)
        return settle(now)
    }

    private mutating func enterQueue(_ claim: Claim) {
        ungranted.insert(claim.id)
        if !claim.within.isEmpty { nested.insert(claim.id) }
        if claim.handling != nil { handled.insert(claim.id) }
        if claim.isPlain { plainWaiting.insert(claim.id) }
        if let purpose = claim.purpose { waitingOfPurpose[purpose, default: []].insert(claim.id) }
    }

    /// Removes a claim from the waiting ones.
    mutating func leaveQueue(_ claim: Claim) {
        guard ungranted.remove(claim.id) != nil else { return }
        nested.remove(claim.id)
        handled.remove(claim.id)
        plainWaiting.remove(claim.id)
        passers.remove(claim.id)
        guard let purpose = claim.purpose, let place = waitingOfPurpose.index(forKey: purpose) else { return }
        waitingOfPurpose.values[place].remove(claim.id)
        if waitingOfPurpose.values[place].isEmpty { waitingOfPurpose.remove(at: place) }
    }

    /// Marks a claim as granted: it leaves the queue, and is held if it is a client's.
    mutating func hold(_ claim: Claim) {
        leaveQueue(claim)
        if !claim.isPlain { held.insert(claim.id) }
    }

    /// Releases a claim that has ended.
    mutating func release(_ entry: Entry) {
        if entry.claim.isPlain { plainCount -= 1 }
        index.remove(entry)
        held.remove(entry.claim.id)
        owing.remove(entry.claim.id)
        leaveQueue(entry.claim)
    }

    /// Removes a presenter from the claims made in its handler.
    mutating func forgetHandling(of presenter: PresenterID) {
        for id in handled where claims[id]?.claim.handling == presenter {
            claims[id]?.claim.handling = nil
            handled.remove(id)
        }
    }

    /// Removes an ended claim from the claims nested in it.
    mutating func forgetNesting(in id: ClaimID) {
        for other in nested {
            claims[other]?.claim.within.remove(id)
            if claims[other]?.claim.within.isEmpty ?? true { nested.remove(other) }
        }
    }

    /// Releases a claim; a waiting one is cancelled.
    public mutating func release(_ id: ClaimID, now: Int64) -> [Effect] {
        if claims[id]?.isGranted == false { fail(id, .cancelled) } else { end(id) }
        return settle(now)
    }

    /// Cancels a waiting claim. A granted one stays until its release.
    public mutating func cancel(_ id: ClaimID, now: Int64) -> [Effect] {
        guard let entry = claims[id], !entry.isGranted else { return [] }
        fail(id, .cancelled)
        return settle(now)
    }

    /// Ends the wait of a plain program.
    public mutating func hurry(_ id: ClaimID, now: Int64) -> [Effect] {
        guard let entry = claims[id], !entry.isGranted, entry.claim.isPlain else { return [] }
        grant(id, .impatient)
        return settle(now)
    }

    /// Removes a client with its claims and presenters.
    public mutating func disconnected(_ connection: ConnectionID, now: Int64) -> [Effect] {
        for id in presenters.values.filter({ $0.connection == connection }).map(\.id).sorted() { forget(id) }
        for id in claims.values.filter({ $0.claim.connection == connection }).sorted(by: { $0.arrival < $1.arrival })
            .map(\.claim.id)
        { end(id) }
        pulses[connection] = nil
        return settle(now)
    }

    // MARK: Presenters

    /// Adds a presenter. An id in use is ignored.
    public mutating func present(_ presenter: Presenter) {
        if presenters[presenter.id] == nil { presenters[presenter.id] = presenter }
    }

    /// Sets the place of the presenter's item, which may be its first.
    public mutating func place(_ id: PresenterID, at path: TreePath?, item: ItemID?) {
        presenters[id]?.path = path
        presenters[id]?.item = item
    }

    /// Removes a presenter.
    public mutating func withdraw(_ id: PresenterID, now: Int64) -> [Effect] {
        forget(id)
        return settle(now)
    }

    /// Takes a presenter's answer. An answer without a matching question only shows that the presenter runs.
    public mutating func answer(_ id: QuestionID, _ answer: Answer, now: Int64) -> [Effect] {
        guard let presenter = outstanding.removeValue(forKey: id)?.presenter else { return [] }
        // Any answer shows that the presenter runs. No claim waits for its other late answers, and their delay does not
        // count against the next question.
        if revoked.remove(presenter) != nil { outstanding = outstanding.filter { $0.value.presenter != presenter } }
        guard let asked = questions.removeValue(forKey: id) else { return settle(now) }
        let mayRefuse = asked.question.mayBeRefused && presenters[presenter]?.mayRefuse ?? false
        // A plain program's open never fails for that: it continues, as it would without a presenter.
        if case .refused(let reason) = answer, mayRefuse, claims[asked.claim]?.claim.isPlain == false {
            fail(asked.claim, .refused(asked.presenter, reason))
        } else {
            goOn(asked.claim, with: asked.presenter, now)
        }
        return settle(now)
    }

    // MARK: Other events

    /// Handles a move, coordinated or not. A directory moves with its contents. Claims on the name itself stay.
    public mutating func moved(_ old: TreePath, to new: TreePath, now: Int64) -> [Effect] {
        for (id, presenter) in presenters {
            if let path = presenter.path?.moved(old, to: new) { presenters[id]?.path = path }
        }
        guard !old.bytes.isEmpty else { return [] }
        return relocate(index.claims(within: old), now) { access in
            access.kind.isOfName && access.path == old ? nil : access.path.moved(old, to: new)
        }
    }

    /// Handles the return of an item to its old name: the item that was moved away meanwhile, such as a backup, is
    /// another one from now on.
    public mutating func returned(_ item: ItemID, to path: TreePath, now: Int64) -> [Effect] {
        for (id, presenter) in presenters where presenter.item == item { presenters[id]?.path = path }
        return relocate(index.claims(of: item), now) { access in
            access.item == item && access.path != path && !access.kind.isOfName ? path : nil
        }
    }

    /// Sets the packages.
    public mutating func set(_ packages: Packages, now: Int64) -> [Effect] {
        guard packages != self.packages else { return [] }
        self.packages = packages
        for entry in claims.values {
            index.remove(entry)
            var entry = entry
            entry.units = units(of: entry.claim)
            index.insert(entry)
            claims[entry.claim.id] = entry
        }
        setRivals(ofAll: Array(claims.keys))
        return settle(now)
    }

    /// Moves accesses, and computes their rivals.
    /// - Parameters:
    ///   - ids: the possibly affected claims.
    ///   - place: the new place of an access; nil leaves it in place.
    private mutating func relocate(_ ids: Set<ClaimID>, _ now: Int64, _ place: (Access) -> TreePath?) -> [Effect] {
        var moved: [ClaimID] = []
        for id in ids {
            guard let old = claims[id] else { continue }
            var entry = old
            for (number, access) in old.claim.accesses.enumerated() {
                if let path = place(access) { entry.claim.accesses[number].path = path }
            }
            guard entry.claim.accesses != old.claim.accesses else { continue }
            entry.units = units(of: entry.claim)
            index.remove(old)
            index.insert(entry)
            claims[id] = entry
            moved.append(id)
        }
        guard !moved.isEmpty else { return [] }
        setRivals(ofAll: moved)
        return settle(now)
    }

    /// Notes that a client runs.
    public mutating func alive(_ connection: ConnectionID, now: Int64) {
        guard pulses[connection] != nil else { return }
        pulses[connection] = Pulse(asked: nil, answered: now)
    }

    /// Drops the claims of plain programs when no client takes part.
    public mutating func dropPlain() {
        guard !hasClients else { return }
        for id in Array(claims.keys) { end(id) }
        attention = []
        effects = []
    }

    func units(of claim: Claim) -> [TreePath] { claim.accesses.map { packages.unit(of: $0.path) } }

    /// Ids of claims in the order of their arrival.
    func inOrder(_ ids: some Sequence<ClaimID>) -> [ClaimID] {
        ids.compactMap { claims[$0] }.sorted { $0.arrival < $1.arrival }.map(\.claim.id)
    }
}

extension Question {
    /// Whether the claim fails after a refusal. Relinquishing cannot be refused.
    var mayBeRefused: Bool {
        switch self {
        case .relinquish: false
        case .save, .accommodateDeletion, .accommodateSubitemDeletion: true
        }
    }
}

extension TreePath {
    /// The new path after a move; nil if the move does not affect this path.
    func moved(_ old: TreePath, to new: TreePath) -> TreePath? {
        guard isWithin(old), !old.bytes.isEmpty else { return nil }
        return TreePath(bytes: new.bytes + bytes.dropFirst(old.bytes.count))
    }
}
