// The processes behind requests, their observations, and their temporary names.

import CLinux
import Glibc
import Synchronization
import VersionModel
import VersionStore

/// Joins the process table, the observations and the temporary names. Lock order: last.
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
    private let processes: ProcessTable?
    private let users = UserNames()

    init(boundaries: [String]?) {
        let exits = ExitRelay()
        processes = ProcessWatch.start().map { watch in
            ProcessTable(
                watch: watch, boundaries: boundaries.map(Boundaries.init) ?? .standard, onExit: { exits.ended($0) })
        }
        exits.connect { [weak self] actor in self?.ended(actor) }
    }

    // MARK: Processes

    func actor(thread: pid_t) -> FileActor? { processes?.actor(thread: thread) }

    /// The same for a process that closes a file, possibly during execve.
    func actor(closing thread: pid_t) -> FileActor? { processes?.actor(thread: thread, isClosing: true) }

    /// Whether the process is known and has not ended.
    func isKnown(_ actor: ActorRef) -> Bool { processes?.isKnown(actor) ?? false }

    func program(of actor: ActorRef) -> String { processes?.program(of: actor.process) ?? "" }

    /// The same for a process that closes a file, possibly during execve.
    func program(ofClosing actor: ActorRef) -> String {
        processes?.program(of: actor.process, isClosing: true) ?? ""
    }

    /// - Parameter isOpening: whether the save comes later and reads the program again: a second open by the same
    ///   process then reads nothing from /proc.
    func requester(thread: pid_t, user: uid_t, isOpening: Bool = false) -> Requester {
        let actor = actor(thread: thread)
        let program = actor.map {
            isOpening ? processes?.lastProgram(of: $0.ref.process) ?? "" : self.program(of: $0.ref)
        }
        return Requester(
            actor: actor,
            author: Author(
                userID: user, user: users.name(of: user), program: program ?? "",
                process: actor?.ref.process ?? 0))
    }

    /// The author of content from before the mount: the file's owner.
    func owner(of stat: FileStat) -> Author {
        users.owner(stat.raw.user)
    }

    /// Whether a signal is pending that will end the thread's process: neither caught nor ignored.
    func hasFatalSignal(thread: pid_t) -> Bool {
        guard let status = SystemProcReader().contents(of: "\(thread)/status") else { return true }
        func mask(_ key: String) -> UInt64 {
            for line in status.split(separator: 10) where line.starts(with: key.utf8) {
                let digits = String(decoding: line.dropFirst(key.utf8.count), as: UTF8.self)
                return UInt64(digits.filter { !$0.isWhitespace }, radix: 16) ?? 0
            }
            return 0
        }
        let pending = mask("SigPnd:") | mask("ShdPnd:")
        // Signals whose default is not to end the process: SIGCHLD, SIGCONT, SIGURG, SIGWINCH, and the stopping ones.
        let harmless: UInt64 = [17, 18, 19, 20, 21, 22, 23, 28].reduce(0) { $0 | 1 << ($1 - 1) }
        // A blocked signal goes to a reader of a signalfd(2), or waits.
        return pending & ~mask("SigBlk:") & ~mask("SigCgt:") & ~mask("SigIgn:") & ~harmless != 0
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
        TemporaryNames.mayBeEphemeral(name)
            && TemporaryNames.ephemeral(name, program: requester.author.program, process: requester.author.process)
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

/// Allows the process table to be made before its listener.
private final class ExitRelay: Sendable {
    private struct State { var listener: (@Sendable (ActorRef) -> Void)? }
    private let state = RankedMutex(State())

    func connect(_ listener: @escaping @Sendable (ActorRef) -> Void) { state.withLock { $0.listener = listener } }
    func ended(_ actor: ActorRef) { state.withLock(\.listener)?(actor) }
}
