// Writers of whose writes no request tells: programs that have a file mapped behind their close, or that have had it
// open since before this mount. The rules know each such file as open, by a handle that writes past the daemon.

import CLinux
import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Has the engine make versions of what is stored through mappings, and keep those that it may overwrite.
final class UnseenWriters: MappedFileKeeper {
    /// How long stores may go on before the content becomes a version all the same.
    private static let longest: Int64 = 60_000_000_000
    /// Up to this size a mapped file is kept by copying where there is no reflink.
    private static let copied: UInt64 = 64 << 20

    /// A handle that no program has any more.
    private struct Unreleased {
        var number: HandleNumber
        /// Whether what it has written is captured later.
        var isLater = false
    }

    let mapped: MappedFiles
    private let recorded: RecordedTree
    private let versioned: VersionedNames
    private let serving: Serving
    let kept: KeptObjects
    private let survivors: Survivors
    private let databases: EngineDatabases
    private let logger: Logger
    /// The handle by which the rules know that a file may still be written to, although no program has it open. Each
    /// has its file in reach. Innermost.
    private let handles = RankedMutex([FileID: Unreleased]())

    private var tree: LiveTree { recorded.tree }
    private var engine: Engine { recorded.engine }

    init(
        _ recorded: RecordedTree, _ versioned: VersionedNames, serving: Serving, kept: KeptObjects,
        survivors: Survivors, _ databases: EngineDatabases, _ options: LiveContainer.Options
    ) {
        (self.recorded, self.versioned, self.serving) = (recorded, versioned, serving)
        (self.kept, self.survivors, self.databases) = (kept, survivors, databases)
        logger = options.logger
        mapped = MappedFiles(
            nodes: recorded.tree.nodes, serving: serving, patience: options.unansweredSeconds * 1_000_000_000,
            logger: options.logger)
        mapped.connect(self)
        survivors.whenLookedUp { [weak self] node in self?.noteSurvivor(node) }
    }

    /// At the end of the mount, what was stored until now becomes a version, and is kept: the mapping may go on.
    func settleAll() {
        mapped.settleAll()
        let handles = handles.withLock { handles in
            defer { handles = [:] }
            return handles
        }
        for (file, handle) in handles { release(handle, of: file) }
    }

    // MARK: Handles that are released

    /// Whether a mapping may go on when the handle is gone.
    func mayOutlive(_ file: OpenFile) -> Bool {
        file.mayBeMapped && file.state.withLock(\.isPassed) && tree.isLive(file.node)
    }

    /// A handle is about to be released.
    func noteMappable(_ file: OpenFile) { if mayOutlive(file) { mapped.noteMappable(file) } }

    /// A handle is released, and a mapping may go on: until that is known, the rules have it open, if they have it as
    /// one that writes unseen.
    /// - Returns: whether they have.
    func goesOn(_ file: OpenFile, isLater: Bool) -> Bool {
        guard mayOutlive(file), engine.scene.handle(file.number)?.mayOverwriteUnseen ?? false else { return false }
        let handle = Unreleased(number: file.number, isLater: isLater)
        let former = handles.withLock { $0.updateValue(handle, forKey: file.node.file) }
        if let former { release(former, of: file.node.file) }
        return true
    }

    private func release(_ handle: Unreleased, of file: FileID) {
        let event = Event.release(handle.number, isLater: handle.isLater)
        do throws(Errno) { try engine.perform(event, doubted: file) } catch {
            logger.error("what was stored through a mapping could not be recorded: \(error)")
        }
        recorded.files.letGo(file)
    }

    // MARK: What the looks at mapped files leave to the container

    func openForLease(_ node: Node) throws(Errno) -> SharedDescriptor {
        try tree.names.reading { () throws(Errno) in try tree.openOwn(node, flags: O_RDONLY) }
    }

    func mayBeMapped(_ node: Node) {}

    func mappingEnded(of node: Node) {
        if survivors.remove(node.file, tree.nodes.key(of: node)) {
            serving.passthrough.kernel.side?.invalidate(node: node.id, data: true)
        }
        guard let handle = handles.withLock({ $0.removeValue(forKey: node.file) }) else { return }
        release(handle, of: node.file)
        dropUnneeded(of: node.file)
    }

    /// A content that was kept for a writer that has changed nothing is not needed any more.
    func dropUnneeded(of file: FileID) {
        do throws(Errno) { try engine.dropUnneeded(of: file) { kept.drop($0) } } catch {
            logger.info("a content stays kept that is in its file, too: \(error)")
        }
    }

    func forget(_ id: UInt64, lookups: UInt64) {
        if let node = tree.forget(id, lookups: lookups) { serving.passthrough.dropForgotten(node) }
    }

    func capture(
        mapped node: Node, _ look: inout MappingWatch.Look, isOver: Bool, by own: OpenFile?, mayWait: Bool
    ) throws(Errno) {
        // At the end the handle's release saves. Another writer makes versions itself.
        guard !isOver, tree.isLive(node), !node.hasWriters(but: own),
            let handle = try handle(of: node, own, look.requester)
        else { return }
        let isDatabase = tree.nodes.location(node).name.map(databases.captures.isDatabase) ?? false
        if !look.isKept, !isDatabase {
            // What the close has acknowledged stays as it was.
            try engine.seal(handle, doubted: node.file)
        }
        look.isKept = true
        let file = try openForLease(node)
        try synchronize(file, &look)
        let isInMemory = linux_ordering_of(file.raw) == linux_ordering_none
        guard let now = try engine.look(at: node.file, isDoubted: isInMemory), now.file.isChanged else {
            (look.seen, look.since) = (nil, nil)
            return
        }
        guard look.isDue(now, isInMemory: isInMemory, mayWait: mayWait, longest: Self.longest) else { return }
        if isDatabase {
            let unknown = Requester(actor: nil, author: recorded.callers.owner(of: try tree.stat(node)))
            return databases.captures.captureLater(node, look.requester ?? unknown)
        }
        try engine.seal(handle, doubted: isInMemory ? node.file : nil)
    }

    /// From now on the next store into each page moves the time.
    private func synchronize(_ file: SharedDescriptor, _ look: inout MappingWatch.Look) throws(Errno) {
        let stamp = Stamp(try Backing.stat(file.raw))
        guard look.synchronized != stamp else { return }
        // The copy of the content before lies in the same journal.
        try kept.custodian.state.contents.synchronizing { () throws(Errno) in
            _ = try Backing.check { fdatasync(file.raw) }
        }
        look.synchronized = stamp
    }

    /// The handle by which the rules know who may write to a file unseen. It is a new one for a program from before
    /// this mount, and for a mapping of a handle whose own writes are seen.
    /// - Returns: nil if the file has no versions, or is too big to be kept.
    private func handle(
        of node: Node, _ own: OpenFile?, _ requester: Requester?
    ) throws(Errno) -> HandleNumber? {
        if let own, !own.state.withLock(\.isPassed) || engine.scene.handle(own.number)?.isUnseen ?? true {
            return own.number
        }
        if let known = handles.withLock({ $0[node.file] }) { return known.number }
        let stat = try tree.stat(node)
        guard stat.size <= Self.copied || kept.custodian.state.contents.canReflink else { return nil }
        let unknown = Requester(actor: nil, author: recorded.callers.owner(of: stat))
        let program = try recorded.program(requester ?? unknown)
        let number = HandleNumber(UInt32(truncatingIfNeeded: serving.files.newHandle()))
        let isOpen = try recorded.repeating { () throws(Errno) in
            guard let name = tree.nodes.location(node).name,
                let entry = try recorded.entry(name.name, in: name.parent), entry.node === node
            else { throw Errno(rawValue: ESTALE) }
            if try versioned.isLeftOut(entry) { return false }
            let at = try recorded.adopt(entry)
            do throws(Errno) {
                try engine.perform(.open(program.number, at.place, number, .write, isUnseen: true), [at])
            } catch {
                recorded.files.letGo(at.file)
                throw error
            }
            return true
        }
        guard isOpen else { return nil }
        let isLater = tree.nodes.location(node).name.map(databases.captures.isDatabase) ?? false
        handles.withLock { $0[node.file] = Unreleased(number: number, isLater: isLater) }
        return number
    }
}

// MARK: - Survivors

extension UnseenWriters {
    /// Watches a file that may have such a writer, when the kernel first looks it up. The names are held.
    private func noteSurvivor(_ node: Node) {
        guard !mapped.isWatched(node) else { return }
        guard isStillWritten(node) else {
            survivors.remove(node.file, tree.nodes.key(of: node))
            return
        }
        node.openings.state.withLock { $0.maybeMapped = true }
        mapped.watchMapping(of: node, by: nil)
    }

    /// Whether a program from before this mount may still write to a file.
    func isStillWritten(_ file: FileID) -> Bool {
        guard let key = try? recorded.files.status(of: file)?.key, survivors.mayInclude(file, key),
            let opened = try? recorded.files.open(file)
        else { return false }
        return WritableMappings.exist(on: opened.raw)
    }

    private func isStillWritten(_ node: Node) -> Bool {
        // Handles of this mount are writers too: then the answer is unknown, and yes is the safe choice.
        if node.hasWriters { return true }
        guard let file = try? tree.openOwn(node, flags: O_RDONLY) else { return false }
        return withExtendedLifetime(file) { WritableMappings.exist(on: file.raw) }
    }

    /// Finds the recorded files that survivors write, before any program looks them up: each is looked up once as by
    /// the kernel.
    func lookForSurvivors() {
        for file in survivors.candidates {
            guard let names = try? engine.names(of: file) else { continue }
            if let path = names.lazy.compactMap({ self.recorded.path(of: $0) }).first { lookUp(path) }
        }
    }

    private func lookUp(_ path: TreePath) {
        var found: [UInt64] = []
        defer { for id in found.reversed() { forget(id, lookups: 1) } }
        for name in path.names {
            guard let entry = try? tree.lookup(parent: found.last ?? Node.rootID, name: name.bytes) else { return }
            found.append(entry.node)
        }
    }
}

extension MappingWatch.Look {
    /// Whether a content that is no version yet is to become one: two looks have found the same, or stores go on for
    /// too long.
    fileprivate mutating func isDue(
        _ now: FileLooks.Look, isInMemory: Bool, mayWait: Bool, longest: Int64
    ) -> Bool {
        let hash = isInMemory ? now.file.fingerprint.bytes : nil
        let isQuiet = seen.map { $0.stamp == now.stamp && $0.hash == hash } ?? false
        let began = since ?? Scheduler.now
        guard isQuiet || !mayWait || Scheduler.now - began > longest else {
            (seen, since) = ((now.stamp, hash), began)
            return false
        }
        (seen, since) = (nil, nil)
        return true
    }
}

extension Fingerprint {
    /// For comparison where no time tells.
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: (size, high, low)) { Array($0) } }
}
