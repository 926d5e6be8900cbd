// Finds the process of a request: from its thread number to an actor with its lineage, cached until the process ends.

import Collections
import DequeModule
import Synchronization
import VersionModel
import VersionStore

/// The processes that use the mount (DESIGN 5.2).
///
/// The cached facts do not change while a process lives, as far as they matter here: its start, session, terminal,
/// control group and ancestors at the time when it was first seen (a process whose parent ends keeps its lineage). An
/// entry is removed when its process ends. Two facts change and are not cached. One is the program (exec keeps the
/// process, and a shell opens `sed … > file` before it becomes sed): it is read when it matters, at saves and for
/// temporary names, never at plain opens. The other is the threads of a process, for which the kernel is asked by
/// tgkill(2).
public final class ProcessTable: Sendable {
    /// An object, so that a look-up copies nothing; the table's lock guards its mutable fields.
    private final class Entry: @unchecked Sendable {
        let facts: ProcessFacts
        let actor: FileActor
        var used: UInt64 = 0
        var program: Program?
        /// Set while it is one of the last saving processes.
        var held: Held?

        init(facts: ProcessFacts, actor: FileActor) {
            self.facts = facts
            self.actor = actor
        }
    }

    /// The executable at the last read, and the name derived from it.
    private struct Program {
        var executable: [UInt8]
        var name: String
    }

    /// The files read at a process's saves: its `comm`, and if that is not enough its `statm` and its `exe`.
    private struct Held {
        var shortName: any ProcFile
        var memory: any ProcFile
        var executable: any ProcFile
    }

    private struct State {
        var processes: [Int32: Entry] = [:]
        /// Threads other than the first of their process. A hint: the kernel is asked each time.
        var threads: [Int32: Int32] = [:]
        /// The processes with a value in ``Entry/held``, the oldest first.
        var savers: Deque<Int32> = []
        var clock: UInt64 = 0
    }

    /// Longer lineages are cut: a loop in /proc must not block a request.
    private static let longestLineage = 64
    /// The number of processes with three open files each, in addition to their watches.
    private static let mostSavers = 64
    /// The sizes of a path and of a line for a read without an allocation; a longer path takes longer.
    private static let (longestPath, longestLine) = (512, 128)
    /// The length of a `comm` in bytes.
    private static let longestName = 15

    private let reader: any ProcReader
    private let watch: any ProcessWatching
    private let boundaries: Boundaries
    private let capacity: Int
    private let onExit: @Sendable (ActorRef) -> Void
    private let users = UserNames()
    /// Guards the caches. Taken before the watch's own lock; /proc is read outside it.
    private let state = RankedMutex(State(), .books)

    /// - Parameters:
    ///   - boundaries: programs that end a lineage (`actors.boundaries`).
    ///   - capacity: the number of processes in the table; each costs one descriptor.
    ///   - onExit: called on the watch's thread, without a lock, when a process of the table has ended.
    public init(
        reader: any ProcReader = SystemProcReader(), watch: any ProcessWatching, boundaries: Boundaries = .standard,
        capacity: Int = 1024, onExit: @escaping @Sendable (ActorRef) -> Void = { _ in }
    ) {
        self.reader = reader
        self.watch = watch
        self.boundaries = boundaries
        self.capacity = max(8, capacity)
        self.onExit = onExit
    }

    /// The actor of a request. Race-free while the caller is blocked in the request.
    /// - Parameter thread: the request's pid, which is a thread's; 0 comes from a foreign pid namespace.
    /// - Parameter isClosing: whether the request may be part of execve(2), which closes files.
    /// - Returns: nil if it is unknown; also for an unknown process during execve.
    public func actor(thread: Int32, isClosing: Bool = false) -> FileActor? {
        guard thread > 0 else { return nil }
        if let known = cached(thread: thread) { return known }
        guard let status = reader.contents(of: "\(thread)/status"),
            let process = ProcessFacts.threadGroup(status: status)
        else { return nil }
        if process != thread {
            state.withLock { state in
                if state.threads.count >= 16 * capacity { state.threads.removeAll() }
                state.threads[thread] = process
            }
            if let known = cached(process: process) { return known.actor }
        }
        if isClosing, isBecomingAnother(process, nil) { return nil }
        return load(process: process, status: status, depth: 0)?.actor
    }

    /// The name of a process's present program: the last component of its executable. If the executable is not visible,
    /// or is many programs in one, the process's own name. Reads one link (about a microsecond).
    /// - Parameter isClosing: whether the request is a close(2) of this process, which may be part of execve(2): then
    ///   the result is its former program.
    public func program(of process: Int32, isClosing: Bool = false) -> String {
        // A process like mv(1), which makes one call and ends, is not worth the open files.
        let held = isClosing ? held(of: process) : state.withLock { $0.processes[process]?.held }
        // A process in execve keeps its former name until its files are closed.
        if let name = held.flatMap({ knownName(of: process, $0.shortName) { Self.isShort($1, for: $0.name) } }) {
            return name
        }
        if isClosing, isBecomingAnother(process, held) { return formerProgram(of: process) }
        if let name = held.flatMap({ knownName(of: process, $0.executable) { $0.executable.elementsEqual($1) } }) {
            return name
        }
        if let path = reader.target(of: "\(process)/exe") {
            if let known = state.withLock({ $0.processes[process]?.program }), known.executable == path {
                return known.name
            }
            if let name = Self.lastComponent(path), !Self.manyInOne.contains(name) {
                state.withLock { $0.processes[process]?.program = Program(executable: path, name: name) }
                return name
            }
        }
        return shortName(of: process)
    }

    /// The name of the program at the last read, if the file's present content matches it.
    private func knownName(
        of process: Int32, _ file: any ProcFile, _ fits: (Program, UnsafeRawBufferPointer) -> Bool
    ) -> String? {
        withUnsafeTemporaryAllocation(byteCount: Self.longestPath, alignment: 1) { buffer in
            let count = file.read(into: buffer)
            // A content that fills the buffer may be longer.
            guard count > 0, count < buffer.count else { return nil }
            return state.withLock { state in
                guard let known = state.processes[process]?.program,
                    fits(known, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                else { return nil }
                return known.name
            }
        }
    }

    /// Whether a process with this program has its usual name: `comm` has its first 15 bytes, and a newline.
    private static func isShort(_ comm: UnsafeRawBufferPointer, for name: String) -> Bool {
        comm.last == 10 && comm.dropLast().elementsEqual(name.utf8.prefix(longestName))
    }

    /// See ``ProcessFacts/isBecomingAnother(statm:)``. Called at each save.
    private func isBecomingAnother(_ process: Int32, _ held: Held?) -> Bool {
        let isSo: Bool? = withUnsafeTemporaryAllocation(byteCount: Self.longestLine, alignment: 1) { buffer in
            let count = held?.memory.read(into: buffer) ?? 0
            return count > 0 ? ProcessFacts.isBecomingAnother(statm: UnsafeRawBufferPointer(buffer)[..<count]) : nil
        }
        // An empty file belongs to a process whose end has not been reported yet.
        return isSo ?? ProcessFacts.isBecomingAnother(process, reader: reader)
    }

    /// The open files of a saving process; a known process keeps them from now on.
    private func held(of process: Int32) -> Held? {
        if let held = state.withLock({ $0.processes[process]?.held }) { return held }
        guard let shortName = reader.file("\(process)/comm"), let memory = reader.file("\(process)/statm"),
            let executable = reader.link("\(process)/exe")
        else { return nil }
        let held = Held(shortName: shortName, memory: memory, executable: executable)
        state.withLock { state in
            guard let entry = state.processes[process] else { return }
            if entry.held == nil { state.savers.append(process) }
            entry.held = held
            if state.savers.count > Self.mostSavers, let oldest = state.savers.popFirst() {
                state.processes[oldest]?.held = nil
            }
        }
        return held
    }

    /// A process's own name: the first 15 bytes of its program's, unless it has set another.
    private func shortName(of process: Int32) -> String {
        guard var name = reader.contents(of: "\(process)/comm") else { return "" }
        if name.last == 10 { name.removeLast() }
        return String(decoding: name, as: UTF8.self)
    }

    private func formerProgram(of process: Int32) -> String {
        let (short, known) = (shortName(of: process), state.withLock { $0.processes[process]?.program?.name })
        if let known, known.hasPrefix(short) { return known }
        return short
    }

    /// The name of a process's program at the last read, for uses where it decides nothing: reads /proc only if it was
    /// never read.
    public func lastProgram(of process: Int32) -> String {
        state.withLock({ $0.processes[process]?.program?.name }) ?? program(of: process)
    }

    /// The author of a save, for a version. Reads one link; once per user also the user database.
    /// - Parameters:
    ///   - actor: nil if the process is unknown.
    ///   - userID: the user in the request.
    public func author(_ actor: ActorRef?, userID: UInt32) -> Author {
        Author(
            userID: userID, user: users.name(of: userID), program: actor.map { program(of: $0.process) } ?? "",
            process: actor?.process ?? 0)
    }

    /// Whether exactly this process still runs; if so, its end will be reported.
    public func isAlive(_ actor: ActorRef) -> Bool { self.actor(thread: actor.process)?.ref == actor }

    /// Whether exactly this process is in the table and has not ended, without a system call.
    func isKnown(_ actor: ActorRef) -> Bool { state.withLock { $0.processes[actor.process]?.facts.ref == actor } }

    /// The number of processes in the table.
    public var count: Int { state.withLock { $0.processes.count } }

    // MARK: The cache

    private func cached(thread: Int32) -> FileActor? {
        if let entry = cached(process: thread) { return entry.actor }
        guard let process = state.withLock({ $0.threads[thread] }) else { return nil }
        if watch.isThread(thread, of: process) { return cached(process: process)?.actor }
        state.withLock { $0.threads[thread] = nil }
        return nil
    }

    private func cached(process: Int32) -> Entry? {
        state.withLock { state in
            state.clock += 1
            let entry = state.processes[process]
            entry?.used = state.clock
            return entry
        }
    }

    private func load(process: Int32, status: [UInt8]?, depth: Int) -> Entry? {
        if let known = cached(process: process) { return known }
        guard let status = status ?? reader.contents(of: "\(process)/status"),
            let facts = ProcessFacts(process: process, status: status, reader: reader)
        else { return nil }
        let lineage = lineage(of: facts, depth: depth)
        let endsAtTerminal = lineage.last.flatMap { cached(process: $0.process) }?.facts.leadsTerminalSession ?? false
        let actor = FileActor(facts.ref, lineage: lineage, endsAtTerminal: endsAtTerminal)
        let entry = Entry(facts: facts, actor: actor)
        keep(entry)
        return entry
    }

    private func keep(_ entry: Entry) {
        let ref = entry.facts.ref
        state.withLock { state in
            if state.processes.count >= capacity { makeRoom(&state) }
            // In this order and under the lock, so that the report of an exit finds the entry to remove.
            guard watch.watch(ref.process, onExit: { [weak self] in self?.ended(ref) }) else { return }
            state.clock += 1
            state.processes[ref.process] = entry
            entry.used = state.clock
        }
    }

    private func makeRoom(_ state: inout State) {
        let byAge = state.processes.sorted { $0.value.used < $1.value.used }
        for (process, _) in byAge.prefix(capacity / 8) {
            watch.unwatch(process)
            state.processes[process] = nil
        }
    }

    private func ended(_ ref: ActorRef) {
        state.withLock { state in
            guard state.processes[ref.process]?.facts.ref == ref else { return }
            state.processes[ref.process] = nil
        }
        onExit(ref)
    }

    // MARK: Lineage

    private func lineage(of facts: ProcessFacts, depth: Int) -> [ActorRef] {
        // A shell at a terminal does not count with the terminal's program: two windows are two actors.
        guard !facts.leadsTerminalSession, facts.parent > 1, depth < Self.longestLineage else { return [] }
        guard let parent = load(process: facts.parent, status: nil, depth: depth + 1) else { return [] }
        // A parent that started later is another process with the number of the ended one.
        guard parent.facts.ref.started <= facts.ref.started, !parent.facts.isInit,
            parent.facts.group == facts.group, !boundaries.contain(program(of: facts.parent))
        else { return [] }
        return [parent.facts.ref] + parent.actor.lineage
    }

    private static let manyInOne: Set<String> = ["busybox", "toybox", "coreutils"]

    private static func lastComponent(_ path: [UInt8]) -> String? {
        var path = path[...]
        let replaced = Array(" (deleted)".utf8)
        if path.count > replaced.count, path.suffix(replaced.count).elementsEqual(replaced) {
            path = path.dropLast(replaced.count)
        }
        guard let name = path.split(separator: 47).last else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
