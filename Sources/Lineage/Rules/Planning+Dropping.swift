// Single versions that go for good.

import VersionModel

extension Planning {
    /// Versions of a document go, as far as nothing keeps them (``Facts/stay(of:)``). Those that followed them go back
    /// to what was before (``Facts/ancestors(of:)``): no other version changes.
    ///
    /// A program that has seen one of them works from what was before that. If nothing was, it knows of no version, and
    /// is a rival of none.
    /// - Parameter sparesBases: whether those stay that programs work from.
    mutating func drop(_ versions: [VersionNumber], of document: DocumentNumber, sparesBases: Bool) {
        memory.asked?.note(document)
        pass(nil)
        let actors = sparesBases ? Set(memory.observations.map(\.actor)) : []
        let bases = actors.compactMap { base(of: $0, in: document) }
        var gone: [VersionNumber] = []
        for version in versions where facts.document(of: version) == document && !bases.contains(version) {
            guard facts[version]?.isForgotten == false, facts.stay(of: version) == nil else { continue }
            record(.forget(version))
            gone.append(version)
        }
        drop(gone)
        for index in memory.observations.indices {
            guard let seen = memory.observations[index].version, gone.contains(seen) else { continue }
            memory.observations[index].version = facts[seen].flatMap { facts.ancestors(of: $0).first }
        }
    }
}
