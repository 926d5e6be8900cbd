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

    private struct Link { weak var saver: (any DatabaseSaver)? }

    /// The result of a look at a database.
    private enum Look {
        case captured
        case later(Int64)
        case due(FoundDatabase)
    }

    let images: DatabaseImages
    let nodes: NodeTable
    let documents: DocumentIndex
    let logger: Logger
    let waiting = WaitingDatabases()
    private let directories: DirectoryDescriptors
    private let serving: Serving
    private let chores: Scheduler
    private let clock: any WallClock
    private let link = RankedMutex(Link())

    init(
        images: DatabaseImages, nodes: NodeTable, directories: DirectoryDescriptors, documents: DocumentIndex,
        serving: Serving, chores: Scheduler, clock: any WallClock, logger: Logger
    ) {
        (self.images, self.nodes, self.directories, self.documents) = (images, nodes, directories, documents)
        (self.serving, self.chores, self.clock, self.logger) = (serving, chores, clock, logger)
    }

    /// Says where the versions are made.
    func connect(_ saver: any DatabaseSaver) { link.withLock { $0.saver = saver } }

    /// Nil once the container is not in use any more.
    var saver: (any DatabaseSaver)? { link.withLock { $0.saver } }

    // MARK: Times

    /// Schedules a capture after the close of a handle that changes a database in place.
    func captureLater(_ node: Node, _ item: ItemID, _ requester: Requester) {
        guard waiting.add(node.id, item, requester) else { return }
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
            guard let node = nodes[id], let requester = waiting.requester(id) else { continue }
            _ = capture(node, requester, mayWait: false)
        }
    }

    // MARK: Captures in the background

    /// Makes a version of a quiet database. Copies and hashes it without any lock.
    /// - Returns: the time until the next look; nil if there is no more to capture.
    func capture(_ node: Node, _ requester: Requester, mayWait: Bool) -> Int64? {
        guard let saver else { return nil }
        do {
            let look = try documents.withLive(of: node) { (state, _, name) throws(Errno) in
                try due(state, node, name, mayWait: mayWait)
            }
            switch look ?? .captured {
            case .captured: return nil
            case .later(let time): return time
            case .due(let database):
                let image = try images.image(of: database, node, mayWait: true)
                let isDone = try documents.withLive(of: node) { (state, _, name) throws(Errno) in
                    guard try self.look(at: name).isSame(as: database) else { return false }
                    try record(database, image, &state, node, name, requester, by: saver)
                    return true
                }
                return isDone ?? true ? nil : Self.quietNanoseconds
            }
        } catch {
            let path = nodes.path(node) ?? .root
            logger.error("a database could not be captured: \(error)", metadata: ["file": "\(path)"])
            // The disk may be full only for now.
            return Self.calmNanoseconds
        }
    }

    private func due(
        _ state: Document.State, _ node: Node, _ name: Node.Name, mayWait: Bool
    ) throws(Errno) -> Look {
        guard !state.isUnversioned else { return .captured }
        let database = try look(at: name)
        guard database.stat.key == nodes.key(of: node) else { throw Errno(rawValue: ESTALE) }
        guard isChanged(database, state) else {
            waiting.captured(state.item, database.log?.stamp)
            return .captured
        }
        let age = clock.now().since(database.changed)
        if mayWait, age < Self.quietNanoseconds { return .later(Self.quietNanoseconds - max(0, age)) }
        // The middle of a transaction is no valid state. Only this capture waits for its end.
        if database.isHot { return .later(node.hasWriters ? Self.quietNanoseconds : Self.calmNanoseconds) }
        return .due(database)
    }

    func isChanged(_ database: FoundDatabase, _ state: Document.State) -> Bool {
        state.differs(from: database.stat) || database.log?.stamp != waiting.log(of: state.item)
    }

    func look(at name: Node.Name) throws(Errno) -> FoundDatabase {
        try FoundDatabase(name.name, in: directories.descriptor(of: name.parent))
    }

    /// Whether the file under a name is a database.
    func isDatabase(_ name: Node.Name) -> Bool {
        guard let directory = try? directories.descriptor(of: name.parent),
            let file = SharedDescriptor.forLook(name.name, in: directory)
        else { return false }
        return withExtendedLifetime(file) { DatabaseRule.isDatabase(name.name, file: file.raw) }
    }

    // MARK: The version

    func record(
        _ database: FoundDatabase, _ image: DatabaseImage?, _ state: inout Document.State, _ node: Node,
        _ name: Node.Name, _ requester: Requester, by saver: some DatabaseSaver
    ) throws(Errno) {
        try saver.save(database, image, &state, node, name, requester)
        waiting.captured(state.item, database.log?.stamp)
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
