// What a save becomes (facts.md 3).

import VersionModel

extension Planning {
    /// The content of a file becomes a version of each document that the file is bound to; nothing if it has not
    /// changed.
    ///
    /// | the file | its content |
    /// |---|---|
    /// | goes on with a version that may be amended | amends that version |
    /// | has names | is a version of each document that they show |
    /// | has no name | belongs to the file's last row (``recordWithoutName(_:by:through:opened:)``) |
    /// | was made under an ephemeral name and has none any more | is scrap |
    mutating func record(
        _ id: FileID, by actor: ActorNumber?, through handle: HandleNumber?, isReplacing: Bool,
        opened: RowNumber? = nil
    ) {
        guard let file = memory[id], file.isChanged, !isScrap(id) else { return }
        if let version = versionToAmend(file, through: handle) {
            return amend(version, with: file, by: actor, through: handle)
        }
        endGenerationIfKept(id)
        let opened = opened ?? handle.flatMap { memory[$0] }?.opened ?? RowNumber(nextNumber)
        if facts.countOfNames(of: id) == 0 {
            return recordWithoutName(id, by: actor, through: handle, opened: opened)
        }
        guard let file = memory[id] else { return }
        recordUnderNames(
            file, content: file.content, by: actor, through: handle, isReplacing: isReplacing, opened: opened)
    }

    /// The row's document gets a version with this content, as far as the content differs from its current one.
    /// - Parameters:
    ///   - opened: when the saving handle was opened; nil for the arrival of a file, which is at home at once.
    ///   - restoring: the version that the file was made from.
    /// - Returns: the facts, not recorded yet, and the version that has the content now.
    mutating func version(
        at row: NameRow, of file: LiveFile, content: Content, fingerprint: Fingerprint, by actor: ActorNumber?,
        isReplacing: Bool, isAppended: Bool = false, isImage: Bool = false, opened: RowNumber? = nil,
        restoring: VersionNumber? = nil
    ) -> (facts: [Fact], version: VersionNumber) {
        let current = facts.current(of: row.document)
        amendOverwritten(current, exceptIn: file.id)
        if let current, facts.fingerprint(current) == fingerprint { return ([], current) }
        var recorded: [Fact] = []
        var version = VersionRow(
            number: VersionNumber(takeNumber()), time: now, row: row.number, content: content, fingerprint: fingerprint,
            file: file.id, modified: file.modified, author: actor)
        // Which it is that is gone, no fact says.
        version.base = actor.flatMap { base(of: $0, in: row.document) }.flatMap(known)
        version.parents = Parents(current)
        if isReplacing, let current {
            if let stale = staleBase(of: actor, in: row.document, current: current),
                let lost = facts.fingerprint(current),
                standIn(for: lost, of: current, base: stale, in: row.document) == nil
            {
                version.loser = current
                version.parents = Parents(known(stale))
            }
            // A save settles no conflict that another document still has.
            if let base = version.base, base != current, facts.conflicts(of: row.document).contains(base),
                facts.document(of: base) == row.document || !facts.isConflict(base)
            {
                recorded.append(.settle(base))
                version.parents.add(base)
            }
        }
        if let restoring, facts.goesBack(row.document, to: restoring) { version.parents.add(restoring) }
        (version.isAppended, version.isImage) = (isAppended, isImage)
        version.isAtHome = row.isContinuing || opened.map { $0 > row.number } ?? true
        recorded.append(.version(version))
        return (recorded, version.number)
    }

    /// A version, unless it is gone for good.
    private func known(_ version: VersionNumber) -> VersionNumber? {
        facts[version]?.isForgotten == false ? version : nil
    }

    /// A file has come to a place whose document goes on (a rename over it, an exchange, a restore): a save of that
    /// document. The row is recorded already.
    mutating func arrive(
        _ id: FileID, at row: NameRow, by actor: ActorNumber?, restoring: VersionNumber? = nil
    ) {
        guard let former = memory[id] else { return }
        if former.isChanged || former.holds == nil { endGenerationIfKept(id) }
        guard let file = memory[id] else { return }
        var (content, fingerprint, isImage) = (file.content, file.fingerprint, false)
        if !former.isChanged, let held = former.holds, let version = facts[held] {
            (content, fingerprint, isImage) = (version.content, version.fingerprint, version.isImage(of: id))
            // What its handle saved under the former name is whole. Further writes are another save.
            memory.asked?.note(id)
            for index in memory.handles.indices
            where memory.handles[index].file == id && memory.handles[index].saved == held {
                memory.handles[index].saved = nil
            }
        }
        let (recorded, version) = version(
            at: row, of: file, content: content, fingerprint: fingerprint, by: actor, isReplacing: true,
            isImage: isImage, restoring: restoring)
        for fact in recorded { record(fact) }
        if former.isChanged {
            // A handle that is in the middle of writing goes on with this version.
            for index in memory.handles.indices {
                let handle = memory.handles[index]
                guard handle.file == id, !handle.isClosed, handle.mode != .read else { continue }
                memory.handles[index].saved = version
                memory.handles[index].isDirty = false
            }
        }
        hold(version, in: id, through: nil, by: actor)
    }

    /// From now on the file holds this version, as that handle has saved it and this actor has seen it.
    mutating func hold(
        _ version: VersionNumber, in id: FileID, through handle: HandleNumber?, by actor: ActorNumber?
    ) {
        update(id) { file in
            file.holds = version
            file.isChanged = false
            file.isOnlyExtended = true
            file.beginsWithHeld = true
        }
        if let handle {
            memory[handle]?.saved = version
            memory[handle]?.isDirty = false
            memory[handle]?.hasEmptied = false
        }
        disown(version, exceptBy: handle, in: id)
        if let document = facts.document(of: version) { observe(actor, version, in: document) }
        guardUnseenWriters(of: id)
    }

    /// A close disowns all other handles: their further writes are no part of this save. Where no handle has saved
    /// it, a file that comes to hold a version disowns those of other files, which would change it for both.
    mutating func disown(_ version: VersionNumber, exceptBy handle: HandleNumber?, in file: FileID) {
        memory.asked?.note(version)
        for index in memory.handles.indices where memory.handles[index].saved == version {
            let other = memory.handles[index]
            let isExcepted = handle.map { other.number == $0 } ?? (other.file == file)
            if !isExcepted { memory.handles[index].saved = nil }
        }
    }

    // MARK: The cases of a save

    private mutating func amend(
        _ version: VersionRow, with file: LiveFile, by actor: ActorNumber?, through handle: HandleNumber?
    ) {
        var amended = version
        amended.fingerprint = file.fingerprint
        amended.modified = file.modified
        amended.isAppended = version.isAppended && isExtension(file)
        // A rival stays that of the program whose rename or exchange made it one: no program is its own rival.
        // What several append as one is that of the program that has begun it.
        if version.loser == nil, !amended.isAppended || version.author == nil {
            amended.author = actor ?? version.author
        }
        // A handle that was opened at the present name saves there, also if the version began under the former one.
        if let opened = handle.flatMap({ memory[$0] })?.opened,
            let row = facts.names(of: file.id).first(where: { $0.document == facts.document(of: version) }),
            row.number > version.row, opened > row.number
        {
            (amended.row, amended.isAtHome) = (row.number, true)
        }
        amended.time = now
        record(.amend(amended))
        publish(namesOf: file.id, savedBy: actor)
        hold(version.number, in: file.id, through: handle, by: actor)
    }

    /// - Parameter content: where the bytes are: in the file, or in an image of it.
    mutating func recordUnderNames(
        _ file: LiveFile, content: Content, by actor: ActorNumber?, through handle: HandleNumber?, isReplacing: Bool,
        opened: RowNumber
    ) {
        let id = file.id
        let handlesPlace = handle.flatMap { memory[$0] }?.place
        let isAppended = handle.flatMap { memory[$0] }?.mode == .append && isExtension(file)
        var documents: [DocumentNumber] = []
        var recorded: [Fact] = []
        var held: VersionNumber?
        var saved: [(VersionNumber, DocumentNumber)] = []
        let names = facts.names(of: id)
        for name in names where !documents.contains(name.document) {
            documents.append(name.document)
            // Of a document's several names, the one that the handle was opened by.
            let row = names.first { $0.document == name.document && $0.place == handlesPlace } ?? name
            let (version, number) = version(
                at: row, of: file, content: content, fingerprint: file.fingerprint, by: actor,
                isReplacing: isReplacing, isAppended: isAppended, isImage: content != memory[id]?.content,
                opened: opened)
            held = held ?? number
            recorded += version
            saved.append((number, name.document))
        }
        publish(namesOf: id, savedBy: actor)
        for fact in recorded { record(fact) }
        for (version, document) in saved { observe(actor, version, in: document) }
        // A version that has its content here, where there is one.
        let own = facts.versions(in: content).last { $0.fingerprint == file.fingerprint }
        if let held = own?.number ?? held { hold(held, in: id, through: handle, by: actor) }
    }

    /// A database is a version of each document that it shows, as its readers see it. Its file goes on with the bytes
    /// that it has: it counts as saved as it is, and no handle goes on with the version. What only the file has of
    /// earlier versions is kept: those are not looked for in the file of an image. No image is kept where the current
    /// version has its bytes.
    mutating func capture(_ place: PlaceNumber, _ captured: Captured) {
        guard let row = facts.occupant(of: place), let id = row.file, !row.hasNoVersions, var image = memory[id] else {
            return
        }
        pass(nil)
        if isSoleKeeper(image), facts.current(of: row.document).flatMap(facts.fingerprint) != captured.fingerprint {
            keep(id)
        }
        image.fingerprint = captured.fingerprint
        recordUnderNames(
            image, content: captured.content, by: captured.actor, through: nil, isReplacing: false,
            opened: RowNumber(nextNumber))
        let labels = recorded.compactMap { fact -> Label? in
            guard case .version(let version) = fact, version.content == captured.content else { return nil }
            return facts[version.row].map { Label(version: version, at: $0) }
        }
        if !labels.isEmpty { perform(.keep(captured.content, labels)) }
        for index in memory.handles.indices where memory.handles[index].file == id {
            (memory.handles[index].isDirty, memory.handles[index].hasEmptied) = (false, false)
            memory.handles[index].saved = nil
        }
    }

    /// A save into a file that has no name any more belongs to the file's last row.
    ///
    /// | the row's document | the save |
    /// |---|---|
    /// | is deleted, and had this file to the end | is its content, the deleted entry's |
    /// | goes on, and shows this content | is nothing |
    /// | goes on, and its author knows how | is beside it, as history; nothing if it has this content already |
    /// | goes on, and its author has an older base | is beside it, as a conflict; nothing if it is left out |
    private mutating func recordWithoutName(
        _ id: FileID, by actor: ActorNumber?, through handle: HandleNumber?, opened: RowNumber
    ) {
        guard let file = memory[id], let row = facts.lastRow(of: id) else { return }
        if isDeleted(row) {
            let (recorded, version) = version(
                at: row, of: file, content: file.content, fingerprint: file.fingerprint, by: actor, isReplacing: false,
                isAppended: handle.flatMap { memory[$0] }?.mode == .append, opened: opened)
            for fact in recorded { record(fact) }
            return hold(version, in: id, through: handle, by: actor)
        }
        amendOverwritten(facts.current(of: row.document), exceptIn: id)
        let current = facts.hasName(row.document) ? facts.current(of: row.document) : nil
        let rival = current.flatMap { staleBase(of: actor, in: row.document, current: $0) }
        if let equal = versionBeside(row, equalTo: file, current: current, rival: rival) {
            return hold(equal, in: id, through: handle, by: actor)
        }
        if let rival, facts.isConflict(rival) { record(.settle(rival)) }
        // What its document was when the file came to it, if it holds no version of this document.
        let held = file.holds.flatMap { facts.goesBack(row.document, to: $0) ? $0 : nil }
        let began = facts.shown(in: row.document, until: row.number.number)
        let former = held ?? began?.number ?? facts.origin(of: row.document)
        var version = VersionRow(
            number: VersionNumber(takeNumber()), time: now, row: row.number, content: file.content,
            fingerprint: file.fingerprint, file: id, modified: file.modified, author: actor)
        version.base = rival.flatMap(known)
        version.parents = Parents(rival.map(known) ?? former ?? file.holds)
        version.beside = rival == nil ? .history : .conflict
        record(.version(version))
        // A program that knows how the document went on does not work from what it leaves beside it.
        let knows = rival == nil && actor.flatMap { base(of: $0, in: row.document) } != nil
        hold(version.number, in: id, through: handle, by: knows ? nil : actor)
    }

    /// A version with the content of a file without a name, for whose sake the save is none.
    private func versionBeside(
        _ row: NameRow, equalTo file: LiveFile, current: VersionNumber?, rival: VersionNumber?
    ) -> VersionNumber? {
        if let held = file.holds, facts.fingerprint(held) == file.fingerprint { return held }
        if let current, facts.fingerprint(current) == file.fingerprint { return current }
        if let rival { return standIn(for: file.fingerprint, of: nil, base: rival, in: row.document) }
        return facts.newest(of: row.document, equalTo: file.fingerprint)?.number
    }

    /// Whether the document of a row is deleted, and had the row's file to the end. Of several names, any may have been
    /// the last that was removed.
    private func isDeleted(_ row: NameRow) -> Bool {
        guard !facts.hasName(row.document), facts.lastDeparture(of: row.document)?.how.isRemoval ?? false else {
            return false
        }
        return facts.lastRow(of: row.document)?.file == row.file
    }
}
