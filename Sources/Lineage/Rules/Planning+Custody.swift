// What is kept before bytes go (facts.md 4).

import VersionModel

extension Planning {
    /// Whether a version has its content in this file and nowhere else.
    func isSoleKeeper(_ file: LiveFile) -> Bool { !file.isKept && facts.countOfVersions(in: file.content) > 0 }

    /// Whether a version that remains, once these are forgotten, has its content in this file and nowhere else.
    private func isSoleKeeper(_ file: LiveFile, without gone: [VersionNumber]) -> Bool {
        gone.isEmpty
            ? isSoleKeeper(file)
            : !file.isKept && facts.versions(in: file.content).contains { !gone.contains($0.number) }
    }

    /// Whether the version that the file holds has its content in the file itself and nowhere else, so that whatever
    /// happened since happened to that version's bytes.
    func isHome(ofHeldVersionIn file: LiveFile) -> Bool {
        guard !file.isKept, let held = file.holds, let version = facts[held] else { return false }
        return version.content == file.content && !version.isForgotten
    }

    /// Whether a write asks nothing about the bytes of its file: they have changed already, and no version has them but
    /// the one that the handle goes on with.
    public static func isBlind(_ event: Event, in scene: Scene) -> Bool {
        guard case .write(let number, let isInside) = event, let handle = scene.memory[number],
            let file = scene.memory[handle.file], file.isChanged
        else { return false }
        let planning = Planning(scene)
        return handle.mode == .append && !isInside || !planning.isSoleKeeper(file)
            || planning.mayAmend(handle, extendsOnly: false)
    }

    /// Whether all that has changed since the file was recorded was appended, for certain.
    func isExtension(_ file: LiveFile) -> Bool {
        guard file.isOnlyExtended else { return false }
        let mayHideWrites = memory.handles(of: file.id).contains { $0.mayOverwriteUnseen }
        return !mayHideWrites || file.holds == nil || file.beginsWithHeld
    }

    /// Keeps the present content of a file outside it.
    ///
    /// If a handle has gone on with its own version, the version is amended first: what is kept is that save still.
    mutating func keep(_ id: FileID) {
        guard let file = memory[id] else { return }
        if isHome(ofHeldVersionIn: file), file.isChanged, !isExtension(file) {
            recordUnfinished(file)
            guard let file = memory[id], isSoleKeeper(file) else { return }
        }
        guard let content = memory[id]?.content else { return }
        let labels = facts.versions(in: content).compactMap { version in
            facts[version.row].map { Label(version: version, at: $0) }
        }
        perform(.keep(content, labels))
        update(id) { $0.isKept = true }
    }

    /// The version that a save is compared with must have the bytes that its row says. If a handle has gone on with it
    /// in another file, which has no name, the version is amended first.
    mutating func amendOverwritten(_ version: VersionNumber?, exceptIn id: FileID? = nil) {
        guard let version, let home = facts[version]?.content.file, home != id, let file = memory[home],
            file.holds == version, isHome(ofHeldVersionIn: file), file.isChanged, !isExtension(file)
        else { return }
        recordUnfinished(file)
    }

    /// Keeps what a file holds before a call that leaves it to others.
    mutating func keepFirst(_ id: FileID, isSaving: Bool) {
        // The bytes of a file whose version was purged are no version either.
        if isSaving, memory[id]?.holds == nil { update(id) { $0.isChanged = true } }
        if isSaving, let file = memory[id], file.isChanged { recordUnfinished(file) }
        if let file = memory[id], isSoleKeeper(file) { keep(id) }
    }

    /// Before bytes of a file are overwritten (not: appended to), by a handle or by its opening.
    ///
    /// | the bytes | |
    /// |---|---|
    /// | are the handle's own version, which it may amend | they may go |
    /// | are a version's only home | are kept; the generation ends |
    /// | are kept already | the generation ends |
    mutating func protect(_ id: FileID, from handle: HandleNumber?) {
        if let handle, let handle = memory[handle], mayAmend(handle, extendsOnly: false) { return }
        if let file = memory[id], isSoleKeeper(file) { keep(id) }
        endGenerationIfKept(id)
    }

    /// The bytes that follow are another content than the one that is kept.
    mutating func endGenerationIfKept(_ id: FileID) {
        update(id) { file in
            guard file.isKept else { return }
            file.generation &+= 1
            file.isKept = false
        }
    }

    /// Keeps what a writer whose writes come unseen could overwrite, unless that is its own version. Until its release
    /// it may write through a duplicate of what it has closed.
    mutating func guardUnseenWriters(of id: FileID) {
        // Few files have such a writer: the facts are asked for last.
        let writers = memory.handles(of: id).filter(\.mayOverwriteUnseen)
        guard !writers.isEmpty, let file = memory[id], isSoleKeeper(file),
            writers.contains(where: { !mayAmend($0, extendsOnly: false) })
        else { return }
        keep(id)
        endGeneration(id)
    }

    /// The same for all files, at the end of each event: it may have changed to which document a file belongs.
    mutating func guardUnseenWriters() {
        for handle in memory.handles where handle.mayOverwriteUnseen { guardUnseenWriters(of: handle.file) }
    }

    /// Before a file loses a name: with the last one, what is nowhere else is kept.
    mutating func prepareToLoseName(_ id: FileID, without gone: [VersionNumber] = []) {
        guard let file = memory[id], facts.countOfNames(of: id) <= 1, isSoleKeeper(file, without: gone) else { return }
        keep(id)
        endGeneration(id)
    }

    /// Before a program takes a file away, empties it or replaces it: unsaved bytes become a version.
    mutating func saveUnfinished(_ id: FileID) {
        guard let file = memory[id], file.isChanged else { return }
        if file.fingerprint.isEmpty, facts.countOfNames(of: id) < 2 { return }
        recordUnfinished(file)
    }

    /// Appended bytes are no part of a version that one of several programs has saved, if all of them may have written
    /// them: its close has acknowledged less.
    private mutating func recordUnfinished(_ file: LiveFile) {
        let writer = writer(of: file.id)
        let mayBeOthers = memory.handles(of: file.id).contains {
            $0.mode != .read && $0.isUnseen && $0.number != writer?.number
        }
        let isOwn = !mayBeOthers && writer.map { isSure($0, of: file) } ?? true
        let isCertain = isOwn || !isExtension(file)
        // A writer that replaces a file from an old version is a rival of the present one before the close, too.
        let isReplacing = isCertain && writer.map { $0.isReplacing && $0.saved == nil } ?? false
        record(
            file.id, by: writer?.actor, through: isCertain ? writer?.number : nil, isReplacing: isReplacing,
            opened: writer?.opened)
    }

    /// Which handle has changed a file, as far as that can be told.
    private func writer(of id: FileID) -> Handle? {
        let handles = Array(memory.handles(of: id))
        return handles.first { !$0.isClosed && $0.isDirty }
            ?? handles.first { !$0.isClosed && $0.mode != .read && $0.isUnseen }
            ?? handles.first { $0.isDirty }
            ?? handles.first { $0.mode != .read && $0.isUnseen }
            ?? handles.first { $0.mode != .read }
    }

    private mutating func endGeneration(_ id: FileID) {
        update(id) { file in
            file.generation &+= 1
            file.isKept = false
        }
    }
}
