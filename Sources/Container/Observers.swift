// What processes have seen of documents, and their temporary names.

import CLinux
import Glibc
import Synchronization
import VersionModel

/// Joins the observations and the temporary names. Lock order: last.
final class Observers: Sendable {
    /// The time in which a maker may remove its own file under an ephemeral name without a trace.
    static let makersTimeNanoseconds: Int64 = 3_600_000_000_000
    /// The longest time between a read and the backup that it is for.
    private static let backupWindowNanoseconds: Int64 = 10_000_000_000

    private struct Read {
        var item: ItemID
        var places: [Place]
        var time: Int64
    }

    private struct State {
        /// The last read of each process, to recognize a read that is only for a backup.
        var lastReads: [ActorRef: Read] = [:]
        /// The backup names that a process has just created.
        var backups: [ActorRef: (place: Place, time: Int64)] = [:]
    }

    let books = ObservationBooks()
    private let state = RankedMutex(State())

    init(_ callers: Callers) {
        callers.whenEnded { [weak self] actor in self?.ended(actor) }
    }

    private func ended(_ actor: ActorRef) {
        books.read { $0.exited(actor, now: Self.now) }
        state.withLock { state in
            state.lastReads[actor] = nil
            state.backups[actor] = nil
        }
    }

    // MARK: Observations

    /// Notes an open for reading. A read that only copies the file to a backup is no observation: the backup's name was
    /// created just before (nano -B), or is created just after (vim, joe, mg; see ``created(_:in:by:)``).
    /// - Returns: whether the read is one.
    @discardableResult
    func read(
        _ version: VersionID, of item: ItemID, at places: [Place], by actor: FileActor, now: Timestamp
    ) -> Bool {
        let now = Self.now
        let counts = state.withLock { state in
            if let backup = state.backups[actor.ref], now - backup.time <= Self.backupWindowNanoseconds,
                places.contains(where: {
                    $0.directory == backup.place.directory && TemporaryNames.isBackup(backup.place.name, of: $0.name)
                })
            {
                return false
            }
            state.lastReads[actor.ref] = Read(item: item, places: places, time: now)
            return true
        }
        if counts { books.note(.read, of: item, version: version, by: actor, at: now) }
        return counts
    }

    func saved(_ version: VersionID, of item: ItemID, by actor: FileActor?, now: Timestamp) {
        guard let actor else { return }
        books.note(.save, of: item, version: version, by: actor, at: Self.now)
    }

    func base(of actor: FileActor, item: ItemID) -> VersionID? {
        books.read { $0.base(of: item, for: actor, now: Self.now) }
    }

    /// A program that unlinks a name before creating it saves without a base.
    func forgetBase(of item: ItemID, _ actor: FileActor?) {
        guard let actor else { return }
        books.read { $0.noBase(for: item, by: actor, now: Self.now) }
    }

    /// The versions that programs may be working from: thinning must keep them.
    var bases: Set<VersionID> { books.read { $0.bases } }

    /// Notes a new file: if it is a backup of the maker's last read, that read does not count.
    /// - Returns: the places of the file that the maker has read for the backup; nil if its last read counts.
    func created(_ name: FileName, in directory: FileID, by requester: Requester) -> [Place]? {
        guard let actor = requester.actor else { return nil }
        let backedUp: Read? = state.withLock { state in
            // A backup that is created before it is filled: `f~`, by nano -B.
            if name.bytes.last == 126 {
                state.backups[actor.ref] = (Place(directory: directory, name: name), Self.now)
            }
            guard let read = state.lastReads[actor.ref], Self.now - read.time <= Self.backupWindowNanoseconds,
                read.places.contains(where: {
                    $0.directory == directory && TemporaryNames.isBackup(name, of: $0.name)
                })
            else { return nil }
            return read
        }
        guard let backedUp else { return nil }
        books.read { $0.retractLastRead(of: backedUp.item, by: actor) }
        return backedUp.places
    }

    /// Notes the close of a file: its writer's later reads are not for its content.
    /// - Parameter place: nil if it has lost its name meanwhile.
    func filled(_ place: Place?, by actor: ActorRef) {
        state.withLock { if place == nil || $0.backups[actor]?.place == place { $0.backups[actor] = nil } }
    }

    func unlinked(_ place: Place, item: ItemID, by requester: Requester) {
        guard let actor = requester.actor else { return }
        state.withLock { if $0.backups[actor.ref]?.place == place { $0.backups[actor.ref] = nil } }
    }

    // MARK: Temporary names

    func isEphemeral(_ name: FileName, _ requester: Requester) -> Bool {
        requester.makesUp(name)
    }

    func isBackup(_ name: FileName, of original: FileName) -> Bool { TemporaryNames.isBackup(name, of: original) }

    func maker(_ requester: Requester, now: Timestamp) -> Document.Maker? {
        requester.actor.map { Document.Maker(actor: $0, program: requester.author.program, time: now) }
    }

    /// Whether the requester is the maker of a document under an ephemeral name, or its kin, in time.
    func isMaker(_ maker: Document.Maker, _ requester: Requester, now: Timestamp) -> Bool {
        guard let actor = requester.actor, now.since(maker.time) <= Self.makersTimeNanoseconds else { return false }
        return maker.actor.isKin(of: actor)
    }

    /// A clock that runs while the system sleeps and is never set, in nanoseconds.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Timestamp(time).nanoseconds
    }
}
