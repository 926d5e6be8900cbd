// Further names, removals, and directories (facts.md 2 and 5).

import VersionModel

extension Planning {
    /// link(2): a further name of the file's document. An ephemeral name is published, because the file is wanted
    /// elsewhere.
    mutating func link(_ actor: ActorNumber, from: PlaceNumber, to: PlaceNumber) {
        guard let source = facts.occupant(of: from), facts.occupant(of: to) == nil, !source.hasNoVersions else {
            return
        }
        pass(.link(from: from, to: to))
        var row = row(to, source.file, .linked, by: actor)
        row.from = source.number
        row.document = source.document
        record(.row(row))
    }

    /// unlink(2). Unsaved bytes become a version, unless the program itself is writing them. The file's last content is
    /// kept; with `leavesNothing`, until the facts say that it is not needed any more.
    mutating func unlink(_ actor: ActorNumber, _ place: PlaceNumber, leavesNothing: Bool) {
        guard let row = facts.occupant(of: place), let file = row.file, !row.hasNoVersions else { return }
        guard facts.countOfNames(of: file) == 1 else {
            // Saves into the file, and its openings by this name, come before or after this.
            memory.asked?.note(file)
            let how = leavesNothing ? .hidden : removal(ofOneName: row, by: actor)
            pass(.unlink(place))
            return record(.row(self.row(place, nil, how, by: actor)))
        }
        let isOwn = memory.handles(of: file).contains {
            $0.mode != .read && !$0.isClosed && kin.areKin($0.actor, actor)
        }
        if !isOwn, !leavesNothing { saveUnfinished(file) }
        let name = facts[row.number] ?? row
        let isGone = leavesNothing && name.maker == nil
        let removal = isGone ? Removal(how: .hidden) : removal(ofLastName: name, by: actor)
        prepareToLoseName(file, without: removal.forgotten)
        pass(.unlink(place))
        if isGone { forgetVersions(of: row.document) }
        for version in removal.forgotten { record(.forget(version)) }
        if removal.isPublished { record(.publish(row.number)) }
        record(.row(self.row(place, nil, removal.how, by: actor)))
    }

    /// What a document was is not wanted any more. What another one began with stays.
    private mutating func forgetVersions(of document: DocumentNumber) {
        let versions = facts.versions(of: document).map(\.number)
        let gone = versions.filter { heirs(of: $0).isEmpty }
        for version in gone { record(.forget(version)) }
        drop(gone)
    }

    /// mkdir(2).
    mutating func makeDirectory(_ actor: ActorNumber, _ place: PlaceNumber, _ directory: FileID) {
        guard facts.occupant(of: place) == nil else { return }
        pass(.makeDirectory(place, directory))
        var row = row(place, directory, .created, by: actor)
        row.hasNoVersions = true
        record(.row(row))
    }

    /// rmdir(2).
    mutating func removeDirectory(_ actor: ActorNumber, _ place: PlaceNumber) {
        guard let row = facts.occupant(of: place), row.hasNoVersions else { return }
        pass(.removeDirectory(place))
        record(.row(self.row(place, nil, .removed, by: actor)))
    }
}
