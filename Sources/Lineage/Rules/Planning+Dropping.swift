// Single versions that stay as they are, or go for good.

import VersionModel

extension Planning {
    /// No handle amends a version any more, and no log goes on with it. If a handle has gone on with it already, it is
    /// amended first.
    mutating func pin(_ number: VersionNumber) {
        memory.asked?.note(number)
        amendOverwritten(number)
        guard var version = facts[number], !version.isForgotten else { return }
        if let document = facts.document(of: version) { memory.asked?.note(document) }
        pass(nil)
        for index in memory.handles.indices where memory.handles[index].saved == number {
            memory.handles[index].saved = nil
        }
        if version.isAppended {
            version.isAppended = false
            record(.amend(version))
        }
    }

    /// Versions of a document go, as far as nothing keeps them (``Facts/stay(of:)``). Those that followed them go back
    /// to what was before (``Facts/ancestors(of:)``): no other version changes.
    ///
    /// A program that has seen one of them works from what was before that. If nothing was, it goes on to work from the
    /// one that is gone: it has not seen what is current.
    /// - Parameter sparesBases: whether those stay that programs which still run work from.
    mutating func drop(_ versions: [VersionNumber], of document: DocumentNumber, sparesBases: Bool) {
        memory.asked?.note(document)
        pass(nil)
        let bases = sparesBases ? runningBases(in: document) : []
        var gone: [VersionNumber] = []
        for version in versions where facts.document(of: version) == document && !bases.contains(version) {
            guard facts[version]?.isForgotten == false, facts.stay(of: version) == nil else { continue }
            record(.forget(version))
            gone.append(version)
        }
        drop(gone)
        let nearest = facts.nearest(before: gone)
        let all = Set(gone)
        for index in memory.observations.indices {
            guard let seen = memory.observations[index].version, all.contains(seen) else { continue }
            memory.observations[index].version = nearest[seen] ?? seen
        }
    }

    /// What programs that still run have seen of a document, or programs that these have started.
    public func runningBases(in document: DocumentNumber) -> [VersionNumber] {
        let observers = Set(memory.observations.map(\.actor))
        let programs = observers.union(observers.flatMap { kin.lineage(of: $0) })
        return programs.filter { !(kin[$0]?.hasEnded ?? false) }.compactMap { base(of: $0, in: document) }
    }
}
