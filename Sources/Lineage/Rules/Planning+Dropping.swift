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
    /// | another document began with one | |
    /// |---|---|
    /// | and there has to be more room (`sparesBases`) | it stays |
    /// | and a user wants it gone | it goes, and that document has its content as a version of its own |
    ///
    /// A program that has seen one of them works from what was before that. If nothing was, it goes on to work from the
    /// one that is gone: it has not seen what is current.
    /// - Parameter sparesBases: whether those stay that programs which still run work from.
    mutating func drop(_ versions: [VersionNumber], of document: DocumentNumber, sparesBases: Bool) {
        memory.asked?.note(document)
        pass(nil)
        let bases = sparesBases ? runningBases(in: document) : []
        var gone: [VersionNumber] = []
        var handedOver: [VersionNumber: [DocumentNumber: VersionNumber]] = [:]
        for version in versions where facts.document(of: version) == document && !bases.contains(version) {
            guard facts[version]?.isForgotten == false else { continue }
            if let stay = facts.stay(of: version), stay != .origin { continue }
            let heirs = heirs(of: version)
            if sparesBases, !heirs.isEmpty { continue }
            for heir in heirs { handedOver[version, default: [:]][heir] = handOver(version, to: heir) }
            record(.forget(version))
            gone.append(version)
        }
        drop(gone)
        let nearest = facts.nearest(before: gone)
        let all = Set(gone)
        for index in memory.observations.indices {
            guard let seen = memory.observations[index].version, all.contains(seen) else { continue }
            let own = handedOver[seen]?[memory.observations[index].document]
            memory.observations[index].version = own ?? nearest[seen] ?? seen
        }
    }

    /// The documents that began with a version and need it still (``Facts/needsOrigin(_:)``). One that was thrown away
    /// does as long as a program has it open, and may save.
    func heirs(of version: VersionNumber) -> [DocumentNumber] {
        facts.documents(from: version).filter { document in
            if facts.needsOrigin(document) { return true }
            memory.asked?.note(document)
            return memory.handles.contains { facts.lastRow(of: $0.file)?.document == document }
        }
    }

    /// A document that began with a version has that as its own from now on. It is what its names show, if it was not
    /// saved since; else it lies beside what they show.
    private mutating func handOver(_ number: VersionNumber, to document: DocumentNumber) -> VersionNumber? {
        memory.asked?.note(number)
        amendOverwritten(number)
        guard let version = facts[number],
            let row = facts.names(of: document).last ?? facts.lastRow(of: document)
        else { return nil }
        let file = row.file ?? version.file
        var own = VersionRow(
            number: VersionNumber(takeNumber()), time: now, row: row.number, content: version.content,
            fingerprint: version.fingerprint, file: file, modified: version.modified, author: version.author)
        own.parents = Parents(number)
        own.beside = facts.current(of: document) == number ? .no : .history
        own.isImage = version.isImage(of: file)
        record(.version(own))
        update(file) { if $0.holds == number { $0.holds = own.number } }
        return own.number
    }

    /// What programs that still run have seen of a document, or programs that these have started.
    public func runningBases(in document: DocumentNumber) -> [VersionNumber] {
        let observers = Set(memory.observations.map(\.actor))
        let programs = observers.union(observers.flatMap { kin.lineage(of: $0) })
        return programs.filter { !(kin[$0]?.hasEnded ?? false) }.compactMap { base(of: $0, in: document) }
    }
}
