// Names that programs make up, and what their removal takes along (facts.md 5).

import VersionModel

extension Planning {
    /// How long after a document parted its mover's removal of the copy hides it.
    static let partedCopyHides: Int64 = 3600 * 1_000_000_000
    /// How long a name that was made up is its maker's to throw away.
    static let madeUpFor: Int64 = 3600 * 1_000_000_000
    /// How long a link(2) and the unlink(2) of the other name count as one rename.
    static let linkIsRename: Int64 = 15 * 1_000_000_000

    /// Whether a file is scrap: it has no name, and the last one was made up and never published.
    func isScrap(_ id: FileID) -> Bool {
        facts.countOfNames(of: id) == 0 && facts.lastRow(of: id).map { $0.maker != nil } ?? true
    }

    /// How a name goes that is its file's last.
    ///
    /// | the name | is removed by | the removal |
    /// |---|---|---|
    /// | is ephemeral | its maker or kin of it, within an hour | is hidden, and its versions are forgotten |
    /// | is ephemeral, and another program has it open for writing | anyone | publishes it first, and is shown |
    /// | is ephemeral | another program | publishes it first, and is shown |
    /// | is of a copy that parted and was not saved since | its mover, within an hour | is hidden |
    /// | is any other | | is shown |
    func removal(ofLastName row: NameRow, by actor: ActorNumber) -> Removal {
        if row.maker != nil, isThrownAway(row, by: actor) {
            // No other document began with one of these versions: a document that has had two names is not ephemeral.
            return Removal(how: .hidden, forgotten: facts.versions(of: row.document).map(\.number))
        }
        return Removal(how: isOwnCopy(row, of: actor) ? .hidden : .removed, isPublished: row.maker != nil)
    }

    /// The effects of a removal, once the name is gone.
    struct Removal {
        var how: How
        var forgotten: [VersionNumber] = []
        var isPublished = false
    }

    /// How a name goes whose file has others.
    ///
    /// | the name | is removed by | the removal |
    /// |---|---|---|
    /// | was linked a moment ago, and its document has another one | its linker | is hidden: the name was passing |
    /// | has another beside it that was linked a moment ago | the linker of that | is hidden: both are a rename |
    /// | is any other | | is shown |
    func removal(ofOneName row: NameRow, by actor: ActorNumber) -> How {
        guard let file = row.file else { return .removed }
        func isJustLinked(_ name: NameRow) -> Bool {
            name.how == .linked && !name.isParted && name.actor == actor && now.since(name.time) <= Self.linkIsRename
        }
        let isPassing = isJustLinked(row) && facts.names(of: row.document).count > 1
        let isRename = facts.names(of: file).contains { $0.number != row.number && isJustLinked($0) }
        return isPassing || isRename ? .hidden : .removed
    }

    /// Whether a program gives up its own name: it made that up, or its kin did, not long ago, and no stranger is about
    /// to save into the file.
    private func isThrownAway(_ row: NameRow, by actor: ActorNumber) -> Bool {
        guard let maker = row.maker, kin.areKin(maker, actor), let made = facts.firstRow(of: row.document)?.time else {
            return false
        }
        return now.since(made) <= Self.madeUpFor && !isWrittenByOthers(row, than: maker)
    }

    private func isWrittenByOthers(_ row: NameRow, than maker: ActorNumber) -> Bool {
        row.file.map { memory.handles(of: $0).contains { !kin.areKin(maker, $0.actor) } } ?? false
    }

    /// An ephemeral name is about to get another file.
    ///
    /// | the name gets | it is published, because |
    /// |---|---|
    /// | any file, by a program outside its maker's lineage | that program wants the name |
    /// | any file, by a rename or a restore, and a stranger writes the former one | that saves without a name |
    /// | another program's file, by a rename | the file is not this program's to throw away |
    /// | a published file, by a rename | that file's former name says where it went |
    /// | a file that has another name, by an exchange | its saves are that name's, too |
    /// | a published file otherwise, by an exchange | it is not: what is thrown away is what the other name showed |
    mutating func publish(_ row: NameRow, gets arriving: NameRow?, by actor: ActorNumber, isExchanged: Bool = false) {
        guard let maker = facts[row.number]?.maker else { return }
        let isWanted =
            if isExchanged {
                arriving?.file.map { facts.countOfNames(of: $0) > 1 } ?? false
            } else {
                isWrittenByOthers(row, than: maker) || arriving.map { facts[$0.number]?.maker == nil } ?? false
            }
        if isWanted || !kin.areKin(maker, actor) { record(.publish(row.number)) }
    }

    /// The only name that a made-up document had is gone, because its file is another document's from now on. That has
    /// what it holds. No list shows what was saved before under the made-up name, and nothing of it is kept.
    mutating func forgetVersions(ofMadeUp document: DocumentNumber) {
        for version in facts.versions(of: document) { record(.forget(version.number)) }
    }

    /// A program renames another's file under a made-up name over one of its own: the other's is published first.
    mutating func publishStrangers(_ source: NameRow, over target: NameRow, by actor: ActorNumber) {
        guard let maker = facts[source.number]?.maker, facts[target.number]?.maker != nil,
            !kin.areKin(maker, actor)
        else { return }
        record(.publish(source.number))
    }

    /// A save by a program outside its maker's lineage publishes a name.
    mutating func publish(namesOf file: FileID, savedBy actor: ActorNumber?) {
        for name in facts.names(of: file) {
            guard let maker = facts[name.number]?.maker else { continue }
            let isMakers = actor.map { kin.areKin(maker, $0) } ?? false
            if !isMakers { record(.publish(name.number)) }
        }
    }

    /// Whether a document is a copy that another left behind when it went on with another file, without a save since,
    /// and this actor made it by its rename.
    private func isOwnCopy(_ row: NameRow, of actor: ActorNumber) -> Bool {
        guard let first = facts.firstRow(of: row.document), first.isParted, !facts.hasVersion(row.document) else {
            return false
        }
        let mover = first.from.flatMap { facts[$0] }?.actor
        let isMovers = [first.actor, mover].contains { $0.map { kin.areKin($0, actor) } ?? false }
        return isMovers && now.since(first.time) <= Self.partedCopyHides
    }
}
