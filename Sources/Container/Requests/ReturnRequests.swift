// Deleted files that programs ask back, over the engine.

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
            try put(staged, file, at: name, draft)
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
        _ staged: StagedFile, _ file: FileID, at name: Node.Name, _ draft: EventDraft
    ) throws(Errno) {
        if let modified = draft.plan.memory[file]?.modified {
            let times = [modified.timespec, modified.timespec]
            try Backing.check { futimens(staged.file.raw, times) }
        }
        try staged.place(name.name, in: try tree.descriptor(of: name.parent), replacing: false)
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
}
