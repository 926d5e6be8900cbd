// The arbiter's listings: claims, waiting claims, presenters.

import VersionModel

extension Arbiter {
    /// A claim for listings.
    public struct Listed: Hashable, Sendable {
        public var claim: Claim
        /// The time of its request.
        public var since: Int64
        public var isWaiting: Bool
    }

    /// A claim that has not ended.
    public func claim(_ id: ClaimID) -> Claim? { claims[id]?.claim }

    /// The connection of a claim, granted or waiting; nil for plain programs.
    public func connection(of id: ClaimID) -> ConnectionID? { claims[id]?.claim.connection }

    public func isGranted(_ id: ClaimID) -> Bool { claims[id]?.isGranted ?? false }

    /// Whether a claim or a presenter waits for this claim to end. The presenter has relinquished to it.
    public func isWanted(_ id: ClaimID) -> Bool {
        claims[id]?.isGranted == true && (owing.contains(id) || dependents[id] != nil)
    }

    /// The granted claims of plain programs that hold up other claims, in the order of their arrival.
    public var wantedPlain: [ClaimID] {
        hasWantedPlain ? inOrder(owing.union(dependents.keys).filter { isGrantedPlain($0) }) : []
    }

    public var hasWantedPlain: Bool {
        plainCount > 0 && (owing.contains { isGrantedPlain($0) } || dependents.keys.contains { isGrantedPlain($0) })
    }

    private func isGrantedPlain(_ id: ClaimID) -> Bool { claims[id].map { $0.isGranted && $0.claim.isPlain } ?? false }

    public func presenter(_ id: PresenterID) -> Presenter? { presenters[id] }

    /// The presenter of a question, even if no claim waits for the answer any more.
    public func presenterAsked(_ id: QuestionID) -> Presenter? {
        outstanding[id].flatMap { presenters[$0.presenter] }
    }

    /// All claims in the order of their arrival, except plain programs' that hold up no other claim.
    public var shown: [Listed] {
        let wanted = Set(wantedPlain)
        return listed.filter { !$0.claim.isPlain || $0.isWaiting || wanted.contains($0.claim.id) }
    }

    /// All claims in the order of their arrival.
    public var listed: [Listed] {
        claims.values.sorted { $0.arrival < $1.arrival }
            .map { Listed(claim: $0.claim, since: $0.since, isWaiting: !$0.isGranted) }
    }

    /// All presenters, the oldest first.
    public var allPresenters: [(presenter: Presenter, isRevoked: Bool)] {
        presenters.values.sorted { $0.id < $1.id }.map { ($0, revoked.contains($0.id)) }
    }

    /// Whether there are no claims and no presenters.
    public var isEmpty: Bool { claims.isEmpty && presenters.isEmpty }

    /// Whether any client takes part. Without one no plain program waits, so its claims need not be tracked.
    public var hasClients: Bool { !presenters.isEmpty || claims.count > plainCount }
}
