// Contents that an operation gives to documents: of a version, a merged one, or one that only is to be kept.

import VersionModel

extension Planning {
    /// A place gets a version's content in a new file: a save of its document like a rename over it. It goes back to
    /// that version, too, and is no rival of the current one: who restores wants it to be replaced.
    mutating func restore(
        _ actor: ActorNumber, _ place: PlaceNumber, _ version: VersionNumber, _ newFile: FileID,
        settling losers: [VersionNumber]
    ) {
        guard let occupant = facts.occupant(of: place), let displaced = occupant.file, !occupant.hasNoVersions,
            facts[version] != nil
        else { return }
        saveUnfinished(displaced)
        prepareToLoseName(displaced)
        make(newFile, version, at: place)
        replace(occupant, with: newFile, from: version, by: actor)
        settle([version] + losers, in: occupant.document)
    }

    /// A place gets the merge of its current version and a loser. No program has seen that: the one of the
    /// current version works from it still, and its next save is merged, too.
    ///
    /// Nothing is done if the current version is another one, or unsaved bytes would follow it.
    mutating func merge(_ place: PlaceNumber, _ merged: Merged) {
        func isExpected(_ row: NameRow) -> Bool { facts.current(of: row.document) == merged.current }
        guard let occupant = facts.occupant(of: place), let displaced = occupant.file, !occupant.hasNoVersions,
            facts.conflicts(of: occupant.document).contains(merged.loser), isExpected(occupant),
            memory[displaced]?.isChanged == false
        else { return }
        prepareToLoseName(displaced)
        memory[merged.file] = LiveFile(
            id: merged.file, fingerprint: merged.fingerprint, modified: merged.modified, isChanged: true)
        pass(.name(merged.file, place))
        replace(occupant, with: merged.file, from: merged.loser, by: nil, actor: merged.actor)
        settle([merged.loser], in: occupant.document)
    }

    /// - Parameters:
    ///   - version: what the content was made from, besides the current version.
    ///   - author: of the save; nil for one that no program works from.
    ///   - actor: of the change of names.
    private mutating func replace(
        _ occupant: NameRow, with file: FileID, from version: VersionNumber, by author: ActorNumber?,
        actor: ActorNumber? = nil
    ) {
        let actor = actor ?? author
        if let actor {
            publish(occupant, gets: nil, by: actor)
        } else if facts[occupant.number]?.maker != nil {
            record(.publish(occupant.number))
        }
        var come = row(occupant.place, file, .restored, by: actor)
        let partings = partings(from: occupant.document, exceptAt: [occupant.place])
        goOn(&come, with: occupant)
        record(.row(come))
        part(partings, by: actor)
        if let author, let current = facts.current(of: come.document) { observe(author, current, in: come.document) }
        arrive(file, at: come, by: author, restoring: version)
    }

    /// A copy of a version gets a free name: a document of its own, which begins with that. Nothing comes back with the
    /// name.
    mutating func put(_ actor: ActorNumber, _ place: PlaceNumber, _ file: FileID, _ version: VersionNumber) {
        guard facts.occupant(of: place) == nil, let row = facts[version], !row.isForgotten, facts.isTold(row) else {
            return
        }
        make(file, version, at: place)
        var come = self.row(place, file, .restored, by: actor)
        come.origin = version
        record(.row(come))
        observe(actor, version, in: come.document)
    }

    /// A content that is kept already becomes a version beside the history of a document. It goes back to what the
    /// current version goes back to. If that is nothing, both go back to what was named for that.
    mutating func add(_ place: PlaceNumber, _ added: Added) {
        guard let occupant = facts.occupant(of: place), !occupant.hasNoVersions else { return }
        pass(nil)
        if facts[occupant.number]?.maker != nil { record(.publish(occupant.number)) }
        let current = facts.current(of: occupant.document).flatMap { facts[$0] }
        let before = current.flatMap { facts.ancestors(of: $0).first } ?? added.base
        if var current, let before, before == added.base {
            // Both began with that.
            current.parents = Parents(before, current.parents.second)
            record(.amend(current))
        }
        var version = VersionRow(
            number: VersionNumber(takeNumber()), time: now, row: occupant.number, content: added.content,
            fingerprint: added.fingerprint, file: added.content.file, modified: added.modified, author: added.actor)
        version.parents = Parents(before)
        version.base = added.isConflict ? before : nil
        version.beside = added.isConflict ? .conflict : .history
        record(.version(version))
    }
}
