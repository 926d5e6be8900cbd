// Reads that are only for a backup: by those a program does not know what it replaces (DESIGN 5.2).

import Lineage
import VersionModel

/// Tells reads of documents from reads of what is about to be copied to a backup name. The backup is made just after
/// the read (vim, joe, mg), or just before it (`f~` by nano -B).
final class BackupReads: Sendable {
    /// What a program has read.
    struct Read: Sendable {
        var file: FileID
        /// All names that the file had.
        var places: [Place]
    }

    /// A document that a program was refused to replace. It may have another name by the time that it is read, or its
    /// content another file, because the program has put back a copy.
    struct Watched: Hashable, Sendable {
        var file: FileID
        var place: Place
    }

    private struct State {
        /// The last read of each program.
        var reads: [ActorNumber: (read: Read, time: Int64)] = [:]
        /// The backup names that programs have just made.
        var backups: [ActorNumber: (place: Place, time: Int64)] = [:]
        /// How often programs have read what they were refused to replace, since the last refusal.
        var watched: [ActorNumber: [Watched: Int]] = [:]

        /// One more look at what a program was refused to replace, or one less.
        mutating func count(_ looks: Int, at read: Read, by actor: ActorNumber) {
            for seen in watched[actor]?.keys.filter({ $0.file == read.file || read.places.contains($0.place) }) ?? [] {
                watched[actor]?[seen]? += looks
            }
        }
    }

    /// The longest time between a read and the backup that it is for, in nanoseconds.
    private static let window: Int64 = 10_000_000_000
    /// With more programs than these, those beyond the window are forgotten.
    private static let most = 1000

    /// Innermost.
    private let state = RankedMutex(State())

    /// Notes that a program opens a file for reading.
    /// - Returns: false if it has made a backup name of the file for that.
    func counts(_ read: Read, by actor: ActorNumber) -> Bool {
        let now = Scheduler.now
        return state.withLock { state in
            if let backup = state.backups[actor], now - backup.time <= Self.window,
                read.places.contains(where: { Self.isBackup(backup.place, of: $0) })
            {
                return false
            }
            state.reads[actor] = (read, now)
            state.count(1, at: read, by: actor)
            if state.reads.count > Self.most {
                state.reads = state.reads.filter { now - $0.value.time <= Self.window }
                state.backups = state.backups.filter { now - $0.value.time <= Self.window }
            }
            return true
        }
    }

    /// Notes a new file, or one that is as good as new.
    /// - Returns: what its program has read for it; nil if its last read counts.
    func made(_ place: Place, by actor: ActorNumber) -> Read? {
        let now = Scheduler.now
        return state.withLock { state in
            // A backup that is made before the read for it.
            if place.name.bytes.last == UInt8(ascii: "~") { state.backups[actor] = (place, now) }
            guard let last = state.reads[actor], now - last.time <= Self.window,
                last.read.places.contains(where: { Self.isBackup(place, of: $0) })
            else { return nil }
            state.reads[actor] = nil
            state.count(-1, at: last.read, by: actor)
            return last.read
        }
    }

    /// A program was refused to replace a document: whether it reads that from now on, counts.
    func watch(_ document: Watched, by actor: ActorNumber) {
        state.withLock { state in
            if state.watched[actor] == nil, state.watched.count >= Self.most { state.watched.removeAll() }
            state.watched[actor, default: [:]][document] = 0
        }
    }

    /// Whether a program has not read a document since it was refused to replace it, but for a backup.
    func hasNotRead(_ document: Watched, by actor: ActorNumber) -> Bool {
        state.withLock { $0.watched[actor]?[document].map { $0 <= 0 } ?? false }
    }

    /// Notes that a program has closed or removed a file: its later reads are not for that.
    /// - Parameter place: nil if the file has lost its name meanwhile.
    func filled(_ place: Place?, by actor: ActorNumber) {
        state.withLock { if place == nil || $0.backups[actor]?.place == place { $0.backups[actor] = nil } }
    }

    private static func isBackup(_ place: Place, of original: Place) -> Bool {
        place.directory == original.directory && TemporaryNames.isBackup(place.name, of: original.name)
    }
}
