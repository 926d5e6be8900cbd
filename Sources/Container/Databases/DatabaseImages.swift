// What a reader of a database sees, in one file: the database with the committed pages of its log.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

/// One file with everything that a database has committed.
struct DatabaseImage {
    var staged: StagedFile
    var stat: FileStat
    var hash: [UInt8]?
}

/// Makes such files in staging.
struct DatabaseImages: Sendable {
    /// Up to this size an image is hashed when it is made.
    private static let hashedSize: UInt64 = 256 << 20

    let state: ContainerState
    let policy: Policy
    let space: Space

    /// The state of a database, if the file alone does not have it or may soon change; nil if the file is enough.
    func image(
        of database: FoundDatabase, _ node: Node, mayWait: Bool = false
    ) throws(Errno) -> DatabaseImage? {
        guard state.contents.canReflink || database.stat.size <= policy.settings.maxFile else { return nil }
        // Pages beyond the database's end are in the log, so both together limit the size.
        let log = database.log.flatMap { log in WriteAheadLog { log.file.bytes($0, $1) } }.flatMap { log in
            let most = database.stat.size + (database.log?.stamp.size ?? 0)
            return UInt64(log.pageCount) * UInt64(log.pageSize) <= most ? log : nil
        }
        guard log != nil || node.hasWriters else { return nil }
        let staged = try StagedFile(in: state.directory)
        let wanted = state.contents.canReflink ? 0 : database.stat.size
        try space.retryingWhenFull(wanted: wanted, mayWait: mayWait) { () throws(Errno) in
            try fill(staged, database, log)
        }
        if !state.contents.canReflink { try state.contents.order(FileDescriptor(rawValue: staged.file.raw)) }
        let stat = try Backing.stat(staged.file.raw)
        // Also for a bigger one: an unchanged hash means no new version.
        let hash = stat.size <= Self.hashedSize ? ContentHash.sha256(of: staged.file.raw, size: stat.size) : nil
        return DatabaseImage(staged: staged, stat: stat, hash: hash)
    }

    /// Copies a database, and writes the committed pages of its log into the copy.
    private func fill(_ staged: StagedFile, _ database: FoundDatabase, _ log: WriteAheadLog?) throws(Errno) {
        try StagedFile.copy(from: database.file.raw, to: staged.file.raw, size: database.stat.size)
        try? staged.dress(like: database.file.raw)
        var time = database.stat.modified
        if let log, let file = database.log?.file {
            for (page, offset) in log.pages where page <= log.pageCount {
                let bytes = file.bytes(offset, log.pageSize)
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
}
