// A database as its files are at one moment.

import Glibc
import SystemPackage
import VersionModel

/// A database with its files.
struct FoundDatabase {
    /// Where it was found.
    var name: Node.Name
    var file: SharedDescriptor
    var stat: FileStat
    /// The last change of the database or one of its journals.
    var changed: Timestamp
    /// Whether a transaction on it is in progress.
    var isHot = false
    /// The write-ahead log, if there is one.
    var log: (file: SharedDescriptor, stamp: Stamp)?

    init(_ name: Node.Name, in directory: SharedDescriptor) throws(Errno) {
        guard let file = SharedDescriptor.forLook(name.name, in: directory) else { throw .noSuchFileOrDirectory }
        stat = try Backing.stat(file.raw)
        (self.name, self.file, changed) = (name, file, stat.changed)
        for journal in DatabaseRule.journals(of: name.name) {
            // Readers change the shared memory of the log, too.
            guard !DatabaseRule.isSharedMemory(journal),
                let file = SharedDescriptor.forLook(journal, in: directory),
                let stat = try? Backing.stat(file.raw), stat.size > 0
            else { continue }
            changed = max(changed, stat.changed)
            if DatabaseRule.isLog(journal) { log = (file, Stamp(stat)) }
            if DatabaseRule.isHot(journal: file.bytes(0, 8)) { isHot = true }
        }
    }

    /// The size of the bigger one of file and log.
    var size: UInt64 { max(stat.size, log?.stamp.size ?? 0) }

    func isSame(as other: FoundDatabase) -> Bool {
        Stamp(stat) == Stamp(other.stat) && log?.stamp == other.log?.stamp
    }
}
