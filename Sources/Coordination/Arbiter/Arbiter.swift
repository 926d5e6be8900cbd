// The arbiter of coordinated accesses: a pure machine of claims, presenters, questions and deadlines.

import VersionModel

/// Who may access what, when, and who is asked first (DESIGN 4; docs/decisions/0015).
///
/// Without clock, lock or I/O: times come in, in nanoseconds of a clock that only goes forward, and what is to be done
/// comes out. A claim passes through three phases: it *waits* for claims before it that exclude it; its presenters are
/// *asked*; it is *granted*. Claims are served in the order of their arrival, and none passes one that it excludes,
/// unless that one waits for it: then both would wait for ever.
public struct Arbiter: Sendable {
    /// How long things may take, in nanoseconds.
    public struct Limits: Hashable, Sendable {
        /// After which whoever waits hears who holds it up, and whoever holds is looked at.
        public var notice: Int64
        /// After which a presenter that has not answered, and a client that has not shown that it runs, holds up
        /// nobody.
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
        /// What its accesses are on: the items, or the packages that they lie in.
        var units: [TreePath]
        /// Its place in the order of arrival.
        let arrival: UInt64
        let since: Int64
        var phase = Phase.waiting
        /// Those that exclude it, whichever came first.
        var rivals: Set<ClaimID> = []
        /// The claims that it waits for.
        var blockers: Set<ClaimID> = []
        /// Earlier ones that it excludes and does not wait for, because they wait for it.
        var passed: Set<ClaimID> = []
        /// What presenters are still to be asked, the question that is out included.
        var steps: [PresenterID: [Question]] = [:]
        /// Who was asked to relinquish and is to hear when it is over, in that order.
        var owed: [PresenterID] = []
        /// Of whom its owner has heard that they hold it up.
        var named: Set<Culprit> = []

        /// Whether it holds its accesses.
        var isGranted: Bool { phase == .granted }
    }

    /// A question that is out.
    struct Asked {
        let presenter: PresenterID
        let claim: ClaimID
        let question: Question
        let since: Int64
    }

    /// What is known of a client that holds up others.
    struct Pulse {
        /// When it was looked at, if it has not answered since.
        var asked: Int64?
        /// When it last answered.
        var answered: Int64?
    }

    public let limits: Limits
    public private(set) var packages: Packages
    var claims: [ClaimID: Entry] = [:]
    /// Where they are.
    private(set) var index = ClaimIndex()
    /// Clients' claims that are granted.
    private(set) var held: Set<ClaimID> = []
    /// Those of all claims that are not granted.
    private(set) var ungranted: Set<ClaimID> = []
    /// Those that are not granted and nested in others.
    private(set) var nested: Set<ClaimID> = []
    /// Those that are not granted and that a presenter makes in its handler.
    private(set) var handled: Set<ClaimID> = []
    /// Those that are not granted and plain programs'.
    private(set) var plainWaiting: Set<ClaimID> = []
    /// Those that are not granted, by their purpose.
    private(set) var waitingOfPurpose: [Purpose: Set<ClaimID>] = [:]
    /// Those that are not granted and have passed others.
    var passers: Set<ClaimID> = []
    /// Claims to which presenters have relinquished.
    var owing: Set<ClaimID> = []
    /// For each claim those that wait for it, if any do.
    var dependents: [ClaimID: Set<ClaimID>] = [:]
    var presenters: [PresenterID: Presenter] = [:]
    /// Presenters that did not answer in time.
    var revoked: Set<PresenterID> = []
    var questions: [QuestionID: Asked] = [:]
    /// All that was asked and not answered, whether anyone waits for it or not: so a presenter is found silent though
    /// each who asked it went on sooner.
    var outstanding: [QuestionID: (presenter: PresenterID, since: Int64)] = [:]
    var pulses: [ConnectionID: Pulse] = [:]
    private var nextArrival: UInt64 = 0
    /// How many claims are plain programs'.
    var plainCount = 0
    var nextQuestion: UInt64 = 1
    /// Claims to look at again.
    var attention: Set<ClaimID> = []
    /// What is to be done, gathered until the input is dealt with.
    var effects: [Effect] = []

    public init(packages: Packages = Packages(), limits: Limits = Limits()) {
        self.packages = packages
        self.limits = limits
    }

    // MARK: Claims

    /// A claim is made. An id that is in use is not taken again.
    public mutating func request(_ claim: Claim, now: Int64) -> [Effect] {
        guard claims[claim.id] == nil else { return [] }
        var claim = claim
        claim.within = claim.within.filter { claims[$0]?.isGranted == true }
        if claim.isPlain {
            // Whoever runs a program under a claim waits for it.
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

    /// A claim waits no more.
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

    /// A claim is granted from now on: no longer in the queue, and held if it is a client's.
    mutating func hold(_ claim: Claim) {
        leaveQueue(claim)
        if !claim.isPlain { held.insert(claim.id) }
    }

    /// A claim has ended.
    mutating func letGo(_ entry: Entry) {
        if entry.claim.isPlain { plainCount -= 1 }
        index.remove(entry)
        held.remove(entry.claim.id)
        owing.remove(entry.claim.id)
        leaveQueue(entry.claim)
    }

    /// The presenter in whose handler claims are made is gone.
    mutating func forgetHandling(of presenter: PresenterID) {
        for id in handled where claims[id]?.claim.handling == presenter {
            claims[id]?.claim.handling = nil
            handled.remove(id)
        }
    }

    /// A claim has ended that others may be nested in.
    mutating func forgetNesting(in id: ClaimID) {
        for other in nested {
            claims[other]?.claim.within.remove(id)
            if claims[other]?.claim.within.isEmpty ?? true { nested.remove(other) }
        }
    }

    /// The holder is done; one that still waits is cancelled by that.
    public mutating func release(_ id: ClaimID, now: Int64) -> [Effect] {
        if claims[id]?.isGranted == false { fail(id, .cancelled) } else { end(id) }
        return settle(now)
    }

    /// Who waits for the claim does not want it any more. One that is granted stays until it is released.
    public mutating func cancel(_ id: ClaimID, now: Int64) -> [Effect] {
        guard let entry = claims[id], !entry.isGranted else { return [] }
        fail(id, .cancelled)
        return settle(now)
    }

    /// A plain program does not wait any longer.
    public mutating func hurry(_ id: ClaimID, now: Int64) -> [Effect] {
        guard let entry = claims[id], !entry.isGranted, entry.claim.isPlain else { return [] }
        grant(id, .impatient)
        return settle(now)
    }

    /// A client is gone, and with it what it had.
    public mutating func disconnected(_ connection: ConnectionID, now: Int64) -> [Effect] {
        for id in presenters.values.filter({ $0.connection == connection }).map(\.id).sorted() { forget(id) }
        for id in claims.values.filter({ $0.claim.connection == connection }).sorted(by: { $0.arrival < $1.arrival })
            .map(\.claim.id)
        { end(id) }
        pulses[connection] = nil
        return settle(now)
    }

    // MARK: Presenters

    /// Someone presents an item from now on. An id that is in use is not taken again.
    public mutating func present(_ presenter: Presenter) {
        if presenters[presenter.id] == nil { presenters[presenter.id] = presenter }
    }

    /// The presenter's item is here now: one that had none has got one.
    public mutating func place(_ id: PresenterID, at path: TreePath?, item: ItemID?) {
        presenters[id]?.path = path
        presenters[id]?.item = item
    }

    /// Someone presents no more.
    public mutating func withdraw(_ id: PresenterID, now: Int64) -> [Effect] {
        forget(id)
        return settle(now)
    }

    /// A presenter answers. An answer to nothing that was asked says only that it is there.
    public mutating func answer(_ id: QuestionID, _ answer: Answer, now: Int64) -> [Effect] {
        guard let presenter = outstanding.removeValue(forKey: id)?.presenter else { return [] }
        // Whatever it answers, it is there. Nobody waits for what else it was asked before it was passed over: that it is
        // late with those says nothing of the next.
        if revoked.remove(presenter) != nil { outstanding = outstanding.filter { $0.value.presenter != presenter } }
        guard let asked = questions.removeValue(forKey: id) else { return settle(now) }
        let mayRefuse = asked.question.mayBeRefused && presenters[presenter]?.mayRefuse ?? false
        // A plain program's open never fails for that: it goes on, as it would without a presenter.
        if case .refused(let reason) = answer, mayRefuse, claims[asked.claim]?.claim.isPlain == false {
            fail(asked.claim, .refused(asked.presenter, reason))
        } else {
            goOn(asked.claim, with: asked.presenter, now)
        }
        return settle(now)
    }

    // MARK: What else happens

    /// A name was moved, coordinated or not; directories take along what is in them. Claims on the name itself stay.
    public mutating func moved(_ old: TreePath, to new: TreePath, now: Int64) -> [Effect] {
        for (id, presenter) in presenters {
            if let path = presenter.path?.moved(old, to: new) { presenters[id]?.path = path }
        }
        guard !old.bytes.isEmpty else { return [] }
        return relocate(index.claims(within: old), now) { access in
            access.kind.isOfName && access.path == old ? nil : access.path.moved(old, to: new)
        }
    }

    /// An item has its old name again: what was moved away for a moment, as a backup, is another one from now on.
    public mutating func returned(_ item: ItemID, to path: TreePath, now: Int64) -> [Effect] {
        for (id, presenter) in presenters where presenter.item == item { presenters[id]?.path = path }
        return relocate(index.claims(of: item), now) { access in
            access.item == item && access.path != path && !access.kind.isOfName ? path : nil
        }
    }

    /// Other directories are packages from now on.
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

    /// Gives accesses other places, and finds out anew who excludes whom.
    /// - Parameters:
    ///   - ids: the claims that this may concern.
    ///   - place: where an access is now; nil leaves it where it was.
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

    /// A client has shown that it runs.
    public mutating func alive(_ connection: ConnectionID, now: Int64) {
        guard pulses[connection] != nil else { return }
        pulses[connection] = Pulse(asked: nil, answered: now)
    }

    /// Lets go of what plain programs hold, once no client takes part.
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
    /// Whether the claim fails if the answer is no. Leaving an item alone cannot be refused.
    var mayBeRefused: Bool {
        switch self {
        case .relinquish: false
        case .save, .accommodateDeletion, .accommodateSubitemDeletion: true
        }
    }
}

extension TreePath {
    /// Where this path is once a name was moved; nil if it is not concerned.
    func moved(_ old: TreePath, to new: TreePath) -> TreePath? {
        guard isWithin(old), !old.bytes.isEmpty else { return nil }
        return TreePath(bytes: new.bytes + bytes.dropFirst(old.bytes.count))
    }
}
