// One deleted thing comes back, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Gives entries of the deleted list free names.
struct EngineReturning {
    let ground: EngineGround

    private var recorded: RecordedTree { ground.recorded }
    private var tree: LiveTree { ground.tree }

    /// - Parameter known: the entry, if no list shows it.
    func moveOut(
        _ deletion: Deletion, _ known: DeletedFact? = nil, to path: TreePath, as principal: Principal,
        by requester: Requester, tells: Bool
    ) throws {
        try ground.changing(as: principal, by: requester) { change in
            guard let entry = try known ?? ground.past.entry(deletion.id) else {
                throw OperationError(.contentMissing, "the deleted entry is gone", path: deletion.path)
            }
            let spot = try change.free(path)
            try recorded.adoptDirectory(spot.parent)
            let place = try recorded.freePlace(spot.name, in: spot.parent)
            if entry.occupant.hasNoVersions || entry.detail.isEntry {
                try moveOut(deletion, entry, to: place, spot, change)
            } else {
                try comeBack(entry, to: place, spot, change)
            }
            if tells { change.tell(spot) }
        }
    }

    // MARK: What has no versions

    /// A directory, a symlink or a special file is in the deleted area itself.
    private func moveOut(
        _ deletion: Deletion, _ entry: DeletedFact, to place: PlaceNumber, _ spot: Spot, _ change: EngineChange
    ) throws {
        let (program, number) = (change.program.number, entry.occupant.number)
        try change.performing { () throws(Errno) in
            try ground.engine.performMaking(of: entry.detail.type, { .undelete(program, number, place, $0) }) {
                (names) throws(Errno) in
                try change.part {
                    let custodian = ground.names.kept.custodian
                    do throws(Errno) {
                        do throws(Errno) {
                            try custodian.moveOut(names, deletion.id, to: spot.name, in: spot.directory)
                        } catch {
                            guard error == .noSuchFileOrDirectory, deletion.type == .directory else { throw error }
                            // The directory was removed below the mount: the history has the versions of its documents.
                            try Backing.makeDirectory(spot.name.bytes, in: spot.directory.raw, mode: 0o755)
                        }
                    } catch {
                        guard error != .noSuchFileOrDirectory else {
                            throw OperationError(.contentMissing, "the deleted entry is gone", path: deletion.path)
                        }
                        throw refusal(error, spot)
                    }
                    return try named(names, spot).file
                }
            }
        }
    }

    /// The kernel may know the file still.
    private func named(_ names: borrowing NamesHeldAlone, _ spot: Spot) throws -> Node {
        let stat = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
        let name = Node.Name(parent: spot.parent, name: spot.name)
        let node = tree.intern(stat, as: name, lookups: 1)
        tree.nodes.addName(names, name, to: node)
        if let forgotten = tree.forget(node.id, lookups: 1) { ground.browsing.passthrough.dropForgotten(forgotten) }
        return node
    }

    private func refusal(_ error: Errno, _ spot: Spot) -> any Error {
        error == .fileExists ? OperationError.taken(spot.path) : spot.explained(error)
    }

    // MARK: Documents

    /// A document whose file a program has open has a new one: no name can be given to a file that has lost its last.
    private func comeBack(
        _ entry: DeletedFact, to place: PlaceNumber, _ spot: Spot, _ change: EngineChange
    ) throws {
        let new = try NewFile(ground)
        defer { new.end() }
        let substitute = try substitute(for: entry, spot)
        var isOpen = false
        do {
            try comeBack(entry, in: new, substitute, to: place, spot, change, isOpen: &isOpen)
        } catch {
            guard isOpen else { throw error }
            try comeBack(entry, in: new, substitute, to: place, spot, change, isOpen: &isOpen)
        }
        guard substitute != nil else { return }
        let at = FileAtPlace(place: place, file: new.file)
        _ = try ground.engine.perform(.save(change.program.number, place), [at], doubted: new.file)
    }

    /// - Parameter isOpen: whether the document's file was found to be open without a name.
    private func comeBack(
        _ entry: DeletedFact, in new: NewFile, _ substitute: VersionRow?, to place: PlaceNumber, _ spot: Spot,
        _ change: EngineChange, isOpen: inout Bool
    ) throws {
        let version = substitute ?? entry.version
        let detail = try version.flatMap { version throws(StoreError) in
            try ground.past.lists.version(version.number)?.detail
        }
        var substitutes: [VersionNumber: VersionRow] = [:]
        if let substitute, let lost = entry.version { substitutes[lost.number] = substitute }
        let event = Event.undelete(
            change.program.number, entry.occupant.number, place, new.file, takesFormer: !isOpen)
        try change.performing { () throws(Errno) in
            try ground.engine.performNaming(new.file, event, substitutes: substitutes) { (names, draft) throws(Errno) in
                try change.part {
                    guard case .name(let file, _)? = draft.plan.point else {
                        throw OperationError(.contentMissing, "the deleted entry is gone", path: spot.path)
                    }
                    guard file == new.file else {
                        isOpen = recorded.find(file) == nil
                        return try link(names, file, spot)
                    }
                    let kept = substitute == nil ? version.flatMap(ground.names.kept.modified) : nil
                    try new.setTime(by: draft, kept: kept)
                    if let version { try dress(new.staged, as: version, detail, for: change.program.requester) }
                    do throws(Errno) {
                        try new.staged.place(spot.name, in: spot.directory, replacing: false)
                    } catch {
                        throw refusal(error, spot)
                    }
                }
            }
        }
    }

    /// The newest version that there is, if the bytes of the current one are gone; nil if they are there.
    private func substitute(for entry: DeletedFact, _ spot: Spot) throws -> VersionRow? {
        guard let current = entry.version, try !isThere(current) else { return nil }
        for version in ground.facts.facts().versions(of: entry.occupant.document).reversed() {
            if try version.number != current.number && isThere(version) { return version }
        }
        throw OperationError(.contentMissing, "no version of it is kept", path: spot.path)
    }

    private func isThere(_ version: VersionRow) throws(Errno) -> Bool {
        let size = version.fingerprint.size
        if size == 0 || ground.names.kept.contains(version.content, size: size) { return true }
        guard ground.facts.facts().lastContent(of: version.content.file) == version.content else { return false }
        return try ground.recorded.files.status(of: version.content.file) != nil
    }

    /// One of several names of a file that has others.
    private func link(_ names: borrowing NamesHeldAlone, _ file: FileID, _ spot: Spot) throws {
        guard let held = recorded.find(file) else {
            throw OperationError(
                .busy, "a program has the deleted file open", path: spot.path,
                advice: "close the program, and repeat the command")
        }
        do throws(Errno) { try Backing.link(held.raw, to: spot.name.bytes, in: spot.directory.raw) } catch {
            throw refusal(error, spot)
        }
        // Its other names have another count of names now.
        ground.browsing.passthrough.changed(try named(names, spot), data: false)
    }

    /// Gives a new file the rights that a version had, and the other attributes of the file that was kept. A file that
    /// was deleted with set-id bits does not come back with them through any user: it may have been deleted for a flaw.
    /// The owner keeps the set-user-id bit, for the owner could set it anew.
    private func dress(
        _ staged: StagedFile, as version: VersionRow, _ detail: VersionDetail?, for requester: Requester
    ) throws {
        let (user, file) = (requester.author.userID, staged.file.raw)
        let object = (try? ground.state.contents.open(ContentID(version.content))).map {
            SharedDescriptor($0.rawValue)
        }
        if let object {
            // A daemon that may not give files away keeps them.
            try? staged.dress(like: object.raw, keepsSetID: user == 0)
            // Its own file has the times that were set since it was saved.
            let stat = try Backing.stat(object.raw)
            if tree.fileID(stat) == version.content.file {
                _ = try Backing.check { futimens(file, [stat.raw.accessed, stat.raw.modified]) }
            }
        }
        // A change of the owner takes it away.
        defer { if let object, user == 0 { staged.copyCapability(of: object.raw) } }
        guard let rights = detail?.attributes else { return }
        _ = fchown(file, rights.owner, rights.group)
        var mode = rights.mode
        if user != 0 {
            mode = SetIDRule.afterChange(mode, byStranger: true)
            if user == rights.owner { mode |= rights.mode & UInt32(S_ISUID) }
        }
        _ = try Backing.check { fchmod(file, mode_t(mode)) }
    }
}
