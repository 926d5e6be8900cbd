// What can be asked of the arbiter: who has claimed what, who waits, who presents.

import VersionModel

extension Arbiter {
    /// A claim as people may see it.
    public struct Listed: Hashable, Sendable {
        public var claim: Claim
        /// When it was made.
        public var since: Int64
        public var isWaiting: Bool
    }

    /// A claim that has not ended.
    public func claim(_ id: ClaimID) -> Claim? { claims[id]?.claim }

    /// Who holds a claim, or waits for it; nil for plain programs.
    public func connection(of id: ClaimID) -> ConnectionID? { claims[id]?.claim.connection }

    public func isGranted(_ id: ClaimID) -> Bool { claims[id]?.isGranted ?? false }

    /// Whether anyone waits for a claim to end: another claim, or a presenter that has relinquished to it.
    public func isWanted(_ id: ClaimID) -> Bool {
        claims[id]?.isGranted == true && (owing.contains(id) || dependents[id] != nil)
    }

    /// The plain programs' claims that are granted and wanted, in the order of their arrival.
    public var wantedPlain: [ClaimID] {
        hasWantedPlain ? inOrder(owing.union(dependents.keys).filter { isGrantedPlain($0) }) : []
    }

    public var hasWantedPlain: Bool {
        plainCount > 0 && (owing.contains { isGrantedPlain($0) } || dependents.keys.contains { isGrantedPlain($0) })
    }

    private func isGrantedPlain(_ id: ClaimID) -> Bool { claims[id].map { $0.isGranted && $0.claim.isPlain } ?? false }

    public func presenter(_ id: PresenterID) -> Presenter? { presenters[id] }

    /// Who was asked a question, also if nobody waits for the answer any more.
    public func presenterAsked(_ id: QuestionID) -> Presenter? {
        outstanding[id].flatMap { presenters[$0.presenter] }
    }

    /// All claims in the order of their arrival, but for those of plain programs that hold up nobody.
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

    /// Whether nothing is claimed or presented at all.
    public var isEmpty: Bool { claims.isEmpty && presenters.isEmpty }

    /// Whether any client takes part. Without one no plain program waits, and its claims need not be known.
    public var hasClients: Bool { !presenters.isEmpty || claims.count > plainCount }
}
