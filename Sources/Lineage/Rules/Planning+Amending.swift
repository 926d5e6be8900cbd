// Which version a save goes on with instead of making another (facts.md 3, "Amend").

import VersionModel

extension Planning {
    /// How long the appends of one process, or of one program with one parent, are one version.
    static let appendsTogether: Int64 = 60 * 1_000_000_000

    /// Whether a handle's writes go on with the version that it has saved, instead of overwriting that.
    ///
    /// All of this must hold:
    /// - the handle has saved the version, and no other save has come between;
    /// - the live file holds it, and nothing else keeps its content;
    /// - no other version is in the content, unless the writes only extend the file;
    /// - the file has one document, and the version is that document's current one.
    func mayAmend(_ handle: Handle, extendsOnly: Bool) -> Bool {
        guard let file = memory[handle.file], let saved = handle.saved, file.holds == saved, let version = facts[saved],
            !version.isForgotten, version.content == file.content, !file.isKept,
            extendsOnly || facts.countOfVersions(in: version.content) == 1,
            facts.countOfDocuments(of: file.id) <= 1
        else { return false }
        let row = facts.names(of: file.id).first ?? facts.lastRow(of: file.id)
        guard let document = row?.document, document == facts.document(of: version) else { return false }
        return facts.current(of: document) == saved
    }

    /// The version that a save of this file amends; nil if the save is one of its own.
    ///
    /// | the held version | |
    /// |---|---|
    /// | is the handle's own | it goes on with it (``mayAmend(_:extendsOnly:)``) |
    /// | was appended by a process that appends as one with this, within 60 s, and is extended | it is the same log |
    /// | the same, by any process, where the document is quiet | it is the same log |
    /// | was overwritten in its only home by its own saver | its bytes are these now |
    func versionToAmend(_ file: LiveFile, through handle: HandleNumber?) -> VersionRow? {
        guard let version = file.holds.flatMap({ facts[$0] }) else { return nil }
        let handle = handle.flatMap { memory[$0] }
        let isExtension = isExtension(file)
        let isOwn = handle.map { mayAmend($0, extendsOnly: isExtension) } ?? false
        let isOverwritten = isHome(ofHeldVersionIn: file) && !isExtension
        let isLog = isExtension && handle.map { continuesLog(version, file, $0) } ?? false
        return isOwn || isOverwritten || isLog ? version : nil
    }

    private func continuesLog(_ version: VersionRow, _ file: LiveFile, _ handle: Handle) -> Bool {
        guard handle.mode == .append, version.isAppended,
            version.content == file.content, !file.isKept, !isShared(version.number, outside: file.id),
            now.since(version.time) <= Self.appendsTogether, facts.countOfDocuments(of: file.id) == 1,
            let document = facts.names(of: file.id).first?.document
        else { return false }
        guard document == facts.document(of: version), facts.current(of: document) == version.number else {
            return false
        }
        return version.author.map { kin.appendAsOne($0, handle.actor) } ?? false || isQuiet(document)
    }

    /// Whether another file holds the version, too, as one does that was restored from it: it does not change along.
    private func isShared(_ version: VersionNumber, outside file: FileID) -> Bool {
        memory.asked?.note(version)
        return memory.files.contains { $0.id != file && $0.holds == version }
    }
}
