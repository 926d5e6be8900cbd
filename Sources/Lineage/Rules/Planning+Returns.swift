// Documents and contents that a program asks back (facts.md 2, the rows "undelete" and "restore").

import VersionModel

extension Planning {
    /// A deleted document gets a name again: with its own file, if a program has that open still and no other document
    /// was saved in it since, else with a new file that holds its current version. There is no new version.
    mutating func undelete(_ actor: ActorNumber, _ number: RowNumber, _ place: PlaceNumber, _ newFile: FileID) {
        guard let row = facts[number], let former = row.file, facts.occupant(of: place) == nil else { return }
        let isFileThere =
            memory[former] != nil && facts.countOfNames(of: former) == 0
            && facts.lastRow(of: former)?.number == number
            && memory[former]?.holds.flatMap(facts.fingerprint)
                == facts.current(of: row.document).flatMap(facts.fingerprint)
        let file = isFileThere ? former : newFile
        if !isFileThere { make(newFile, facts.current(of: row.document)) }
        pass(.name(file, place))
        var come = self.row(place, file, .undeleted, by: actor)
        come.from = number
        come.document = row.document
        record(.row(come))
    }

    /// A place gets a version's content in a new file: a save of its document like a rename over it.
    mutating func restore(_ actor: ActorNumber, _ place: PlaceNumber, _ version: VersionNumber, _ newFile: FileID) {
        guard let occupant = facts.occupant(of: place), let displaced = occupant.file, !occupant.isDirectory,
            facts[version] != nil
        else { return }
        saveUnfinished(displaced)
        prepareToLoseName(displaced)
        make(newFile, version)
        pass(.name(newFile, place))
        var come = row(place, newFile, .restored, by: actor)
        let partings = partings(from: occupant.document, exceptAt: [place])
        goOn(&come, with: occupant)
        record(.row(come))
        part(partings, by: actor)
        arrive(newFile, at: come, by: actor)
    }

    private mutating func make(_ file: FileID, _ version: VersionNumber?) {
        // Its own saver may be going on with it, in a file that is open still.
        if let home = version.flatMap({ facts[$0] })?.content.file, home != file { saveUnfinished(home) }
        let row = version.flatMap { facts[$0] }
        perform(.make(file, row))
        memory[file] = LiveFile(
            id: file, fingerprint: row?.fingerprint ?? .empty, modified: now, isChanged: false, holds: version)
    }
}
