// Opening, writing and closing (facts.md 2 for a name that is created, 3 for saves, 4 for what is kept first).

import VersionModel

extension Planning {
    /// A free place gets a new file: a document of its own, or the one that comes back. There is no version until the
    /// first save.
    mutating func create(
        _ actor: ActorNumber, _ place: PlaceNumber, _ file: FileID, _ handle: HandleNumber, _ mode: AccessMode,
        isMadeUp: Bool, isUnseen: Bool
    ) {
        guard facts.occupant(of: place) == nil else { return }
        let vacated = facts.lastRow(at: place)
        let last = claim(place)
        pass(.create(place, file))
        var row = row(place, file, .created, by: actor)
        let partings = last.map { self.partings(from: $0.document, exceptAt: [place]) } ?? []
        if let last {
            goOn(&row, with: last)
            // git's and install's pattern: a program that has unlinked the name itself works without a base.
            if let vacated, vacated.how.isRemoval, vacated.actor == actor { observe(actor, nil, in: last.document) }
        } else if isMadeUp {
            row.maker = actor
        }
        record(.row(row))
        part(partings, by: actor)
        memory[file] = LiveFile(id: file, fingerprint: .empty, modified: now, isChanged: true)
        append(handle, actor, file, mode == .append ? .append : .replace, isUnseen: isUnseen, place)
        memory[handle]?.isDirty = true
        memory[handle]?.hasEmptied = mode == .append
    }

    /// A file that exists is opened for writing.
    ///
    /// | the handle | before it |
    /// |---|---|
    /// | empties the file | unsaved bytes become a version; what is nowhere else is kept |
    /// | writes inside it, unseen | what is nowhere else is kept |
    /// | writes inside it, or appends | nothing: its writes are seen |
    mutating func open(
        _ actor: ActorNumber, _ place: PlaceNumber, _ handle: HandleNumber, _ mode: AccessMode, isUnseen: Bool
    ) {
        guard let row = facts.occupant(of: place), let file = row.file, !row.hasNoVersions else { return }
        open(file, actor, handle, mode, isUnseen: isUnseen, place)
    }

    /// A file without a name is opened as if it had its last one still.
    mutating func openNameless(
        _ actor: ActorNumber, _ file: FileID, _ handle: HandleNumber, _ mode: AccessMode, isUnseen: Bool
    ) {
        guard memory[file] != nil, facts.countOfNames(of: file) == 0, let row = facts.lastRow(of: file) else { return }
        open(file, actor, handle, mode, isUnseen: isUnseen, row.place)
    }

    private mutating func open(
        _ file: FileID, _ actor: ActorNumber, _ handle: HandleNumber, _ mode: AccessMode, isUnseen: Bool,
        _ place: PlaceNumber
    ) {
        switch mode {
        case .replace:
            saveUnfinished(file)
            protect(file, from: nil)
            pass(.truncate(file, toNothing: true))
            didTruncate(file)
        case .write:
            if isUnseen { protect(file, from: nil) }
            pass(.open(file))
        case .append:
            // The engine looks at the file before the opening: bytes that come unseen later are the handle's.
            if isUnseen { memory.asked?.note(file) }
            pass(.open(file))
        case .read: return
        }
        append(handle, actor, file, mode, isUnseen: isUnseen, place)
    }

    /// A program reads a document: it has seen its current version.
    mutating func read(_ actor: ActorNumber, _ place: PlaceNumber) {
        guard let row = facts.occupant(of: place), let current = facts.current(of: row.document) else { return }
        observe(actor, current, in: row.document, isRead: true)
    }

    /// A program that copies a document before it saves it (vim with backupcopy=yes, nano -B) reads what it is about to
    /// overwrite, and does not show it: without this rule, a save from stale content is no rival.
    mutating func readForBackup(_ actor: ActorNumber, _ place: PlaceNumber) {
        guard let document = facts.occupant(of: place)?.document else { return }
        memory.asked?.note(document)
        let planning = self
        memory.retractRead(by: actor) { planning.concerns($0, document) }
    }

    /// A write that the daemon sees. An append overwrites nothing.
    mutating func write(_ number: HandleNumber, isInside: Bool) {
        guard var handle = memory[number], handle.mode != .read else { return }
        if isInside, handle.mode == .append { handle.mode = .write }
        memory[number] = handle
        if handle.mode != .append { protect(handle.file, from: number) }
        // It was a duplicate that was closed.
        memory[number]?.isClosed = false
        pass(.write(handle.file))
        memory[number]?.isDirty = true
        update(handle.file) { file in
            if handle.mode != .append { file.isOnlyExtended = false }
            file.isChanged = true
        }
    }

    /// ftruncate(2) to nothing, as vim does. Unsaved bytes of another handle become a version first. The handle's own
    /// version is kept, too: a close that finds the file empty saves nothing, and would leave that version without
    /// content.
    mutating func empty(_ number: HandleNumber) {
        guard let handle = memory[number], handle.mode != .read else { return }
        saveOthers(handle)
        protect(handle.file, from: nil)
        pass(.truncate(handle.file, toNothing: true))
        didTruncate(handle.file)
        memory[number]?.isDirty = true
        memory[number]?.isClosed = false
        if handle.mode == .write { memory[number]?.mode = .replace }
        if handle.mode == .append { memory[number]?.hasEmptied = true }
    }

    /// ftruncate(2) to a shorter length. A handle that appends cuts off what others have saved, too, also where it has
    /// amended a version of its process: such a version is only extended.
    mutating func shorten(_ number: HandleNumber) {
        guard let handle = memory[number], handle.mode != .read else { return }
        saveOthers(handle)
        protect(handle.file, from: handle.mode == .append ? nil : number)
        pass(.truncate(handle.file, toNothing: false))
        update(handle.file) { file in
            file.isOnlyExtended = false
            file.isChanged = true
        }
        memory[number]?.isDirty = true
        memory[number]?.isClosed = false
    }

    /// Bytes that other handles have written, or may have written unseen, become a version before they are cut off.
    /// Those that a closed handle may have written through a duplicate count as the handle's own, if it has written: as
    /// a version, the part of its save would be what a kill goes back to.
    private mutating func saveOthers(_ handle: Handle) {
        let isOwn = handle.isDirty || handle.isUnseen
        let hasOther = memory.handles(of: handle.file).contains { other in
            other.number != handle.number && (other.isDirty || other.isUnseen && !(other.isClosed && isOwn))
        }
        if hasOther { saveUnfinished(handle.file) }
    }

    /// close(2): the moment of a save, if the handle has written. A file that was emptied and is empty still is none,
    /// whichever handle closes: the release of the one that has emptied it is that. So is the close of each duplicate.
    mutating func close(_ number: HandleNumber) {
        guard let handle = memory[number], let file = memory[handle.file] else { return }
        pass(nil)
        saveWritten(by: handle, to: file)
        memory[number]?.isClosed = true
    }

    /// The same while the handle stays open. Without `goesOn` nothing that it writes later is a part of the version,
    /// also where nothing has changed; only a log goes on (``versionToAmend(_:through:)``).
    mutating func seal(_ number: HandleNumber, goesOn: Bool) {
        guard let handle = memory[number], let file = memory[handle.file] else { return }
        pass(nil)
        // Its release is the save.
        if hasLeftEmpty(handle, file) { return }
        saveWritten(by: handle, to: file)
        memory[number]?.isDirty = false
        if !goesOn { memory[number]?.saved = nil }
    }

    private mutating func saveWritten(by handle: Handle, to file: LiveFile) {
        let number = handle.number
        let isSure = isSure(handle, of: file)
        // Unseen writes may be anywhere in the file.
        if isSure, handle.isUnseen, handle.mode != .append, file.isChanged {
            update(file.id) { $0.isOnlyExtended = false }
        }
        let hasWritten = handle.mode != .read && (handle.isDirty || handle.isUnseen)
        let isLeftEmpty = memory.handles(of: file.id).contains { hasLeftEmpty($0, file) }
        if hasWritten, file.isChanged, !isLeftEmpty, !(handle.isReplacing && file.fingerprint.isEmpty) {
            let isReplacing = handle.isReplacing && (handle.saved == nil || !mayAmend(handle, extendsOnly: false))
            record(file.id, by: handle.actor, through: isSure ? number : nil, isReplacing: isReplacing)
        } else if !file.isChanged, let saved = handle.saved, saved == file.holds {
            // A rename has saved it already.
            disown(saved, exceptBy: number, in: file.id)
        }
    }

    /// The handle is gone. The last writer's release saves what its close has not. A file that follows the minute waits
    /// for that, as long as it has a name.
    ///
    /// A handle that has emptied the file does not leave that to others: its program may be a rival, and they not.
    mutating func release(_ number: HandleNumber, isLater: Bool) {
        guard let handle = memory[number], let file = memory[handle.file] else { return }
        pass(nil)
        let others = memory.handles(of: file.id).filter { $0.number != number && $0.mode != .read }
        let hasOtherWriter = others.contains { _ in true }
        // Through a duplicate the handle may have written since its close. Appended bytes wait for the other handles.
        // Other bytes wait for a handle that may have written them: an open one, or one that has emptied the file and
        // saved nothing since. The kernel sends a release some time after the close.
        let mayHaveWritten = handle.isUnseen || handle.isDirty
        let isOthers = !handle.isDirty && !hasChangedOwnVersion(handle, file)
            && others.contains { other in
                !other.isClosed && (other.isDirty || other.isUnseen)
                    || other.isReplacing && other.isDirty && other.saved == nil
            }
        let hasOverwritten = handle.isClosed && mayHaveWritten && !isOthers && !file.fingerprint.isEmpty
            && !isExtension(file)
        let waits = isLater && facts.countOfNames(of: file.id) > 0
        let isSaving = !hasOtherWriter || hasOverwritten || hasLeftEmpty(handle, file)
        if handle.mode != .read, file.isChanged, isSaving, !waits, !isNothing(file) {
            let writer = mayHaveWritten && isSure(handle, of: file) ? number : nil
            record(file.id, by: handle.actor, through: writer, isReplacing: handle.isReplacing)
        }
        memory[number] = nil
    }

    /// Whether a handle has overwritten the version that it goes on with. No other handle has: the engine keeps the
    /// version's bytes before another handle may overwrite them.
    private func hasChangedOwnVersion(_ handle: Handle, _ file: LiveFile) -> Bool {
        handle.mayOverwriteUnseen && handle.saved != nil && handle.saved == file.holds
            && isHome(ofHeldVersionIn: file) && file.isChanged && !isExtension(file)
    }

    /// Whether a file was made, and went without a trace before anything was written to it.
    private func isNothing(_ file: LiveFile) -> Bool {
        guard file.fingerprint.isEmpty, facts.countOfNames(of: file.id) == 0, let row = facts.lastRow(of: file.id),
            facts.departure(of: row)?.how == .hidden
        else { return false }
        return !facts.hasVersion(row.document)
    }

    /// Whether a handle has made or emptied a file, and saved nothing since, and the file is empty still.
    private func hasLeftEmpty(_ handle: Handle, _ file: LiveFile) -> Bool {
        handle.isReplacing && handle.isDirty && file.fingerprint.isEmpty
    }

    /// Whether bytes of a file that are no version yet are a handle's, if it may have written. Those at the end may be
    /// another's if it has been closed before: its own close has acknowledged less.
    func isSure(_ handle: Handle, of file: LiveFile) -> Bool {
        handle.isDirty || !handle.isClosed || !isExtension(file)
    }

    /// truncate(2) by name. `save` follows it.
    mutating func truncate(_ actor: ActorNumber, _ place: PlaceNumber) {
        guard let row = facts.occupant(of: place), let file = row.file, !row.hasNoVersions else { return }
        saveUnfinished(file)
        protect(file, from: nil)
        pass(.truncate(file, toNothing: false))
        update(file) { file in
            file.isOnlyExtended = false
            file.isChanged = true
        }
    }

    /// What a file holds is a save of a program that has no handle of it: it has changed the file in place, so it is no
    /// rival of what was there.
    mutating func save(_ actor: ActorNumber, _ place: PlaceNumber) {
        guard let file = facts.occupant(of: place)?.file else { return }
        pass(nil)
        record(file, by: actor, through: nil, isReplacing: false)
    }

    private mutating func didTruncate(_ file: FileID) {
        update(file) { file in
            file.isOnlyExtended = false
            file.isChanged = true
            file.fingerprint = .empty
        }
    }

    private mutating func append(
        _ number: HandleNumber, _ actor: ActorNumber, _ file: FileID, _ mode: AccessMode, isUnseen: Bool,
        _ place: PlaceNumber
    ) {
        memory.handles.append(
            Handle(
                number: number, actor: actor, file: file, mode: mode, isUnseen: isUnseen, place: place,
                opened: RowNumber(nextNumber)))
    }
}
