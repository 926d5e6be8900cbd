// The callers of requests: their processes and their users.

import CLinux
import Coordination
import Glibc
import Synchronization
import VersionModel
import VersionStore

/// Finds the process and the user of a request, from what the kernel says of its caller and from /proc. The class knows
/// nothing of what the caller does.
final class Callers: Sendable {
    private let processes: ProcessTable?
    private let users = UserNames()
    private let exits: ExitRelay

    /// - Parameter boundaries: programs that end a lineage; nil for the defaults.
    init(boundaries: [String]?) {
        let exits = ExitRelay()
        self.exits = exits
        processes = ProcessWatch.start().map { watch in
            ProcessTable(
                watch: watch, boundaries: boundaries.map(Boundaries.init) ?? .standard, onExit: { exits.ended($0) })
        }
    }

    /// Says who hears that a known process has ended.
    func whenEnded(_ listener: @escaping @Sendable (ActorRef) -> Void) { exits.connect(listener) }

    // MARK: Requesters

    /// The process and the user behind a request.
    ///
    /// - Parameter isOpening: whether the save comes later and reads the program again: a second open by the same
    ///   process then reads nothing from /proc.
    func requester(_ caller: Caller, isOpening: Bool = false) -> Requester {
        var requester = requester(thread: caller.thread, user: caller.user, isOpening: isOpening)
        requester.isProgram = !caller.isOperation
        return requester
    }

    /// Who an operation is done by.
    func requester(_ principal: Principal) -> Requester {
        requester(thread: principal.process, user: principal.user, isOpening: false)
    }

    private func requester(thread: pid_t, user: uid_t, isOpening: Bool) -> Requester {
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

    /// Finds the process of a request before the names are locked: /proc tells nothing of an ancestor that is becoming
    /// another program until that has closed its files, for which the names may be needed.
    func learn(_ caller: Caller) { _ = actor(thread: caller.thread) }

    /// The process at the other end of a client's connection.
    func party(_ principal: Principal) -> CoordinationParty {
        let program = actor(thread: principal.process).map { self.program(of: $0.ref) }
        return CoordinationParty(process: principal.process, program: program ?? "", user: principal.user)
    }

    /// The author of content from before the mount: the file's owner.
    func owner(of stat: FileStat) -> Author { users.owner(stat.raw.user) }

    /// A process that has asked for nothing itself.
    func author(of actor: ActorRef) -> Author {
        let status = SystemProcReader().contents(of: "\(actor.process)/status") ?? []
        let line = status.split(separator: 10).first { $0.starts(with: "Uid:".utf8) } ?? []
        // The user whose rights on files it has is the last of four.
        let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        let user = words.last.flatMap { UInt32($0) }
        return Author(
            userID: user ?? 0, user: users.name(of: user ?? 0), program: program(of: actor), process: actor.process)
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
}

/// Allows the process table to be made before its listener.
private final class ExitRelay: Sendable {
    private struct State { var listener: (@Sendable (ActorRef) -> Void)? }
    private let state = RankedMutex(State())

    func connect(_ listener: @escaping @Sendable (ActorRef) -> Void) { state.withLock { $0.listener = listener } }
    func ended(_ actor: ActorRef) { state.withLock(\.listener)?(actor) }
}
