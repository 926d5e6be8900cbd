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

    private struct State {
        /// The last read of each program.
        var reads: [ActorNumber: (read: Read, time: Int64)] = [:]
        /// The backup names that programs have just made.
        var backups: [ActorNumber: (place: Place, time: Int64)] = [:]
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
            return last.read
        }
    }

    /// Whether a program's last read is of a document, after a moment, and for no backup.
    func hasRead(_ place: Place, since time: Int64, by actor: ActorNumber) -> Bool {
        state.withLock { state in
            state.reads[actor].map { $0.time > time && $0.read.places.contains(place) } ?? false
        }
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
