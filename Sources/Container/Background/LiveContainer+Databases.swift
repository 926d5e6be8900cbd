// Databases: one document with its journals, captured as a version when it is quiet, never per write (DESIGN 5.1).

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The quiet time of a database and its journals before a capture.
    static let captureNanoseconds: Int64 = 5_000_000_000
    /// The time between captures of an open database, and between looks at a journal that a crash has left.
    static let captureCalmNanoseconds: Int64 = 60_000_000_000

    // MARK: Recognition

    /// Whether a file is a database, by its name or its first bytes.
    func isDatabase(_ name: FileName, _ file: Int32) -> Bool {
        Databases.database(ofJournal: name) == nil
            && Databases.isDatabase(name, header: header(of: file, Databases.headerLength))
    }

    /// Whether a name is the journal of a database beside it: a part of the database, not a document.
    func isPartOfDatabase(_ name: FileName, in directory: SharedDescriptor) -> Bool {
        guard let database = Databases.database(ofJournal: name),
            let file = openForLook(database, in: directory)
        else { return false }
        return withExtendedLifetime(file) { isDatabase(database, file.raw) }
    }

    /// A regular file, open for reading; nil for another type, which does not block either.
    func openForLook(_ name: FileName, in directory: SharedDescriptor) -> SharedDescriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
        guard let raw = (try? Backing.open(name.bytes, in: directory.raw, flags: flags | linux_O_NOATIME))
            ?? (try? Backing.open(name.bytes, in: directory.raw, flags: flags))
        else { return nil }
        let file = SharedDescriptor(raw)
        guard let stat = try? Backing.stat(file.raw), stat.isRegular else { return nil }
        return file
    }

    func header(of file: Int32, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(file, &bytes, count, 0)
        return Array(bytes.prefix(max(0, read)))
    }

    // MARK: Times

    /// Schedules a capture after the close of a handle that changes a database in place.
    func captureLater(_ node: Node, _ item: ItemID, _ requester: Requester) {
        guard captures.add(node.id, item, requester) else { return }
        // It must be found under its present name.
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

    /// Captures everything that waits, because the container is about to close.
    func captureAll() {
        for id in captures.all {
            guard let node = nodes[id], let requester = captures.requester(id) else { continue }
            _ = capture(node, requester, mayWait: false)
        }
    }

    /// Whether a current version differs from the document's file: a database with the commits of its log.
    public func isKeptBeside(_ version: Version, of document: DocumentRecord) -> Bool {
        guard version.kind == .current, let object = try? store.contents.open(version.content) else { return false }
        let kept = SharedDescriptor(object.rawValue)
        if let deletion = document.deletion {
            return withExtendedLifetime(kept) { isDatabase(deletion.place.name, kept.raw) }
        }
        let found = try? looking(as: .container) { walk in
            let (spot, _, _) = try walk.document(document.path)
            guard let file = openForLook(spot.name, in: spot.directory) else { return false }
            return withExtendedLifetime(file) { hasLog(spot.name, file.raw, in: spot.directory) }
        }
        return found ?? false
    }

    /// Whether an item's current version is the kept content of a database.
    func isDatabaseKept(_ item: ItemID, as name: FileName) -> Bool {
        guard let item = try? store.item(item), let current = try? store.version(item.current),
            let object = try? store.contents.open(current.content)
        else { return false }
        let kept = SharedDescriptor(object.rawValue)
        return withExtendedLifetime(kept) { isDatabase(name, kept.raw) }
    }

    /// Whether a database's file lacks data that its log has: then it is not compared with the capture.
    func hasLog(_ name: FileName, _ file: Int32, in directory: SharedDescriptor) -> Bool {
        guard isDatabase(name, file) else { return false }
        return Databases.journals(of: name).contains { journal in
            guard Databases.isLog(journal), let log = openForLook(journal, in: directory) else { return false }
            return withExtendedLifetime(log) { WriteAheadLog { Self.read(log, $0, $1) } != nil }
        }
    }
}
