// Versions that operations over the engine add to a document: one that a program brings, and the loser of a conflict
// that is made for trying out.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Adds versions. The document's file stays as it is.
struct EngineAdding {
    let ground: EngineGround

    private var recorded: RecordedTree { ground.recorded }
    private var engine: Engine { ground.engine }

    /// Keeps the content of a file of the container as a version of a document, superseded by the current one.
    func addVersion(
        from source: TreePath, to document: DocumentRecord, as principal: Principal
    ) throws -> Version {
        guard document.deletion == nil, document.current != nil else {
            throw OperationError(.notFound, "no saved document", path: document.path)
        }
        let new = try copy(of: source, as: principal)
        defer { new.end() }
        return try changing(document, principal) { found, live, change in
            let added = try add(new, to: found, live, change)
            guard let added, let version = try ground.past.version(added) else { throw Errno.ioError }
            return version
        }
    }

    /// A copy of a file, as it is now, with its time.
    private func copy(of source: TreePath, as principal: Principal) throws -> NewFile {
        let (file, stat) = try ground.finder.looking(as: principal) { walk in
            let spot = try walk.spot(source)
            guard let stat = spot.stat else { throw OperationError.missing(source) }
            guard stat.isRegular else { throw OperationError(.invalid, "not a regular file", path: source) }
            try walk.require(.read, on: spot)
            let file = try spot.open(flags: O_RDONLY | O_NONBLOCK)
            let opened = try Backing.stat(file.raw)
            guard opened.isRegular else { throw OperationError(.invalid, "not a regular file", path: source) }
            return (file, opened)
        }
        let new = try NewFile(ground)
        try new.fill(from: OpenContent(descriptor: file, size: stat.size))
        let times = [stat.modified.timespec, stat.modified.timespec]
        _ = try Backing.check { futimens(new.staged.file.raw, times) }
        return new
    }

    /// Makes a conflict on a document, as a second program would have: the current content with a line behind it loses.
    func simulateConflict(_ document: DocumentRecord, as principal: Principal) throws -> DocumentRecord {
        guard document.deletion == nil, let current = document.current else {
            throw OperationError(.notFound, "no saved document", path: document.path)
        }
        let content = try ground.finder.content(of: current, in: document)
        let (beginning, loser) = (try NewFile(ground), try NewFile(ground))
        defer { beginning.end(); loser.end() }
        try beginning.fill(from: content)
        try loser.fill(from: content)
        try loser.staged.append(Array("A line from another program, for trying out conflicts.\n".utf8))
        try changing(document, principal) { found, live, change in
            // Something for the two to have parted from: what the document holds now, as if both had begun with that.
            let base = current.parents.isEmpty ? try add(beginning, to: found, live, change) : nil
            _ = try add(loser, isConflict: true, from: base, to: found, live, change)
        }
        return try ground.finder.document(at: document.path, as: principal)
    }

    /// A document under one of its names.
    private struct FoundDocument {
        var at: FileAtPlace
        var document: DocumentNumber
        var directory: TreePath
    }

    private func changing<Result>(
        _ document: DocumentRecord, _ principal: Principal,
        _ body: (FoundDocument, SharedDescriptor, EngineChange) throws -> Result
    ) throws -> Result {
        try ground.changing(as: principal) { change in
            let (spot, entry) = try change.document(document.path, .write)
            let found = try recorded.adopt(entry)
            defer { recorded.files.letGo(found.file) }
            guard let row = try engine.names(of: found.file).first(where: { $0.place == found.place }) else {
                throw Errno(rawValue: ESTALE)
            }
            let known = try ground.facts.document(document.item)
            guard known == nil || known == row.document else {
                throw OperationError.savedMeanwhile(document.path)
            }
            let directory = document.path.parent ?? .root
            return try body(
                FoundDocument(at: found, document: row.document, directory: directory),
                try spot.open(flags: O_RDONLY), change)
        }
    }

    private func add(
        _ new: NewFile, isConflict: Bool = false, from base: VersionNumber? = nil, to found: FoundDocument,
        _ live: SharedDescriptor, _ change: EngineChange
    ) throws -> VersionNumber? {
        try? new.staged.dress(like: live.raw)
        let stat = try Backing.stat(new.staged.file.raw)
        // No content can have had this name before: the number was not given.
        let content = Content(file: new.file, generation: engine.known.lastNumber << Engine.generationShift)
        let bytes = FileLooks.fingerprint(of: new.staged.file.raw, stat, as: content)
        try ground.names.kept.custodian.keep(
            copying: new.staged.file.raw, as: ContentID(content), label(content, stat, found.document, change))
        let added = Added(
            by: change.program.number, content, bytes, modified: stat.modified, isConflict: isConflict, base: base)
        let plan = try engine.perform(.add(found.at.place, added), [found.at])
        for case .version(let version) in plan.facts where version.content == content {
            try? ground.names.kept.relabel(version, Attributes(stat), in: found.directory)
            return version.number
        }
        ground.names.kept.drop(content)
        return nil
    }

    /// What the content says of itself: the number of its version is not given yet.
    private func label(
        _ content: Content, _ stat: FileStat, _ document: DocumentNumber, _ change: EngineChange
    ) throws -> ContentStore.Label {
        let now = engine.parts.clock.now()
        let version = Version(
            id: .random(), item: try ground.past.lists.id(of: document) ?? .random(), kind: .history,
            content: ContentID(content), size: stat.size, modified: stat.modified, saved: now,
            time: HybridTime(wall: now, logical: 0), device: ground.state.identity.device,
            author: change.program.requester.author, parents: [], attributes: Attributes(stat))
        return ground.names.kept.custodian.namelessLabel(of: version)
    }
}
