// The version of a database: the state that a reader sees, in one file (docs/decisions/0013).

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Up to this size an image is hashed when it is made.
    private static let capturedHashSize: UInt64 = 256 << 20
    /// The number of repeated captures of a changing database before its removal.
    private static let capturesAhead = 3

    /// A database with its files.
    private struct Database {
        var file: SharedDescriptor
        var stat: FileStat
        /// The last change of the database or one of its journals.
        var changed: Timestamp
        /// Whether a transaction on it is in progress.
        var isHot = false
        /// The write-ahead log, if there is one.
        var log: (file: SharedDescriptor, stamp: Stamp)?

        func isSame(as other: Database) -> Bool {
            Stamp(stat) == Stamp(other.stat) && log?.stamp == other.log?.stamp
        }
    }

    /// One file with everything that a database has committed.
    private struct Image {
        var staged: StagedFile
        var stat: FileStat
        var hash: [UInt8]?
    }

    /// The result of a look at a database.
    private enum Look {
        case captured
        case later(Int64)
        case due(Database)
    }

    // MARK: Captures in the background

    /// Makes a version of a quiet database. Copies and hashes it without any lock.
    /// - Returns: the time until the next look; nil if there is no more to capture.
    func capture(_ node: Node, _ requester: Requester, mayWait: Bool) -> Int64? {
        do {
            let look = try withLiveDocument(of: node) { (state, _, name) throws(Errno) in
                try due(state, node, name, mayWait: mayWait)
            }
            switch look ?? .captured {
            case .captured: return nil
            case .later(let time): return time
            case .due(let database):
                let image = try image(of: database, node, mayWait: true)
                let isDone = try withLiveDocument(of: node) { (state, _, name) throws(Errno) in
                    guard try self.look(at: name).isSame(as: database) else { return false }
                    try record(database, image, &state, node, name, requester)
                    return true
                }
                return isDone ?? true ? nil : Self.captureNanoseconds
            }
        } catch {
            let path = nodes.path(node) ?? .root
            logger.error("a database could not be captured: \(error)", metadata: ["file": "\(path)"])
            // The disk may be full only for now.
            return Self.captureCalmNanoseconds
        }
    }

    private func due(
        _ state: Document.State, _ node: Node, _ name: Node.Name, mayWait: Bool
    ) throws(Errno) -> Look {
        guard !state.isUnversioned else { return .captured }
        let database = try look(at: name)
        guard database.stat.key == nodes.key(of: node) else { throw Errno(rawValue: ESTALE) }
        guard isChanged(database, state) else {
            captures.captured(state.item, database.log?.stamp)
            return .captured
        }
        let age = now.since(database.changed)
        if mayWait, age < Self.captureNanoseconds { return .later(Self.captureNanoseconds - max(0, age)) }
        // The middle of a transaction is no valid state. Only this capture waits for its end.
        if database.isHot { return .later(node.hasWriters ? Self.captureNanoseconds : Self.captureCalmNanoseconds) }
        return .due(database)
    }

    private func isChanged(_ database: Database, _ state: Document.State) -> Bool {
        state.differs(from: database.stat) || database.log?.stamp != captures.log(of: state.item)
    }

    private func look(at name: Node.Name) throws(Errno) -> Database {
        let directory = try descriptor(of: name.parent)
        guard let file = openForLook(name.name, in: directory) else { throw .noSuchFileOrDirectory }
        let stat = try Backing.stat(file.raw)
        var database = Database(file: file, stat: stat, changed: stat.changed)
        for journal in Databases.journals(of: name.name) {
            // Readers change the shared memory of the log, too.
            guard !Databases.isSharedMemory(journal), let file = openForLook(journal, in: directory),
                let stat = try? Backing.stat(file.raw), stat.size > 0
            else { continue }
            database.changed = max(database.changed, stat.changed)
            if Databases.isLog(journal) { database.log = (file, Stamp(stat)) }
            if Databases.isHot(journal: header(of: file.raw, 8)) { database.isHot = true }
        }
        return database
    }

    // MARK: The image

    /// The state of the database, if the file alone does not have it or may soon change; nil if the file is enough.
    private func image(of database: Database, _ node: Node, mayWait: Bool = false) throws(Errno) -> Image? {
        guard store.contents.canReflink || database.stat.size <= settings.maxFile else { return nil }
        // Pages beyond the database's end are in the log, so both together limit the size.
        let log = database.log.flatMap { log in WriteAheadLog { Self.read(log.file, $0, $1) } }.flatMap { log in
            let most = database.stat.size + (database.log?.stamp.size ?? 0)
            return UInt64(log.pageCount) * UInt64(log.pageSize) <= most ? log : nil
        }
        guard log != nil || node.hasWriters else { return nil }
        let staged = try StagedFile(in: store.state)
        let wanted = store.contents.canReflink ? 0 : database.stat.size
        try retryingWhenFull(wanted: wanted, mayWait: mayWait) { () throws(Errno) in
            try fill(staged, database, log)
        }
        let stat = try Backing.stat(staged.file.raw)
        // Also for a bigger one: an unchanged hash means no new version.
        let hash = stat.size <= Self.capturedHashSize ? ContentHash.sha256(of: staged.file.raw, size: stat.size) : nil
        return Image(staged: staged, stat: stat, hash: hash)
    }

    /// Copies a database, and writes the committed pages of its log into the copy.
    private func fill(_ staged: StagedFile, _ database: Database, _ log: WriteAheadLog?) throws(Errno) {
        try StagedFile.copy(from: database.file.raw, to: staged.file.raw, size: database.stat.size)
        try? staged.dress(like: database.file.raw)
        var time = database.stat.modified
        if let log, let file = database.log?.file {
            for (page, offset) in log.pages where page <= log.pageCount {
                let bytes = Self.read(file, offset, log.pageSize)
                let place = off_t(page - 1) * off_t(log.pageSize)
                _ = try Backing.check {
                    bytes.withUnsafeBytes { pwrite(staged.file.raw, $0.baseAddress, $0.count, place) }
                }
            }
            try Backing.check { ftruncate(staged.file.raw, off_t(log.pageCount) * off_t(log.pageSize)) }
            time = max(time, try Backing.stat(file.raw).modified)
        }
        try Backing.check { futimens(staged.file.raw, [time.timespec, time.timespec]) }
    }

    static func read(_ file: SharedDescriptor, _ offset: UInt64, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file.raw, &bytes, count, off_t(clamping: offset))
        return Array(bytes.prefix(max(0, read)))
    }

    // MARK: The version

    private func record(
        _ database: Database, _ image: Image?, _ state: inout Document.State, _ node: Node, _ name: Node.Name,
        _ requester: Requester
    ) throws(Errno) {
        var pending = PendingSave(kind: .appendOrInPlace, requester: requester, isSealed: true)
        if let image {
            // The file may change, or differs from the state: the version's content is kept at once. The file may still
            // hold the preceding version, while the log grows; or that one was an image, too.
            if let current = state.current, store.contents.contains(current.content) { state.isKept = true }
            if !state.contentDiffers(from: database.stat) { try keepCopy(&state, of: node, from: database.file.raw) }
            let before = state.current?.id
            state.stamp = nil
            pending.known = image.hash.map { (image.stat.size, image.stat.modified, $0) }
            try save(
                &state, node, in: name.parent, name.name, file: image.staged.file.raw, pending, stat: image.stat)
            if state.current?.id != before {
                do throws(Errno) { try keep(image.staged, &state, node) } catch {
                    // The file has other content: the next look makes another version.
                    state.current?.flags.insert(.contentLost)
                    if let current = state.current { store.commit([.version(current)]) }
                    state.isKept = true
                    throw error
                }
            }
            state.stamp = Stamp(database.stat)
            record(name.parent, itemRows(state, database.stat))
        } else {
            try save(
                &state, node, in: name.parent, name.name, file: database.file.raw, pending, stat: database.stat)
        }
        captures.captured(state.item, database.log?.stamp)
    }

    /// Makes the image the kept content of the current version.
    private func keep(_ image: StagedFile, _ state: inout Document.State, _ node: Node) throws(Errno) {
        guard !state.isKept, let current = state.current, let name = FileName(bytes: image.name) else { return }
        let directory = FileDescriptor(rawValue: image.directory.raw)
        let label = label(of: current, state, node)
        try retryingWhenFull(isRecord: true) { () throws(Errno) in
            try store.contents.keep(moving: name, in: directory, as: current.content, label)
        }
        state.isKept = true
    }

    // MARK: Captures before removal

    /// Whether a database's file may lack committed data, because a program uses it or used it a moment ago.
    private func mayHaveUncaptured(_ item: ItemID, _ node: Node) -> Bool {
        captures.isWaiting(item)
            || node.writers.contains { $0.flags & (O_ACCMODE | O_TRUNC) == O_RDWR }
    }

    /// The database that loses data with a name about to be removed, if it is so big that its capture must precede the
    /// lock of the names.
    func capturedAhead(_ entry: Entry, by requester: Requester) -> Node? {
        guard entry.stat.isRegular,
            let (node, name) = database(ofJournal: entry, by: requester) ?? entry.node.map({ ($0, entry.name) }),
            let document = knownDocument(of: node), mayHaveUncaptured(document.item, node),
            let found = try? look(at: Node.Name(parent: entry.parent, name: name)), !isCopiedAtOnce(found)
        else { return nil }
        return node
    }

    private func isCopiedAtOnce(_ database: Database) -> Bool {
        max(database.stat.size, database.log?.stamp.size ?? 0) <= Self.copiedAtOnce
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
        guard let document = knownDocument(of: node), mayHaveUncaptured(document.item, node),
            let name = nodes.location(node).name, let directory = try? descriptor(of: name.parent),
            let file = openForLook(name.name, in: directory), isDatabase(name.name, file.raw)
        else { return }
        let requester = author(of: node)
        for _ in 0..<Self.capturesAhead where capture(node, requester, mayWait: false) == nil { return }
    }

    /// The same for its log, without which the database would be in an older state, if a program other than its user
    /// removes the log.
    func captureBeforeLoss(ofJournal entry: Entry, by requester: Requester) {
        guard let (node, name) = database(ofJournal: entry, by: requester), let document = knownDocument(of: node)
        else { return }
        document.state.withLock { captureBeforeLoss(&$0, node, name, in: entry.parent) }
    }

    /// The database of a journal's name, unless the removing program uses the database.
    private func database(ofJournal entry: Entry, by requester: Requester) -> (Node, FileName)? {
        guard let name = Databases.database(ofJournal: entry.name),
            !isJournal(entry.name, in: entry.parent, of: requester),
            let stat = try? Backing.stat(name.bytes, in: entry.directory.raw), stat.isRegular,
            let node = nodes.node(stat.key)
        else { return nil }
        return (node, name)
    }

    private func author(of node: Node) -> Requester {
        captures.requester(node.id) ?? node.writers.last?.requester
            ?? Requester(actor: nil, author: Author(userID: 0, user: "", program: "", process: 0))
    }

    /// Captures a database before it is truncated, replaced or removed: the state that waits for a quiet moment becomes
    /// a version at once. If that is impossible, the operation still continues, and the file itself is kept.
    func captureBeforeLoss(
        _ state: inout Document.State, _ node: Node, _ name: FileName, in parent: Node
    ) {
        guard !state.isUnversioned, mayHaveUncaptured(state.item, node) else { return }
        let name = Node.Name(parent: parent, name: name)
        do {
            let database = try look(at: name)
            guard !database.isHot, isDatabase(name.name, database.file.raw), isChanged(database, state) else { return }
            // A big one was captured before the locks were taken (``captureAhead(_:)``). Later commits belong to a
            // burst, and their capture would delay all other requests.
            guard isCopiedAtOnce(database) else {
                let path = nodes.path(node) ?? .root
                return logger.notice("a database goes as it was captured last", metadata: ["file": "\(path)"])
            }
            let image = try image(of: database, node)
            guard try look(at: name).isSame(as: database) else { return }
            try record(database, image, &state, node, name, author(of: node))
        } catch {
            let path = nodes.path(node) ?? .root
            logger.warning("a database goes uncaptured: \(error)", metadata: ["file": "\(path)"])
        }
    }
}
