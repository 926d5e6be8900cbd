// Which version a program works from, and whether that makes its save a rival (facts.md 3, "Conflict inputs").

import VersionModel

extension Planning {
    /// A program has seen a version; nil says that it works without one.
    mutating func observe(
        _ actor: ActorNumber?, _ version: VersionNumber?, in document: DocumentNumber, isRead: Bool = false
    ) {
        guard let actor else { return }
        memory.asked?.note(document)
        var observation = Observation(actor: actor, version: version, document: document, time: now)
        // It only matters to the children of its ancestors.
        observation.isRead = isRead && !kin.lineage(of: actor).isEmpty
        observation.isByRead = isRead
        memory.observe(observation)
    }

    /// How long what a program has read counts for the children of its ancestors.
    static let lentFor: Int64 = 900 * 1_000_000_000

    /// The newest version in a document's history, also before it had its present name, that a program has seen.
    ///
    /// | a program that has seen it | |
    /// |---|---|
    /// | the program itself, or one in whose lineage it is | counts |
    /// | another one that has its nearest ancestor in its lineage | counts for 15 minutes, where nothing else does |
    /// | the same, where that is a shell at a terminal, and not its parent | does not count (decisions/0007) |
    /// | the same, where none of them has read the document | does not count: a mere writer knows no content |
    /// | any other | does not count |
    public func base(of actor: ActorNumber, in document: DocumentNumber) -> VersionNumber? {
        memory.asked?.note(document)
        if memory.observations.isEmpty { return nil }
        func latest(_ counts: (Observation) -> Bool) -> Observation? {
            memory.observations.last { counts($0) && concerns($0, document) }
        }
        if let own = latest({ $0.actor == actor || kin.lends($0.actor, to: actor) }) { return own.version }
        for ancestor in kin.lenders(to: actor) {
            let hasReader = memory.observations.contains {
                $0.isRead && $0.version != nil && kin.lends($0.actor, to: ancestor) && concerns($0, document)
            }
            guard hasReader else { continue }
            let lent = latest {
                $0.version != nil && kin.lends($0.actor, to: ancestor) && now.since($0.time) <= Self.lentFor
            }
            if let lent { return lent.version }
        }
        return nil
    }

    /// Whether an observation is of a document. A version that is gone is in no history any more.
    func concerns(_ observation: Observation, _ document: DocumentNumber) -> Bool {
        guard let seen = observation.version, facts[seen]?.isForgotten == false else {
            return observation.document == document
        }
        return facts.goesBack(document, to: seen)
    }

    /// The base of a program if its save is a rival of the current version; nil if one follows the other.
    ///
    /// | the program | its save |
    /// |---|---|
    /// | has no base | follows |
    /// | or its kin has saved the current version, or it has seen it | follows |
    /// | has a base that goes back to the current version | follows |
    /// | has any other base, and the document is quiet | follows |
    /// | has any other base | is a rival |
    public func staleBase(
        of actor: ActorNumber?, in document: DocumentNumber, current: VersionNumber
    ) -> VersionNumber? {
        guard let actor, let base = base(of: actor, in: document), base != current,
            !(facts[current]?.author.map { kin.areKin($0, actor) } ?? false),
            !memory.observations.contains(where: {
                $0.version == current && ($0.actor == actor || kin.lends($0.actor, to: actor))
            }),
            !goesBack(base, to: current)
        else { return nil }
        return isQuiet(document) ? nil : base
    }

    /// What a save at a place would replace.
    public struct Replaced: Sendable {
        public var version: VersionRow
        /// The file that holds it.
        public var file: FileID
        /// Whether the program's save would be its rival.
        public var isStale: Bool
    }

    public func replaced(by actor: ActorNumber, at place: PlaceNumber) -> Replaced? {
        guard let row = facts.occupant(of: place), let file = row.file, let current = facts.current(of: row.document),
            let version = facts[current]
        else { return nil }
        let isStale = staleBase(of: actor, in: row.document, current: current) != nil
        return Replaced(version: version, file: file, isStale: isStale)
    }

    /// Whether a document is quiet: by any of its names, or by the last that it had.
    func isQuiet(_ document: DocumentNumber) -> Bool {
        let names = facts.names(of: document)
        let places = names.isEmpty ? facts.lastRow(of: document).map { [$0.place] } ?? [] : names.map(\.place)
        return places.contains { quiet.contains($0) }
    }

    /// The version for whose sake a content that would lose is left out: the base from which the winner's author has
    /// gone on, or a loser that is still to be settled, if it has the same content.
    ///
    /// An older version with the same content is none: a revert is an edit like any other.
    /// - Parameters:
    ///   - loser: the version that would lose; nil if the content is none yet.
    func standIn(
        for content: Fingerprint, of loser: VersionNumber?, base: VersionNumber, in document: DocumentNumber
    ) -> VersionNumber? {
        ([base] + facts.conflicts(of: document)).first { $0 != loser && facts.fingerprint($0) == content }
    }

    /// Whether a version goes back to another through its parents.
    private func goesBack(_ version: VersionNumber, to ancestor: VersionNumber) -> Bool {
        var (pending, seen) = ([version], [VersionNumber]())
        while let next = pending.popLast() {
            if next == ancestor { return true }
            guard !seen.contains(next), let parents = facts[next]?.parents else { continue }
            seen.append(next)
            if let first = parents.first { pending.append(first) }
            if let second = parents.second { pending.append(second) }
        }
        return false
    }
}
