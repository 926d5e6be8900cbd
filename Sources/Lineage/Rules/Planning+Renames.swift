// Renames and exchanges (facts.md 2, the table of arrivals).

import VersionModel

extension Planning {
    /// rename(2).
    ///
    /// | the target | document of the new row | versions |
    /// |---|---|---|
    /// | is free, and its document comes back | that one | one |
    /// | is free, the old name was ephemeral, the new one is not | a new one | one |
    /// | is free otherwise | the file's own | none |
    /// | is a file | the target's | one; none if the content is equal |
    mutating func rename(_ actor: ActorNumber, from: PlaceNumber, to: PlaceNumber, isMadeUp: Bool) {
        guard let source = facts.occupant(of: from), let file = source.file, from != to else { return }
        let target = facts.occupant(of: to)
        // Two names of one file: the file system does nothing.
        if target?.file == file { return }
        if source.hasNoVersions { return renameDirectory(source, to: to, by: actor) }
        if let displaced = target?.file {
            saveUnfinished(displaced)
            prepareToLoseName(displaced)
        }
        let last = target ?? claim(to).flatMap { $0.document == source.document ? nil : $0 }
        if memory[file]?.holds != nil || facts.countOfNames(of: file) > 1 { saveUnfinished(file) }
        pass(.rename(from: from, to: to))
        if let target {
            publishStrangers(source, over: target, by: actor)
            publish(target, gets: source, by: actor)
        }

        // A save of another program, just now, has published the name.
        let isPublished = facts[source.number]?.maker == nil
        let staysEphemeral = !isPublished && isMadeUp && last == nil
        var gone = row(from, nil, .movedAway(to: nil), by: actor)
        var come = row(to, file, isPublished || staysEphemeral ? .moved : .created, by: actor)
        gone.how = .movedAway(to: come.number)
        if come.how == .moved { come.from = source.number }
        if staysEphemeral { come.maker = source.maker }
        // The name that moves is gone: it does not part from its document.
        let partings = last.map { self.partings(from: $0.document, exceptAt: [from, to]) } ?? []
        if let last {
            goOn(&come, with: last)
        } else if come.how == .moved {
            come.document = source.document
        }
        record(.row(gone))
        record(.row(come))
        part(partings, by: actor)
        let isPublication = !isPublished && !staysEphemeral && memory[file]?.holds != nil
        if !isPublished, !staysEphemeral { forgetVersions(ofMadeUp: source.document) }
        if last != nil || isPublication { arrive(file, at: come, by: actor) }
    }

    /// A directory's identity goes with its rename: one row for each of the two places, whatever is in it. An empty
    /// directory that it replaces is deleted.
    private mutating func renameDirectory(_ source: NameRow, to: PlaceNumber, by actor: ActorNumber) {
        let target = facts.occupant(of: to)
        pass(.rename(from: source.place, to: to))
        if target != nil { record(.row(row(to, nil, .removed, by: actor))) }
        var gone = row(source.place, nil, .movedAway(to: nil), by: actor)
        var come = row(to, source.file, .moved, by: actor)
        gone.how = .movedAway(to: come.number)
        come.from = source.number
        come.hasNoVersions = true
        record(.row(gone))
        record(.row(come))
    }

    /// RENAME_EXCHANGE: each place keeps its own document and gets the other's file, one version each. Directories
    /// travel along with their identities.
    mutating func exchange(_ actor: ActorNumber, _ one: PlaceNumber, _ other: PlaceNumber) {
        guard let first = facts.occupant(of: one), let second = facts.occupant(of: other), one != other,
            let firstFile = first.file, let secondFile = second.file
        else { return }
        let hasDirectory = first.hasNoVersions || second.hasNoVersions
        if !hasDirectory {
            saveUnfinished(firstFile)
            saveUnfinished(secondFile)
        }
        pass(.exchange(one, other))
        if firstFile == secondFile { return }
        if !hasDirectory {
            publish(first, gets: second, by: actor, isExchanged: true)
            publish(second, gets: first, by: actor, isExchanged: true)
        }
        var atOne = row(one, secondFile, .moved, by: actor)
        var atOther = row(other, firstFile, .moved, by: actor)
        (atOne.from, atOne.hasNoVersions) = (second.number, second.hasNoVersions)
        (atOther.from, atOther.hasNoVersions) = (first.number, first.hasNoVersions)
        if hasDirectory {
            // A file travels with its document, too.
            if !second.hasNoVersions { atOne.document = second.document }
            if !first.hasNoVersions { atOther.document = first.document }
            record(.row(atOne))
            record(.row(atOther))
            return
        }
        let fromFirst = partings(from: first.document, exceptAt: [one, other])
        let fromSecond = partings(from: second.document, exceptAt: [one, other])
        goOn(&atOne, with: first)
        goOn(&atOther, with: second)
        comeFromUnpublished(&atOne)
        comeFromUnpublished(&atOther)
        record(.row(atOne))
        record(.row(atOther))
        part(fromFirst, by: actor)
        part(fromSecond, by: actor)
        arrive(secondFile, at: atOne, by: actor)
        arrive(firstFile, at: atOther, by: actor)
    }

    /// A published row does not name one that is only in memory. One that is not published yet may be so first.
    private func comeFromUnpublished(_ row: inout NameRow) {
        guard let from = row.from, facts[from]?.maker != nil else { return }
        row.from = nil
        if row.maker == nil { row.how = .created }
    }
}
