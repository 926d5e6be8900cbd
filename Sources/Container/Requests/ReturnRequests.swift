// What programs ask back, over the engine: deleted things and former contents.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Gives names to new files with kept contents.
final class ReturnRequests: Sendable {
    private let names: NameRequests
    private let past: FactHistory
    private let store: VersionStore

    private var recorded: RecordedTree { names.recorded }
    private var tree: LiveTree { names.tree }

    init(_ names: NameRequests, _ past: FactHistory, store: VersionStore) {
        (self.names, self.past, self.store) = (names, past, store)
    }

    // MARK: Deleted things

    /// Gives an entry of the deleted list a free name.
    /// - Throws: EEXIST if something has the name; EBUSY if a program has the deleted file open still.
    func undelete(_ id: DeletionID, to name: Node.Name, by requester: Requester) throws(Errno) {
        let entry: DeletedFact?
        do throws(StoreError) { entry = try past.entry(id) } catch { throw .ioError }
        guard let entry else { throw .noSuchFileOrDirectory }
        guard !entry.occupant.isDirectory, !entry.detail.isEntry else { throw .notSupported }
        let program = try recorded.program(requester)
        try recorded.adoptDirectory(name.parent)
        let place = try recorded.place(name.name, in: name.parent)
        let (staged, file) = try stage()
        defer { recorded.files.letGo(file) }
        if let version = entry.version { try dress(staged, as: version) }
        let event = Event.undelete(program.number, entry.occupant.number, place, file)
        try recorded.engine.performNaming(file, event) { (_, draft) throws(Errno) in
            let directory = try tree.descriptor(of: name.parent)
            if try Backing.statIfPresent(name.name.bytes, in: directory.raw) != nil { throw .fileExists }
            guard case .name(let named, _)? = draft.plan.point else { throw .noSuchFileOrDirectory }
            guard named == file else { throw .resourceBusy }
            try put(staged, file, at: name, draft, replacing: false)
        }
    }

    // MARK: Former contents

    /// Gives a document the content of a version, which is a save.
    func restore(_ version: VersionNumber, at name: Node.Name, by requester: Requester) throws(Errno) {
        let program = try recorded.program(requester)
        try recorded.repeating { () throws(Errno) in
            guard let found = try recorded.entry(name.name, in: name.parent), !found.isForeign, found.stat.isRegular
            else { throw .noSuchFileOrDirectory }
            let at = try recorded.adopt(found)
            defer { recorded.files.letGo(at.file) }
            let (staged, file) = try stage()
            defer { recorded.files.letGo(file) }
            try dress(staged, like: found)
            let event = Event.restore(program.number, at.place, version, file)
            try recorded.engine.performNaming(file, event, [at]) { (held, draft) throws(Errno) in
                guard case .name? = draft.plan.point else { throw .noSuchFileOrDirectory }
                let target = try names.same(found)
                let leaving = try names.leaving(target, draft.whole)
                do throws(Errno) { try put(staged, file, at: name, draft, replacing: true) } catch {
                    if let whole = draft.whole { names.kept.drop(whole.content) }
                    throw error
                }
                names.leave(held, target, leaving)
            }
        }
    }

    // MARK: New files

    /// A new file, in reach.
    private func stage() throws(Errno) -> (StagedFile, FileID) {
        let staged = try StagedFile(in: store.state)
        let file = tree.fileID(try Backing.stat(staged.file.raw))
        recorded.files.hold(file, staged.file)
        return (staged, file)
    }

    private func put(
        _ staged: StagedFile, _ file: FileID, at name: Node.Name, _ draft: EventDraft, replacing: Bool
    ) throws(Errno) {
        if let modified = draft.plan.memory[file]?.modified {
            let times = [modified.timespec, modified.timespec]
            try Backing.check { futimens(staged.file.raw, times) }
        }
        try staged.place(name.name, in: try tree.descriptor(of: name.parent), replacing: replacing)
    }

    /// Gives a new file the rights that a version had, and the other attributes of the file that was kept.
    private func dress(_ staged: StagedFile, as version: VersionRow) throws(Errno) {
        if let object = try? store.contents.open(ContentID(version.content)) {
            let held = SharedDescriptor(object.rawValue)
            try withExtendedLifetime(held) { () throws(Errno) in try staged.dress(like: held.raw, keepsSetID: false) }
        }
        let detail: VersionDetail?
        do throws(StoreError) { detail = try past.lists.version(version.number)?.detail } catch { throw .ioError }
        guard let rights = detail?.attributes else { return }
        // A daemon that may not give files away keeps them.
        _ = fchown(staged.file.raw, rights.owner, rights.group)
        try Backing.check { fchmod(staged.file.raw, mode_t(SetIDRule.afterChange(rights.mode, byStranger: true))) }
    }

    /// Gives a new file the owner, mode and attributes of the one that it replaces.
    private func dress(_ staged: StagedFile, like found: FoundName) throws(Errno) {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        let open = SharedDescriptor(try Backing.open(found.name.bytes, in: found.directory.raw, flags: flags))
        try withExtendedLifetime(open) { () throws(Errno) in try staged.dress(like: open.raw, keepsSetID: false) }
    }
}
