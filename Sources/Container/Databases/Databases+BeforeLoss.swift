// Databases that lose data with a name: they are captured before (docs/decisions/0013).

import Glibc
import Logging
import SystemPackage
import VersionModel

extension Databases {
    /// The number of repeated captures of a changing database before its removal.
    private static let triesAhead = 3
    /// How big a database may be to be copied with the locks held.
    private static let copiedAtOnce: UInt64 = 1 << 20

    /// Whether a database's file may lack committed data, because a program uses it or used it a moment ago.
    private func mayHaveUncaptured(_ item: ItemID, _ node: Node) -> Bool {
        waiting.isWaiting(item)
            || node.writers.contains { $0.flags & (O_ACCMODE | O_TRUNC) == O_RDWR }
    }

    /// The database that loses data with a name about to be removed, if it is so big that its capture must precede the
    /// lock of the names.
    func capturedAhead(_ entry: LeavingName, by requester: Requester) -> Node? {
        guard entry.stat.isRegular,
            let (node, name) = database(ofJournal: entry, by: requester) ?? entry.node.map({ ($0, entry.name) }),
            let document = documents.document(of: node), mayHaveUncaptured(document.item, node),
            let found = try? look(at: Node.Name(parent: entry.parent, name: name)), found.size > Self.copiedAtOnce
        else { return nil }
        return node
    }

    /// Runs an operation that removes names. Big databases under these names are captured before, without a lock.
    ///
    /// - Parameter body: returns the databases to capture first, and then runs again.
    func capturingAhead(_ body: (_ isCaptured: Bool) throws(Errno) -> [Node]) throws(Errno) {
        let databases = try body(false)
        guard !databases.isEmpty else { return }
        for database in databases { captureAhead(database) }
        _ = try body(true)
    }

    /// Captures a database before its removal, without a lock.
    func captureAhead(_ node: Node) {
        guard let document = documents.document(of: node), mayHaveUncaptured(document.item, node),
            let name = nodes.location(node).name, isDatabase(name)
        else { return }
        let requester = author(of: node)
        for _ in 0..<Self.triesAhead where capture(node, requester, mayWait: false) == nil { return }
    }

    /// The same for its log, without which the database would be in an older state, if a program other than its user
    /// removes the log.
    func captureBeforeLoss(ofJournal entry: LeavingName, by requester: Requester) {
        guard let (node, name) = database(ofJournal: entry, by: requester), let document = documents.document(of: node)
        else { return }
        document.state.withLock { captureBeforeLoss(&$0, node, name, in: entry.parent) }
    }

    /// The database of a journal's name, unless the removing program uses the database.
    private func database(ofJournal entry: LeavingName, by requester: Requester) -> (Node, FileName)? {
        guard let name = DatabaseRule.database(ofJournal: entry.name),
            !isJournal(entry.name, in: entry.parent, of: requester),
            let stat = try? Backing.stat(name.bytes, in: entry.directory.raw), stat.isRegular,
            let node = nodes.node(stat.key)
        else { return nil }
        return (node, name)
    }

    private func author(of node: Node) -> Requester {
        waiting.requester(node.id) ?? node.writers.last?.requester
            ?? Requester(actor: nil, author: Author(userID: 0, user: "", program: "", process: 0))
    }

    /// Captures a database before it is truncated, replaced or removed: the state that waits for a quiet moment becomes
    /// a version at once. If that is impossible, the operation still continues, and the file itself is kept.
    func captureBeforeLoss(
        _ state: inout Document.State, _ node: Node, _ name: FileName, in parent: Node
    ) {
        guard !state.isUnversioned, mayHaveUncaptured(state.item, node), let saver else { return }
        let name = Node.Name(parent: parent, name: name)
        do {
            let database = try look(at: name)
            guard !database.isHot, DatabaseRule.isDatabase(name.name, file: database.file.raw),
                isChanged(database, state)
            else { return }
            // A big one was captured before the locks were taken (``captureAhead(_:)``). Later commits belong to a
            // burst, and their capture would delay all other requests.
            guard database.size <= Self.copiedAtOnce else {
                let path = nodes.path(node) ?? .root
                return logger.notice("a database goes as it was captured last", metadata: ["file": "\(path)"])
            }
            let image = try images.image(of: database, node)
            guard try look(at: name).isSame(as: database) else { return }
            try record(database, image, &state, node, name, author(of: node), by: saver)
        } catch {
            let path = nodes.path(node) ?? .root
            logger.warning("a database goes uncaptured: \(error)", metadata: ["file": "\(path)"])
        }
    }
}
