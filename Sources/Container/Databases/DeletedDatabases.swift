// A deleted database comes back as what its readers saw, also if its log is not there any more.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Completes deleted databases before they come back.
struct DeletedDatabases {
    /// A deleted database whose file is not all that was committed to it.
    private struct Incomplete {
        var file: SharedDescriptor
        var stat: FileStat
        /// Its current version, which has what the log had.
        var current: Version
        var content: OpenContent
    }

    let store: VersionStore
    let custodian: Custodian
    let names: ReadWriteLock
    let nodes: NodeTable
    let passthrough: Passthrough
    let identity: FileIdentity
    let space: Space
    let logger: Logger

    /// Gives the file of a deleted database what its log had, if it is still as it was when its current version was
    /// captured. That is copied with no lock held, and is whole on the disk before it is put into the deleted area:
    /// what goes back into the tree is one file, which the deletion names, at any moment that a crash may choose.
    ///
    /// - Returns: the deletion as it is then.
    /// - Throws: that there is no room; what else goes wrong leaves the file as it is.
    func complete(_ deletion: Deletion) throws(Errno) -> Deletion {
        guard let database = incomplete(deletion) else { return deletion }
        do throws(Errno) {
            let staged = try StagedFile(in: store.state)
            try space.retryingWhenFull(wanted: store.contents.canReflink ? 0 : database.content.size, mayWait: true) {
                () throws(Errno) in try staged.fill(from: database.content)
            }
            try staged.dress(like: database.file.raw)
            let time = database.current.modified.timespec
            try Backing.check { futimens(staged.file.raw, [time, time]) }
            try store.contents.synchronizing { () throws(Errno) in _ = try Backing.check { fsync(staged.file.raw) } }
            return try names.writing { (names) throws(Errno) in
                try replace(names, deletion, database, by: staged)
            }
        } catch {
            guard !error.isFull else { throw error }
            logger.warning("a database comes back without its log: \(error)", metadata: ["file": "\(deletion.path)"])
            return deletion
        }
    }

    private func incomplete(_ deletion: Deletion) -> Incomplete? {
        guard deletion.type == .file, let id = deletion.item, let item = try? store.item(id),
            let current = try? store.version(item.current), let object = try? store.contents.open(current.content)
        else { return nil }
        let content = OpenContent(descriptor: SharedDescriptor(object.rawValue), size: current.size)
        guard let raw = try? store.deletedArea.open(deletion.id) else { return nil }
        let file = SharedDescriptor(raw.rawValue)
        guard let stat = try? Backing.stat(file.raw), item.file.size == stat.size, item.file.modified == stat.modified,
            current.modified != stat.modified, DatabaseRule.isDatabase(deletion.place.name, file: file.raw)
        else { return nil }
        return Incomplete(file: file, stat: stat, current: current, content: content)
    }

    /// Whether a program has it open for writing, or mapped.
    private func mayStillChange(_ key: BackingKey, _ file: SharedDescriptor) -> Bool {
        guard let node = nodes.node(key), node.mayChange else { return false }
        // What the kernel was given for reading and writing by itself would count as a writer.
        passthrough.drop(node)
        return node.hasWriters || WritableMappings.exist(on: file.raw)
    }

    private func replace(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion, _ database: Incomplete, by staged: StagedFile
    ) throws(Errno) -> Deletion {
        let place = store.deletedArea.place(of: deletion.id)
        // It may have come back meanwhile, or be written to; and other names of it say that they are of this file.
        guard let name = FileName(bytes: staged.name),
            let stat = try? Backing.stat(Array(place.name.utf8), in: place.directory.rawValue),
            stat.key == database.stat.key, stat.size == database.stat.size, stat.modified == database.stat.modified,
            !mayStillChange(stat.key, database.file),
            var whole = try? store.deletion(deletion.id),
            (try? store.deletions(of: database.current.item))?.map(\.id) == [deletion.id]
        else { return deletion }
        let now = try Backing.stat(staged.file.raw)
        whole.file = identity.id(device: now.key.device, inode: now.key.inode, born: now.born)
        whole.size = now.size
        try custodian.replace(names, whole, moving: name, in: staged.directory)
        // A program that has it open continues to read the former file.
        nodes.detach(deletion.id, database.file)
        store.commit([.deletion(whole)])
        return whole
    }
}
