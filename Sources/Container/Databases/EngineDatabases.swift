// Databases over the engine (docs/decisions/0013): which closes make no version, and what the versions are made of.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Has the engine make versions of captured databases.
final class EngineDatabases: DatabaseSaver {
    let captures: Databases
    /// A look may copy and hash a database: threads that serve requests have precedence.
    let looks = Scheduler(isPatient: true)
    private let recorded: RecordedTree
    private let versioned: VersionedNames
    private let kept: KeptObjects

    private var engine: Engine { recorded.engine }
    private var tree: LiveTree { recorded.tree }

    init(
        _ recorded: RecordedTree, _ versioned: VersionedNames, serving: Serving, kept: KeptObjects, _ space: Space,
        _ options: ContainerOptions
    ) {
        (self.recorded, self.versioned, self.kept) = (recorded, versioned, kept)
        captures = Databases(
            images: DatabaseImages(state: kept.custodian.state, policy: versioned.policy, space: space),
            tree: recorded.tree, serving: serving, chores: looks, clock: options.clock, logger: options.logger)
        captures.connect(self)
    }

    // MARK: Handles

    /// Whether a handle writes to a database in place.
    func isInPlace(_ file: OpenFile) -> Bool {
        guard file.flags & (O_ACCMODE | O_TRUNC) == O_RDWR, !file.node.isForeign,
            let name = tree.nodes.location(file.node).name
        else { return false }
        return DatabaseRule.isDatabase(name.name, file: file.descriptor.raw)
    }

    /// Whether what a handle has written is captured when the database is quiet, no matter which handle closes. A new
    /// database is a version at its first close, unless another handle is at work in it.
    func isCapturedLater(_ file: OpenFile) -> Bool {
        guard isInPlace(file), engine.scene.file(of: file.number) != nil,
            let stat = try? Backing.stat(file.descriptor.raw), stat.size > 0
        else { return false }
        return engine.scene.recall(file.node.file)?.file.holds != nil || file.node.writers.count > 1
    }

    // MARK: Captures

    func isChanged(_ database: FoundDatabase, of node: Node) throws(Errno) -> Bool? {
        guard let entry = try entry(of: database, node), try !versioned.isLeftOut(entry) else { return nil }
        return engine.scene.recall(node.file).map { $0.file.isChanged || $0.stamp != Stamp(database.stat) } ?? false
    }

    private func entry(of database: FoundDatabase, _ node: Node) throws(Errno) -> FoundName? {
        guard let entry = try recorded.entry(database.name.name, in: database.name.parent), entry.node === node,
            !entry.isForeign
        else { return nil }
        return entry
    }

    func save(
        _ database: FoundDatabase, _ image: DatabaseImage?, of node: Node, by requester: Requester
    ) throws(Errno) -> Bool {
        guard let entry = try entry(of: database, node) else { return false }
        let program = try recorded.program(requester)
        do throws(Errno) {
            let at = try recorded.adopt(entry)
            defer { recorded.files.letGo(at.file) }
            if let image {
                try capture(database, image, at, by: program.number)
            } else {
                try engine.perform(.save(program.number, at.place), [at]) { () throws(Errno) in
                    try requireSame(database)
                }
            }
            return true
        } catch {
            // The database or its name has changed meanwhile.
            guard error.rawValue == ESTALE else { throw error }
            return false
        }
    }

    /// What the engine has looked at is what the image was made of.
    private func requireSame(_ database: FoundDatabase) throws(Errno) {
        guard try captures.look(at: database.name).isSame(as: database) else { throw Errno(rawValue: ESTALE) }
    }

    private func capture(
        _ database: FoundDatabase, _ image: DatabaseImage, _ at: FileAtPlace, by actor: ActorNumber
    ) throws(Errno) {
        guard let name = FileName(bytes: image.staged.name) else { return }
        // No content can have had this name before: the number was not given.
        let content = Content(
            file: tree.fileID(image.stat), generation: engine.known.lastNumber << Engine.generationShift)
        let bytes = image.hash.map { Fingerprint(hash: $0, size: image.stat.size) }
            ?? .unknown(image.stat.size, in: content, modified: database.stat.modified)
        let home = try tree.directories.descriptor(of: database.name.parent)
        // Where the image can have no second name it is copied.
        recorded.files.hold(content.file, image.staged.file)
        defer { recorded.files.letGo(content.file) }
        try engine.capture(Captured(by: actor, content, bytes), at) { whole throws(Errno) in
            try requireSame(database)
            guard let whole else { return }
            try kept.keep(whole, linking: name, in: image.staged.directory, image.stat, of: home)
        }
    }

    // MARK: Databases that a capture is to compare

    /// Whether a file is a database with a log or a transaction under way. It is captured later, which tells whether
    /// anything has changed.
    func awaitsCapture(_ file: FileID) -> Bool {
        guard let stat = try? recorded.files.status(of: file), let node = tree.nodes.node(stat.key),
            let name = tree.nodes.location(node).name,
            let directory = try? tree.directories.descriptor(of: name.parent),
            DatabaseRule.isAtWork(name.name, in: directory)
        else { return false }
        captures.captureLater(node, Requester(actor: nil, author: recorded.callers.owner(of: stat)))
        return true
    }

    // MARK: Before a loss

    /// Captures a database that is about to lose its content or its name. No lock is held.
    func captureBeforeLoss(_ entry: FoundName) {
        if entry.stat.isRegular, !entry.isForeign, let node = entry.node { captures.captureAhead(node) }
    }

    /// Whether a journal has a transaction that is not over, and another program than its database's users removes it:
    /// the database cannot be captured, and is damaged without that.
    func isNeeded(_ journal: FoundName, by requester: Requester) -> Bool {
        guard journal.stat.isRegular, DatabaseRule.database(ofJournal: journal.name) != nil,
            let file = SharedDescriptor.forLook(journal.name, in: journal.directory),
            DatabaseRule.isHot(journal: file.bytes(0, 8))
        else { return false }
        return !captures.isJournal(journal.name, in: journal.parent, of: requester)
    }

    /// A database is captured before its log goes, without which it would be in an older state, if a program other than
    /// its user takes that.
    func captureBeforeLoss(ofJournal entry: FoundName, by requester: Requester) {
        let name = Node.Name(parent: entry.parent, name: entry.name)
        guard entry.stat.isRegular, !entry.isForeign,
            let (node, _) = captures.database(ofJournal: name, in: entry.directory, by: requester)
        else { return }
        captures.captureAhead(node)
    }
}
