// Databases that lose data with a name: they are captured before (docs/decisions/0013).

import Glibc
import Logging
import SystemPackage
import VersionModel

extension LiveContainer {
    /// How big a database may be to be copied with the locks held.
    private static let databaseCopiedAtOnce: UInt64 = 1 << 20

    /// The database that loses data with a name about to be removed, if it is so big that its capture must precede the
    /// lock of the names.
    func capturedAhead(_ entry: LeavingName, by requester: Requester) -> Node? {
        guard entry.stat.isRegular,
            let (node, name) = database(ofJournal: entry, by: requester) ?? entry.node.map({ ($0, entry.name) }),
            documents.document(of: node) != nil, databases.mayHaveUncaptured(node),
            let found = try? databases.look(at: Node.Name(parent: entry.parent, name: name)),
            found.size > Self.databaseCopiedAtOnce
        else { return nil }
        return node
    }

    /// Runs an operation that removes names. Big databases under these names are captured before, without a lock.
    ///
    /// - Parameter body: returns the databases to capture first, and then runs again.
    func capturingAhead(_ body: (_ isCaptured: Bool) throws(Errno) -> [Node]) throws(Errno) {
        let captured = try body(false)
        guard !captured.isEmpty else { return }
        for database in captured { databases.captureAhead(database) }
        _ = try body(true)
    }

    /// The same for its log, without which the database would be in an older state, if a program other than its user
    /// removes the log.
    func captureBeforeLoss(ofJournal entry: LeavingName, by requester: Requester) {
        guard let (node, name) = database(ofJournal: entry, by: requester), let document = documents.document(of: node)
        else { return }
        document.state.withLock { captureBeforeLoss(&$0, node, name, in: entry.parent) }
    }

    private func database(ofJournal entry: LeavingName, by requester: Requester) -> (Node, FileName)? {
        databases.database(
            ofJournal: Node.Name(parent: entry.parent, name: entry.name), in: entry.directory, by: requester)
    }

    /// Captures a database under its document's lock, as ``Databases/captureAhead(_:)`` does before that is taken.
    func captureBeforeLoss(
        _ state: inout Document.State, _ node: Node, _ name: FileName, in parent: Node
    ) {
        guard !state.isUnversioned, databases.mayHaveUncaptured(node) else { return }
        let name = Node.Name(parent: parent, name: name)
        do {
            let database = try databases.look(at: name)
            guard !database.isHot, DatabaseRule.isDatabase(name.name, file: database.file.raw),
                state.differs(from: database.stat) || database.log?.stamp != databases.waiting.log(of: node.file)
            else { return }
            // A big one was captured before the locks were taken (``Databases/captureAhead(_:)``). Later commits belong
            // to a burst, and their capture would delay all other requests.
            guard database.size <= Self.databaseCopiedAtOnce else {
                let path = nodes.path(node) ?? .root
                return logger.notice("a database goes as it was captured last", metadata: ["file": "\(path)"])
            }
            let image = try databases.images.image(of: database, node)
            guard try databases.look(at: name).isSame(as: database) else { return }
            try save(database, image, &state, node, databases.author(of: node))
            databases.waiting.captured(node.file, database.log?.stamp)
        } catch {
            let path = nodes.path(node) ?? .root
            logger.warning("a database goes uncaptured: \(error)", metadata: ["file": "\(path)"])
        }
    }
}
