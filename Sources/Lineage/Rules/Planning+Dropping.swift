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
