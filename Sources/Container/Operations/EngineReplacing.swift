// New content for documents by operations over the engine, and new documents beside them.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Gives documents the content of versions, with the file's owner, mode, access list and other attributes.
struct EngineReplacing {
    let ground: EngineGround

    private var recorded: RecordedTree { ground.recorded }
    private var tree: LiveTree { ground.tree }
    private var engine: Engine { ground.engine }

    /// What replaces a document's content.
    struct Replacement {
        var version: Version
        /// The version that must still be current; nil for any.
        var expected: VersionID?
        /// What happens, if the place gets a new file.
        var event: (ActorNumber, PlaceNumber, FileID) -> Event
        /// What happens besides, if the content of the place's file is written over.
        var afterwards: ((DocumentNumber) -> Event)?
        var mayKeepSetID = true
        /// Whether the kernel is told of the name: not where it holds the directory.
        var isTold = true

        /// Root may let a file keep its set-id bits with content that root or the file's owner wrote.
        func keepsSetID(_ entry: FoundName, _ principal: Principal) -> Bool {
            mayKeepSetID && principal.isRoot && [0, entry.stat.raw.user].contains(version.author.userID)
        }
    }

    /// - Returns: the version that is current then.
    @discardableResult
    func replace(
        _ path: TreePath, by replacement: Replacement, as principal: Principal, by requester: Requester
    ) throws -> VersionNumber? {
        try ground.changing(as: principal, by: requester) { change in
            let (spot, entry) = try change.document(path, .write)
            let found = try recorded.adopt(entry)
            defer { recorded.files.letGo(found.file) }
            guard let row = try engine.names(of: found.file).first(where: { $0.place == found.place }) else {
                throw Errno(rawValue: ESTALE)
            }
            let isDatabase = try isClosedDatabase(entry, path)
            try requireSettled(entry, row, path, replacement)
            if isDatabase { try partFromJournals(entry, change) }
            let new = try NewFile(ground)
            defer { new.end() }
            let live = try spot.open(flags: O_RDONLY)
            let keepsSetID = replacement.keepsSetID(entry, principal)
            let isAlone = try isAlone(entry, row)
                && (try? new.staged.dress(like: live.raw, keepsSetID: keepsSetID)) != nil
            if isAlone {
                try put(new, over: entry, found, spot, change, keepsSetID: keepsSetID) {
                    replacement.event(change.program.number, found.place, new.file)
                }
                if replacement.isTold { change.tell(spot) }
            } else {
                try overwrite(entry, found, spot, row, replacement, change, keepsSetID)
            }
            return try engine.current(of: row.document)?.number
        }
    }

    /// Whether a file is a database. A program that has it open would go on with the file that loses its name, and with
    /// the journals of the new one.
    private func isClosedDatabase(_ entry: FoundName, _ path: TreePath) throws -> Bool {
        guard DatabaseRule.database(ofJournal: entry.name) == nil,
            ground.names.databases.captures.isDatabase(Node.Name(parent: entry.parent, name: entry.name))
        else { return false }
        if entry.node?.hasWriters ?? false { throw OperationError.databaseOpen(path) }
        return true
    }

    /// The journals of a database belong to what it holds now: they are deleted before it holds something else.
    private func partFromJournals(_ entry: FoundName, _ change: EngineChange) throws {
        ground.names.databases.captureBeforeLoss(entry)
        for journal in DatabaseRule.journals(of: entry.name) {
            guard let found = try recorded.entry(journal, in: entry.parent), found.stat.isRegular, !found.isForeign
            else { continue }
            try ground.names.removeJournal(found, by: change.program)
            change.tell(entry.parent, journal)
        }
    }

    /// A program that is saving the document goes on undisturbed.
    private func requireSettled(
        _ entry: FoundName, _ row: NameRow, _ path: TreePath, _ replacement: Replacement
    ) throws {
        let current = try engine.current(of: row.document)
        let isSaved = current.map { $0.fingerprint.size == entry.stat.size && $0.modified == entry.stat.modified }
        if !(isSaved ?? false), entry.node?.hasWriters ?? false { throw OperationError.beingSaved(path) }
        guard let expected = replacement.expected, let number = try ground.facts.version(expected) else { return }
        if number != current?.number { throw OperationError.savedMeanwhile(path) }
    }

    /// Whether no name of the file goes on with it: what another document has in the same file stays as it is there.
    private func isAlone(_ entry: FoundName, _ row: NameRow) throws(Errno) -> Bool {
        guard entry.stat.links > 1 else { return true }
        let names = try engine.names(of: tree.fileID(entry.stat))
        return names.count == Int(entry.stat.links) && names.filter { $0.document == row.document }.count == 1
    }

    // MARK: A new file

    /// - Parameter event: what it is to the rules.
    func put(
        _ new: NewFile, over entry: FoundName, _ found: FileAtPlace, _ spot: Spot, _ change: EngineChange,
        keepsSetID: Bool, _ event: () -> Event
    ) throws {
        let event = event()
        try change.performing { () throws(Errno) in
            try engine.performNaming(new.file, event, [found]) { (names, draft) throws(Errno) in
                try change.part {
                    // The rules do nothing where the event does not fit any more: nor may this.
                    guard draft.plan.point != nil else { throw OperationError.savedMeanwhile(spot.path) }
                    let entry = try ground.names.same(entry)
                    let live = try Backing.open(
                        entry.name.bytes, in: entry.directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
                    let held = SharedDescriptor(live)
                    try new.staged.dress(like: held.raw, keepsSetID: keepsSetID)
                    try new.setTime(by: draft)
                    let leaving = try ground.names.leaving(entry, draft.whole)
                    do throws(Errno) {
                        try new.staged.place(entry.name, in: entry.directory, replacing: true)
                    } catch {
                        ground.names.takeBack(names, entry, leaving)
                        throw spot.explained(error)
                    }
                    ground.names.leave(names, entry, leaving)
                }
            }
        }
    }

    // MARK: In place

    /// A file of several names, or whose owner cannot be given, gets the content itself.
    private func overwrite(
        _ entry: FoundName, _ found: FileAtPlace, _ spot: Spot, _ row: NameRow, _ replacement: Replacement,
        _ change: EngineChange, _ keepsSetID: Bool
    ) throws {
        let former = try engine.current(of: row.document).map { ContentID($0.content) }
        let source = try staged(replacement.version)
        let live = try spot.open(flags: O_RDWR)
        try change.performing { () throws(Errno) in
            let event = Event.truncate(change.program.number, found.place)
            try engine.perform(event, [found], needing: Shortage(keepsAll: true)) { () throws(Errno) in
                try change.once { () throws(Errno) in
                    try OverwrittenFile(live, former, ground.state).fill(from: source.file, keepsSetID: keepsSetID)
                }
            }
            try engine.perform(.save(change.program.number, found.place), [found])
            if let event = replacement.afterwards?(row.document) { try engine.perform(event) }
        }
        if let node = entry.node { ground.browsing.passthrough.changed(node) }
    }

    /// A copy of a version, which no writer changes.
    func staged(_ version: Version) throws -> StagedFile {
        let document = DocumentRecord(path: .root, item: version.item, versions: [version])
        let content = try ground.finder.content(of: version, in: document)
        let staged = try StagedFile(in: ground.state.directory)
        try staged.fill(from: content)
        return staged
    }

    // MARK: New documents

    /// Puts a version under a name that is free, as a new document.
    func putNew(_ version: Version, of document: DocumentRecord, at path: TreePath, as principal: Principal) throws {
        let number = try ground.number(of: version, document)
        try putNew(at: path, from: number, as: principal) { new, isLeftOut in
            if isLeftOut { throw OperationError.unversioned(path) }
            _ = try ground.finder.content(of: version, in: document)
            if tree.servesOthers {
                let group = principal.primaryGroup ?? .max
                _ = try Backing.check { fchown(new.file.raw, principal.user, group) }
            }
            _ = try Backing.check { fchmod(new.file.raw, mode_t(version.attributes.mode & 0o777)) }
        }
    }

    /// Puts a new file under a name that is free. No fact tells of one whose name has no versions.
    /// - Parameter version: whose content the file gets; nil if it is filled already.
    func putNew(
        at path: TreePath, from version: VersionNumber? = nil, as principal: Principal,
        _ fill: (_ new: StagedFile, _ isLeftOut: Bool) throws -> Void
    ) throws {
        try ground.changing(as: principal) { change in
            let spot = try change.free(path)
            try recorded.adoptDirectory(spot.parent)
            let place = try recorded.freePlace(spot.name, in: spot.parent)
            let new = try NewFile(ground)
            defer { new.end() }
            let isLeftOut = try ground.names.versioned.isLeftOut(spot.name, in: spot.parent)
            try fill(new.staged, isLeftOut)
            try change.performing { () throws(Errno) in
                if isLeftOut {
                    try tree.names.writing { (_) throws(Errno) in
                        try new.staged.place(spot.name, in: spot.directory, replacing: false)
                    }
                } else if let version {
                    try put(new, place, version, spot, change)
                } else {
                    try begin(new, place, spot, change)
                }
            }
            change.tell(spot)
        }
    }

    private func put(
        _ new: NewFile, _ place: PlaceNumber, _ version: VersionNumber, _ spot: Spot, _ change: EngineChange
    ) throws(Errno) {
        let event = Event.put(change.program.number, place, new.file, version)
        try engine.performNaming(new.file, event) { (_, draft) throws(Errno) in
            try change.part {
                guard draft.plan.point != nil else { throw Errno.noSuchFileOrDirectory }
                try new.setTime(by: draft)
                try name(new, spot)
            }
        }
    }

    private func begin(
        _ new: NewFile, _ place: PlaceNumber, _ spot: Spot, _ change: EngineChange
    ) throws(Errno) {
        let handle = HandleNumber(UInt32.max)
        let event = Event.create(
            change.program.number, place, new.file, handle, .replace, isMadeUp: false, isUnseen: false)
        try engine.performNaming(new.file, event) { (_, _) throws(Errno) in
            try change.part { try name(new, spot) }
        }
        try engine.perform(.close(handle))
        try engine.perform(.release(handle))
    }

    private func name(_ new: NewFile, _ spot: Spot) throws {
        do throws(Errno) {
            try new.staged.place(spot.name, in: spot.directory, replacing: false)
        } catch {
            throw error == .fileExists ? OperationError.taken(spot.path) : spot.explained(error)
        }
    }
}

/// A new file without a name, in reach of the engine.
final class NewFile {
    let staged: StagedFile
    let file: FileID
    private let files: FilesInReach

    init(_ ground: EngineGround) throws(Errno) {
        staged = try StagedFile(in: ground.state.directory)
        file = ground.tree.fileID(try Backing.stat(staged.file.raw))
        files = ground.recorded.files
        files.hold(file, staged.file)
    }

    func end() { files.letGo(file) }
    func fill(from content: OpenContent) throws(Errno) { try staged.fill(from: content) }

    /// The time that its plan has given it.
    /// - Parameter kept: the time of the kept content that the file was filled from, if that time counts.
    func setTime(by draft: EventDraft, kept: Timestamp? = nil) throws(Errno) {
        guard let modified = kept ?? draft.plan.memory[file]?.modified else { return }
        let times = [modified.timespec, modified.timespec]
        try Backing.check { futimens(staged.file.raw, times) }
    }
}

/// A file whose content is written over: all of it or nothing.
struct OverwrittenFile {
    private let live: SharedDescriptor
    /// The content that it has, which was kept.
    private let former: ContentID?
    private let store: ContainerState

    init(_ live: SharedDescriptor, _ former: ContentID?, _ store: ContainerState) {
        (self.live, self.former, self.store) = (live, former, store)
    }

    /// - Parameter source: what it is to hold.
    func fill(from source: SharedDescriptor, keepsSetID: Bool) throws(Errno) {
        let before = try Backing.stat(live.raw)
        let size = try Backing.stat(source.raw).size
        do throws(Errno) {
            try makeRoom(for: size)
            // The mark and the kept content are there before any byte of that goes.
            if let former { try mark(former, before.size, size) }
            // The capability goes with the first change of the content.
            if !keepsSetID { try SetIDRule.drop(on: live.raw) }
            try fill(from: source.raw, size: size)
        } catch {
            takeBack(before)
            throw error
        }
        try synchronize()
        OverwriteMark.remove(from: live.raw)
    }

    private func mark(_ former: ContentID, _ oldSize: UInt64, _ newSize: UInt64) throws(Errno) {
        let change = OverwriteMark.Change(oldSize: oldSize, newSize: newSize, newHash: nil)
        OverwriteMark(content: former, change: change).set(on: live.raw)
        try synchronize()
    }

    private func synchronize() throws(Errno) {
        try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(live.raw) } }
    }

    private func takeBack(_ before: FileStat) {
        guard let object = try? former.map({ try store.contents.open($0) }) else { return }
        let kept = SharedDescriptor(object.rawValue)
        guard (try? fill(from: kept.raw, size: before.size)) != nil else { return }
        _ = futimens(live.raw, [before.raw.accessed, before.raw.modified])
        OverwriteMark.remove(from: live.raw)
    }

    /// Has the file system set blocks aside, where it writes in place.
    private func makeRoom(for size: UInt64) throws(Errno) {
        guard size > 0, !store.contents.canReflink else { return }
        do throws(Errno) {
            _ = try Backing.check { linux_fallocate(live.raw, linux_FALLOC_FL_KEEP_SIZE, 0, off_t(clamping: size)) }
        } catch {
            // Where it has no such call there is no telling beforehand.
            guard [.notSupported, .noFunction].contains(error) else { throw error }
        }
    }

    /// The end is set last: no block that was set aside is given back before it is written.
    private func fill(from source: Int32, size: UInt64) throws(Errno) {
        if !store.contents.canReflink || linux_clone_file(live.raw, source) != 0 {
            try StagedFile.copy(from: source, to: live.raw, size: size)
        }
        _ = try Backing.check { ftruncate(live.raw, off_t(clamping: size)) }
    }
}
