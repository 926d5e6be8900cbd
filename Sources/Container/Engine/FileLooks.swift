// What the engine sees when it looks at a file.

import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Looks at files, and tells whether they have changed since they were looked at last. An event is planned several
/// times: bytes that it has read are not read again until the file's times move.
final class FileLooks {
    /// Contents up to this size are hashed at once.
    static let hashedAtOnce: UInt64 = 1 << 20

    /// What a file's bytes were.
    private struct Read {
        var stamp: Stamp
        var fingerprint: Fingerprint
        var held: Fingerprint?
        var begins: Bool?
    }

    private let files: any FilesBelow
    private var read: [FileID: Read] = [:]
    /// Whether bytes may be read now. They are not with the names held.
    var mayRead = true
    /// Whether bytes were wanted that were not read: what the looks say does not count then.
    private(set) var isUnread = false
    /// Whether a file that has changed already counts as it was looked at last. That is enough for a write to it,
    /// unless something is recorded or kept by that.
    var skipsChanged: Bool
    private(set) var hasSkipped = false

    init(files: any FilesBelow, skipsChanged: Bool = false) { (self.files, self.skipsChanged) = (files, skipsChanged) }

    /// Begins the looks of a plan.
    func begin() { (isUnread, hasSkipped) = (false, false) }

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
        if skipsChanged, former.isChanged, !isRead, let stamp {
            hasSkipped = true
            return Look(file: former, stamp: stamp, links: status.links)
        }
        var file = former
        file.modified = status.modified
        // Of a file that is looked at first, what was recorded tells.
        let isSame = stamp.map { $0.size == now.size && $0.modified == now.modified && $0.file == now.file }
            ?? (former.fingerprint.size == now.size && former.modified == now.modified)
        // Then only its attributes have changed.
        if isSame, !isRead { return Look(file: file, stamp: now, links: status.links) }
        // Of a file that was written to elsewhere than at its end, that is all that matters.
        let isAsked = isInDoubt && former.isOnlyExtended
        guard let (fingerprint, begins) = try bytes(of: former, status, held: isAsked ? held : nil, isRead) else {
            isUnread = true
            return Look(file: former, stamp: now, links: status.links)
        }
        file.fingerprint = fingerprint
        file.isChanged = former.isChanged || isWritten && !isSame || fingerprint != former.fingerprint
        if let begins { file.beginsWithHeld = begins }
        return Look(file: file, stamp: now, links: status.links)
    }

    /// - Parameters:
    ///   - held: bytes that the file may begin with.
    ///   - isDoubted: whether equal times tell nothing.
    /// - Returns: the bytes of a file, and whether it begins with the others; nil if they had to be read now, which
    ///   they may not.
    private func bytes(
        of former: LiveFile, _ status: FileStat, held: Fingerprint?, _ isDoubted: Bool
    ) throws(Errno) -> (fingerprint: Fingerprint, begins: Bool?)? {
        let stamp = Stamp(status)
        // A big file is not read, unless it may begin with a small version.
        let unread = Self.unread(status, as: former.content)
        let asked = held.flatMap { $0.size <= min(status.size, Self.hashedAtOnce) ? $0 : nil }
        if let unread, asked == nil { return (unread, held.map { _ in false }) }
        if !isDoubted, let known = read[former.id], known.stamp == stamp, held == nil || held == known.held {
            return (unread ?? known.fingerprint, held.flatMap { _ in known.begins })
        }
        guard mayRead else { return nil }
        let opened = try files.open(former.id)
        let fingerprint = Self.fingerprint(of: opened.raw, status, as: former.content)
        let begins = held.map { Self.begins(opened.raw, status, fingerprint, with: $0) }
        read[former.id] = Read(stamp: stamp, fingerprint: fingerprint, held: held, begins: begins)
        return (fingerprint, begins)
    }

    /// What counts as the bytes of a big file, which are hashed later: until then they are equal to no others. nil for
    /// one that is hashed at once.
    private static func unread(_ status: FileStat, as content: Content) -> Fingerprint? {
        status.size > hashedAtOnce ? .unknown(status.size, in: content, modified: status.modified) : nil
    }

    /// The bytes of an open file, as far as they are hashed at once.
    static func fingerprint(of file: Int32, _ status: FileStat, as content: Content) -> Fingerprint {
        if status.size == 0 { return .empty }
        if let unread = unread(status, as: content) { return unread }
        guard let hash = ContentHash.sha256(of: file, size: status.size) else {
            return .unknown(status.size, in: content, modified: status.modified)
        }
        return Fingerprint(hash: hash, size: status.size)
    }

    /// Whether an open file begins with some bytes, as far as that can be told at once.
    private static func begins(
        _ file: Int32, _ status: FileStat, _ whole: Fingerprint, with held: Fingerprint
    ) -> Bool {
        guard held.size <= status.size, held.size <= hashedAtOnce else { return false }
        if held.size == status.size { return whole == held }
        return ContentHash.sha256(of: file, size: held.size).map { Fingerprint(hash: $0, size: held.size) } == held
    }
}
