// What the engine sees when it looks at a file.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Looks at files, and tells whether they have changed since they were looked at last.
struct FileLooks: Sendable {
    /// Contents up to this size are hashed at once.
    static let hashedAtOnce: UInt64 = 1 << 20

    let files: any FilesBelow

    /// A file as it is, with what is remembered of it.
    struct Look: Sendable {
        var file: LiveFile
        var stamp: Stamp
        /// How many names it has below.
        var links: UInt32
    }

    /// Looks at a file again.
    /// - Parameters:
    ///   - stamp: of the last look.
    ///   - held: the bytes of the version that the file holds.
    ///   - isInDoubt: whether writes that come unseen may have changed more than the end of the file.
    ///   - isWritten: whether a program may have written to it since. Else equal bytes under another time mean that the
    ///     time was set.
    ///   - isDoubted: whether it may have changed although no time has moved: by a store into a mapped page that waits
    ///     to be written already. Its bytes tell then, up to a size.
    /// - Returns: nil if there is no such file any more, or if it is none that has versions.
    func look(
        at former: LiveFile, _ stamp: Stamp?, held: Fingerprint?, isInDoubt: Bool, isWritten: Bool,
        isDoubted: Bool = false
    ) throws(Errno) -> Look? {
        guard let status = try files.status(of: former.id), status.isRegular else { return nil }
        let now = Stamp(status)
        let isRead = isDoubted && status.size <= Self.hashedAtOnce
        if now == stamp, !isRead { return Look(file: former, stamp: now, links: status.links) }
        var file = former
        file.modified = status.modified
        // Of a file that is looked at first, what was recorded tells.
        let isSame = stamp.map { $0.size == now.size && $0.modified == now.modified && $0.file == now.file }
            ?? (former.fingerprint.size == now.size && former.modified == now.modified)
        // Then only its attributes have changed.
        if isSame, !isRead { return Look(file: file, stamp: now, links: status.links) }
        let opened = try files.open(former.id)
        file.fingerprint = Self.fingerprint(of: opened.raw, status, as: former.content)
        let isOther = file.fingerprint != former.fingerprint
        file.isChanged = former.isChanged || isWritten && !isSame || isOther
        if isInDoubt, let held { file.beginsWithHeld = Self.begins(opened.raw, status, with: held) }
        return Look(file: file, stamp: now, links: status.links)
    }

    /// The bytes of an open file. Those of a big one are hashed later: until then they are equal to no others.
    static func fingerprint(of file: Int32, _ status: FileStat, as content: Content) -> Fingerprint {
        if status.size == 0 { return .empty }
        guard status.size <= hashedAtOnce, let hash = ContentHash.sha256(of: file, size: status.size) else {
            return .unknown(status.size, in: content, modified: status.modified)
        }
        return Fingerprint(hash: hash, size: status.size)
    }

    /// Whether an open file begins with some bytes, as far as that can be told at once.
    private static func begins(_ file: Int32, _ status: FileStat, with held: Fingerprint) -> Bool {
        guard held.size <= status.size else { return false }
        guard held.size <= hashedAtOnce else { return false }
        return ContentHash.sha256(of: file, size: held.size).map { Fingerprint(hash: $0, size: held.size) } == held
    }
}
