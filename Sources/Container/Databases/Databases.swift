// Databases: one document with its journals, captured as a version when it is quiet, never per write (DESIGN 5.1). The
// version is the state that a reader sees, in one file (docs/decisions/0013).

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The databases in use: which of them wait for a quiet moment, and their captures. It knows nothing of what else is
/// saved; a ``DatabaseSaver`` makes the versions.
final class Databases: Sendable {
    /// The quiet time of a database and its journals before a capture.
    static let quietNanoseconds: Int64 = 5_000_000_000
    /// The time between captures of an open database, and between looks at a journal that a crash has left.
    static let calmNanoseconds: Int64 = 60_000_000_000
    /// The number of repeated captures of a changing database before its removal.
    private static let triesAhead = 3

    private struct Link { weak var saver: (any DatabaseSaver)? }

    let images: DatabaseImages
    let tree: LiveTree
    let logger: Logger
    let waiting = WaitingDatabases()
    private let serving: Serving
    private let chores: Scheduler
    private let clock: any WallClock
    private let link = RankedMutex(Link())

    private var nodes: NodeTable { tree.nodes }

    init(
        images: DatabaseImages, tree: LiveTree, serving: Serving, chores: Scheduler, clock: any WallClock,
        logger: Logger
    ) {
        (self.images, self.tree, self.serving) = (images, tree, serving)
        (self.chores, self.clock, self.logger) = (chores, clock, logger)
    }

    /// Says where the versions are made.
    func connect(_ saver: any DatabaseSaver) { link.withLock { $0.saver = saver } }

    /// Nil once the container is not in use any more.
    var saver: (any DatabaseSaver)? { link.withLock { $0.saver } }

    // MARK: Times

    /// Schedules a capture after the close of a handle that changes a database in place.
    func captureLater(_ node: Node, _ requester: Requester) {
        guard waiting.add(node.id, requester) else { return }
        // It must be found under its present name.
        nodes.retain(node)
        captureAgain(node, in: Self.quietNanoseconds)
    }

    private func captureAgain(_ node: Node, in time: Int64) {
        chores.after(time) { [weak self] in
            guard let self, let waiting = self.waiting[node.id] else { return }
            if let time = self.capture(node, waiting.requester, mayWait: true) {
                self.captureAgain(node, in: time)
            } else if self.waiting.remove(node.id, changes: waiting.changes) {
                if let node = self.nodes.forget(node.id, lookups: 1) { self.serving.passthrough.dropForgotten(node) }
            } else {
                self.captureAgain(node, in: Self.quietNanoseconds)
            }
        }
    }

    /// Captures everything that waits, because the container is about to close.
    func captureAll() {
        for id in waiting.all {
            guard let node = nodes[id], let requester = waiting[id]?.requester else { continue }
            _ = capture(node, requester, mayWait: false)
        }
    }

    // MARK: Captures

    /// Makes a version of a quiet database. Copies and hashes it without any lock.
    /// - Returns: the time until the next look; nil if there is no more to capture.
    func capture(_ node: Node, _ requester: Requester, mayWait: Bool) -> Int64? {
        guard let saver else { return nil }
        do throws(Errno) {
            guard let name = liveName(of: node) else { return nil }
            let database = try look(at: name)
            guard database.stat.key == nodes.key(of: node) else { throw Errno(rawValue: ESTALE) }
            guard let isChanged = try saver.isChanged(database, of: node) else { return nil }
            guard isChanged || database.log?.stamp != waiting.log(of: node.file) else { return nil }
            let age = clock.now().since(database.changed)
            if mayWait, age < Self.quietNanoseconds { return Self.quietNanoseconds - max(0, age) }
            // The middle of a transaction is no valid state. Only this capture waits for its end.
            if database.isHot { return node.hasWriters ? Self.quietNanoseconds : Self.calmNanoseconds }
            let image = try images.image(of: database, node, mayWait: true)
            guard try saver.save(database, image, of: node, by: requester) else { return Self.quietNanoseconds }
            waiting.captured(node.file, database.log?.stamp)
            return nil
        } catch {
            let path = nodes.path(node) ?? .root
            logger.error("a database could not be captured: \(error)", metadata: ["file": "\(path)"])
            // The disk may be full only for now.
            return Self.calmNanoseconds
        }
    }

    private func liveName(of node: Node) -> Node.Name? {
        if tree.isLive(node), let name = nodes.location(node).name { return name }
        // A rename that is under way has taken the old name away and not given the new one yet.
        tree.names.reading { () throws(Never) in }
        return tree.isLive(node) ? nodes.location(node).name : nil
    }

    func look(at name: Node.Name) throws(Errno) -> FoundDatabase {
        try FoundDatabase(name, in: tree.directories.descriptor(of: name.parent))
    }

    /// Whether the file under a name is a database.
    func isDatabase(_ name: Node.Name) -> Bool {
        guard let directory = try? tree.directories.descriptor(of: name.parent),
            let file = SharedDescriptor.forLook(name.name, in: directory)
        else { return false }
        return withExtendedLifetime(file) { DatabaseRule.isDatabase(name.name, file: file.raw) }
    }

    // MARK: Before a loss

    /// Whether a database's file may lack committed data, because a program uses it or used it a moment ago.
    func mayHaveUncaptured(_ node: Node) -> Bool {
        waiting[node.id] != nil || node.writers.contains { $0.flags & (O_ACCMODE | O_TRUNC) == O_RDWR }
    }

    /// Captures a database before it is truncated, replaced or removed: the state that waits for a quiet moment becomes
    /// a version at once. No lock is held. If that is impossible, the operation still continues, and the file itself is
    /// kept.
    func captureAhead(_ node: Node) {
        guard mayHaveUncaptured(node), let name = nodes.location(node).name, isDatabase(name) else { return }
        let requester = author(of: node)
        for _ in 0..<Self.triesAhead where capture(node, requester, mayWait: false) == nil { return }
    }

    /// The database of a journal's name, unless the removing program uses the database.
    func database(
        ofJournal journal: Node.Name, in directory: SharedDescriptor, by requester: Requester
    ) -> (Node, FileName)? {
        guard let name = DatabaseRule.database(ofJournal: journal.name),
            !isJournal(journal.name, in: journal.parent, of: requester),
            let stat = try? Backing.stat(name.bytes, in: directory.raw), stat.isRegular,
            let node = nodes.node(stat.key)
        else { return nil }
        return (node, name)
    }

    func author(of node: Node) -> Requester {
        waiting[node.id]?.requester ?? node.writers.last?.requester
            ?? Requester(actor: nil, author: Author(userID: 0, user: "", program: "", process: 0))
    }

    /// Whether a name is the journal of a database that the requester has open: a part of the database, not a document.
    func isJournal(_ name: FileName, in parent: Node, of requester: Requester) -> Bool {
        guard let database = DatabaseRule.database(ofJournal: name), let actor = requester.actor?.ref else {
            return false
        }
        return serving.files.all.contains { file in
            file.requester.actor?.ref == actor
                && nodes.names(file.node).contains { $0.parent === parent && $0.name == database }
        }
    }
}
