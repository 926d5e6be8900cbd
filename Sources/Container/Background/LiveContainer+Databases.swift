// Databases: one document with its journals, captured as a version once it is quiet, never per write (DESIGN 5.1).

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// How long a database and its journals must be unchanged to be captured.
    static let captureNanoseconds: Int64 = 5_000_000_000
    /// How often one is that stays open, and when a journal that a crash has left is looked at again.
    static let captureCalmNanoseconds: Int64 = 60_000_000_000

    /// Up to this size an image is hashed when it is made.
    private static let capturedHashSize: UInt64 = 256 << 20

    // MARK: Which

    /// Whether a file is a database, by its name or its first bytes.
    func isDatabase(_ name: FileName, _ file: Int32) -> Bool {
        Databases.database(ofJournal: name) == nil
            && Databases.isDatabase(name, header: header(of: file, Databases.headerLength))
    }

    /// Whether a name is the journal of a database that lies beside it: a part of that, not a document.
    func isPartOfDatabase(_ name: FileName, in directory: SharedDescriptor) -> Bool {
        guard let database = Databases.database(ofJournal: name),
            let file = openForLook(database, in: directory)
        else { return false }
        return withExtendedLifetime(file) { isDatabase(database, file.raw) }
    }

    /// A regular file, open for reading; nil for anything else, which is not waited for either.
    private func openForLook(_ name: FileName, in directory: SharedDescriptor) -> SharedDescriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let raw = (try? Backing.open(name.bytes, in: directory.raw, flags: flags | linux_O_NOATIME))
            ?? (try? Backing.open(name.bytes, in: directory.raw, flags: flags))
        else { return nil }
        let file = SharedDescriptor(raw)
        guard let stat = try? Backing.stat(file.raw), stat.isRegular else { return nil }
        return file
    }

    private func header(of file: Int32, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file, &bytes, count, 0)
        return Array(bytes.prefix(max(0, read)))
    }

    // MARK: When

    /// A handle that changes a database in place was closed: what it has written is looked at once nothing has changed for
    /// a while.
    func captureLater(_ node: Node, _ item: ItemID, _ requester: Requester) {
        guard captures.add(node.id, item, requester) else { return }
        // It must be found under its name of then.
        nodes.retain(node)
        captureAgain(node, in: Self.captureNanoseconds)
    }

    private func captureAgain(_ node: Node, in time: Int64) {
        chores.after(time) { [weak self] in
            guard let self, let waiting = self.captures.waiting(node.id) else { return }
            if let time = self.capture(node, waiting.requester, mayWait: true) {
                self.captureAgain(node, in: time)
            } else if self.captures.remove(node.id, changes: waiting.changes) {
                self.forget(node.id, lookups: 1)
            } else {
                self.captureAgain(node, in: Self.captureNanoseconds)
            }
        }
    }

    /// What has not been captured is, because there is no later.
    func captureAll() {
        for id in captures.all {
            guard let node = nodes[id], let requester = captures.requester(id) else { continue }
            _ = capture(node, requester, mayWait: false)
        }
    }

    // MARK: How

    /// A database as it lies there.
    private struct Database {
        var file: SharedDescriptor
        var stat: FileStat
        /// The last change of it or of one of its journals.
        var changed: Timestamp
        /// A transaction has begun to change it and is not over.
        var isHot = false
        /// The write-ahead log, if there is one.
        var log: (file: SharedDescriptor, stamp: Stamp)?
    }

    /// Makes a version of a database that is quiet.
    /// - Returns: after how long to look again; nil: there is nothing to be captured any more.
    func capture(_ node: Node, _ requester: Requester, mayWait: Bool) -> Int64? {
        do {
            let again = try withLiveDocument(of: node) { (state, _, name) throws(Errno) -> Int64? in
                try capture(&state, node, name, requester, mayWait: mayWait)
            }
            return again ?? nil
        } catch {
            let path = nodes.path(node) ?? .root
            logger.error("a database could not be captured: \(error)", metadata: ["file": "\(path)"])
            return nil
        }
    }

    private func capture(
        _ state: inout Document.State, _ node: Node, _ name: Node.Name, _ requester: Requester, mayWait: Bool
    ) throws(Errno) -> Int64? {
        guard !state.isUnversioned else { return nil }
        let database = try look(at: name)
        guard state.differs(from: database.stat) || database.log?.stamp != captures.log(of: state.item) else {
            captures.captured(state.item, database.log?.stamp)
            return nil
        }
        let age = now.since(database.changed)
        if mayWait, age < Self.captureNanoseconds { return Self.captureNanoseconds - max(0, age) }
        // What a transaction has half changed is no state of it: nobody waits for that but us.
        if database.isHot { return node.hasWriters ? Self.captureNanoseconds : Self.captureCalmNanoseconds }
        return try record(database, &state, node, name, requester) ? nil : Self.captureNanoseconds
    }

    private func look(at name: Node.Name) throws(Errno) -> Database {
        let directory = try descriptor(of: name.parent)
        guard let file = openForLook(name.name, in: directory) else { throw .noSuchFileOrDirectory }
        let stat = try Backing.stat(file.raw)
        var database = Database(file: file, stat: stat, changed: stat.changed)
        for journal in Databases.journals(of: name.name) {
            // Readers change the shared memory of the log, too.
            guard !journal.bytes.hasSuffix("-shm"), let file = openForLook(journal, in: directory),
                let stat = try? Backing.stat(file.raw), stat.size > 0
            else { continue }
            database.changed = max(database.changed, stat.changed)
            if journal.bytes.hasSuffix("-wal") { database.log = (file, Stamp(stat)) }
            if Databases.isHot(journal: header(of: file.raw, 8)) { database.isHot = true }
        }
        return database
    }

    /// The version is the database with what its log has committed: one file, which any program can open.
    /// - Returns: false if somebody has changed it meanwhile.
    private func record(
        _ database: Database, _ state: inout Document.State, _ node: Node, _ name: Node.Name, _ requester: Requester
    ) throws(Errno) -> Bool {
        // What is beyond the database's end is in the log, so that no more can come of both.
        let log = database.log.flatMap { log in WriteAheadLog { Self.read(log.file, $0, $1) } }.flatMap { log in
            let most = database.stat.size + (database.log?.stamp.size ?? 0)
            return UInt64(log.pageCount) * UInt64(log.pageSize) <= most ? log : nil
        }
        var pending = PendingSave(kind: .appendOrInPlace, requester: requester, isSealed: true)
        let mayBeCopied = store.contents.canReflink || database.stat.size <= settings.maxFile
        if mayBeCopied, node.hasWriters || log != nil {
            // What the file holds may change, or differs from what it stands for: the version's content is kept at once.
            let image = try image(of: database, log)
            guard isUnchanged(database) else { return false }
            // The file may hold the version before still, while the log goes on; or that was an image, too.
            if let current = state.current, store.contents.contains(current.content) { state.isKept = true }
            if !state.contentDiffers(from: database.stat) { try keepCopy(&state, of: node, from: database.file.raw) }
            let before = state.current?.id
            state.stamp = nil
            let stat = try Backing.stat(image.file.raw)
            // A bigger one too: whether it is the same again decides whether there is a version.
            if stat.size <= Self.capturedHashSize, let hash = ContentHash.sha256(of: image.file.raw, size: stat.size) {
                pending.known = (stat.size, stat.modified, hash)
            }
            try save(&state, node, in: name.parent, name.name, file: image.file.raw, pending, stat: stat)
            if state.current?.id != before {
                do throws(Errno) { try keep(image, &state, node) } catch {
                    // The file holds something else: the next look makes another version.
                    state.current?.flags.insert(.contentLost)
                    if let current = state.current { store.commit([.version(current)]) }
                    state.isKept = true
                    throw error
                }
            }
            state.stamp = Stamp(database.stat)
            record(name.parent, itemRows(state, database.stat))
        } else {
            try save(&state, node, in: name.parent, name.name, file: database.file.raw, pending, stat: database.stat)
        }
        captures.captured(state.item, database.log?.stamp)
        return true
    }

    private func isUnchanged(_ database: Database) -> Bool {
        guard let stat = try? Backing.stat(database.file.raw), Stamp(stat) == Stamp(database.stat) else { return false }
        guard let log = database.log else { return true }
        return (try? Backing.stat(log.file.raw)).map { Stamp($0) == log.stamp } ?? false
    }

    private static func read(_ file: SharedDescriptor, _ offset: UInt64, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file.raw, &bytes, count, off_t(clamping: offset))
        return Array(bytes.prefix(max(0, read)))
    }

    /// A copy of a database into which the committed pages of its log were written.
    private func image(of database: Database, _ log: WriteAheadLog?) throws(Errno) -> StagedFile {
        let staged = try StagedFile(in: store.state)
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
        return staged
    }

    /// The image becomes the current version's kept content.
    private func keep(_ image: StagedFile, _ state: inout Document.State, _ node: Node) throws(Errno) {
        guard !state.isKept, let current = state.current, let name = FileName(bytes: image.name) else { return }
        let directory = FileDescriptor(rawValue: image.directory.raw)
        let label = label(of: current, state, node)
        try retryingWhenFull(isRecord: true) { () throws(Errno) in
            try store.contents.keep(moving: name, in: directory, as: current.content, label)
        }
        state.isKept = true
    }

    /// Whether what a database's file holds is not all there is to it: then it is not compared with what was captured.
    func hasLog(_ name: FileName, _ file: Int32, in directory: SharedDescriptor) -> Bool {
        guard isDatabase(name, file) else { return false }
        return Databases.journals(of: name).contains { journal in
            guard journal.bytes.hasSuffix("-wal"), let log = openForLook(journal, in: directory) else { return false }
            return withExtendedLifetime(log) { WriteAheadLog { Self.read(log, $0, $1) } != nil }
        }
    }

    // MARK: Before it goes

    /// A database that is replaced or removed has been captured before: what was written to it and waits for a quiet moment
    /// becomes a version as it is.
    func captureBeforeLoss(
        _ state: inout Document.State, _ node: Node, _ name: FileName, in directory: SharedDescriptor, parent: Node
    ) throws(Errno) {
        guard captures.isWaiting(state.item), !node.hasWriters else { return }
        let database = try look(at: Node.Name(parent: parent, name: name))
        guard state.differs(from: database.stat) || database.log?.stamp != captures.log(of: state.item) else { return }
        let requester = captures.requester(node.id)
            ?? Requester(actor: nil, author: Author(userID: 0, user: "", program: "", process: 0))
        _ = try record(database, &state, node, Node.Name(parent: parent, name: name), requester)
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
