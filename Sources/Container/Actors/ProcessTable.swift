// Which process asked: from the thread number of a request to an actor with its lineage, cached until it ends.

import Collections
import DequeModule
import Synchronization
import VersionModel
import VersionStore

/// Knows the processes that use the mount (DESIGN 5.2).
///
/// What is cached does not change while a process lives, as far as it matters here: its start, session, terminal,
/// control group and ancestors at the time it was first seen (a process whose parent ends keeps the lineage it had).
/// An entry goes when its process ends. Two things do change and are not cached: which program runs (exec keeps the
/// process, and a shell opens `sed … > file` before it becomes sed), read at the moments that need it, which are saves
/// and temporary names and never plain opens; and which threads a process has, asked of the kernel by tgkill(2).
public final class ProcessTable: Sendable {
    /// An object, so that finding it copies nothing; what changes in it is guarded by the table's lock.
    private final class Entry: @unchecked Sendable {
        let facts: ProcessFacts
        let actor: FileActor
        var used: UInt64 = 0
        var program: Program?
        /// While it is among those that saved last.
        var held: Held?

        init(facts: ProcessFacts, actor: FileActor) {
            self.facts = facts
            self.actor = actor
        }
    }

    /// What its executable was when that was read last, and the name that follows from it.
    private struct Program {
        var executable: [UInt8]
        var name: String
    }

    /// What is asked of a process at its saves: its `comm`, and where that is not enough its `statm` and its `exe`.
    private struct Held {
        var shortName: any ProcFile
        var memory: any ProcFile
        var executable: any ProcFile
    }

    private struct State {
        var processes: [Int32: Entry] = [:]
        /// Threads other than the first of their process. A hint: the kernel is asked each time.
        var threads: [Int32: Int32] = [:]
        /// The processes with something in ``Entry/held``, the oldest first.
        var savers: Deque<Int32> = []
        var clock: UInt64 = 0
    }

    /// Lineages longer than this are cut: a loop in what /proc says must not hang anyone.
    private static let longestLineage = 64
    /// Of so many processes three files are held open, beside what watches them.
    private static let mostSavers = 64
    /// Bytes of a path and of a line that are read without asking for memory; a longer path takes longer.
    private static let (longestPath, longestLine) = (512, 128)
    /// Bytes of a `comm`.
    private static let longestName = 15

    private let reader: any ProcReader
    private let watch: any ProcessWatching
    private let boundaries: Boundaries
    private let capacity: Int
    private let onExit: @Sendable (ActorRef) -> Void
    private let users = UserNames()
    /// Guards the caches. Taken before the watch's own lock; /proc is read outside it.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - boundaries: programs that end a lineage (`actors.boundaries`).
    ///   - capacity: how many processes are known at once; each costs one descriptor.
    ///   - onExit: called on the watch's thread, without a lock, when a known process has ended.
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

    /// The actor that a request comes from. Race-free while the caller is blocked in the request.
    /// - Parameter thread: the request's pid, which is a thread's; 0 comes from a foreign pid namespace.
    /// - Parameter isClosing: the request may be a part of execve(2), which closes files.
    /// - Returns: nil if nobody can tell; of one that becomes another program it is not told if it is not known.
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

    /// The name of the program that a process runs now: the last component of its executable, or the name it goes by
    /// where the executable may not be seen or is many programs in one. Reads one link (about a microsecond).
    /// - Parameter isClosing: whoever asks serves a close(2) of this process, which may be a part of execve(2): then it
    ///   is the program that it has been until now.
    public func program(of process: Int32, isClosing: Bool = false) -> String {
        // What makes one call and ends, as mv(1), is not worth the opening of files.
        let held = isClosing ? held(of: process) : state.withLock { $0.processes[process]?.held }
        // Who becomes another program goes by the name of the one until its files are closed.
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

    /// The name of the program that it ran when that was read last, if what a file of it says now fits that.
    private func knownName(
        of process: Int32, _ file: any ProcFile, _ fits: (Program, UnsafeRawBufferPointer) -> Bool
    ) -> String? {
        withUnsafeTemporaryAllocation(byteCount: Self.longestPath, alignment: 1) { buffer in
            let count = file.read(into: buffer)
            // What fills the buffer may go on.
            guard count > 0, count < buffer.count else { return nil }
            return state.withLock { state in
                guard let known = state.processes[process]?.program,
                    fits(known, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                else { return nil }
                return known.name
            }
        }
    }

    /// Whether a process that runs the program goes by its name: `comm` has the first 15 bytes of it, and a newline.
    private static func isShort(_ comm: UnsafeRawBufferPointer, for name: String) -> Bool {
        comm.last == 10 && comm.dropLast().elementsEqual(name.utf8.prefix(longestName))
    }

    /// See ``ProcessFacts/isBecomingAnother(statm:)``. Asked at each save.
    private func isBecomingAnother(_ process: Int32, _ held: Held?) -> Bool {
        let isSo: Bool? = withUnsafeTemporaryAllocation(byteCount: Self.longestLine, alignment: 1) { buffer in
            let count = held?.memory.read(into: buffer) ?? 0
            return count > 0 ? ProcessFacts.isBecomingAnother(statm: UnsafeRawBufferPointer(buffer)[..<count]) : nil
        }
        // One that says nothing is that of a process whose end has not been heard of yet.
        return isSo ?? ProcessFacts.isBecomingAnother(process, reader: reader)
    }

    /// What is held open of a process that saves, from now on if it is known.
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

    /// The name that a process goes by: of its program's the first 15 bytes, unless it has given itself another.
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

    /// The name of the program that a process ran when that was last read, for where it
    /// does not decide: reads /proc only if it never was.
    public func lastProgram(of process: Int32) -> String {
        state.withLock({ $0.processes[process]?.program?.name }) ?? program(of: process)
    }

    /// Who saves, as a version remembers it. Reads one link; once for each user, the user database.
    /// - Parameters:
    ///   - actor: nil if nobody can tell which process it was.
    ///   - userID: the user that the request names.
    public func author(_ actor: ActorRef?, userID: UInt32) -> Author {
        Author(
            userID: userID, user: users.name(of: userID), program: actor.map { program(of: $0.process) } ?? "",
            process: actor?.process ?? 0)
    }

    /// Whether this very process still lives; if so, its end will be heard of.
    public func isAlive(_ actor: ActorRef) -> Bool { self.actor(thread: actor.process)?.ref == actor }

    /// Whether this very process is known and has not ended; asks nobody.
    func isKnown(_ actor: ActorRef) -> Bool { state.withLock { $0.processes[actor.process]?.facts.ref == actor } }

    /// How many processes are known now.
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
            // In this order and under the lock, so that an exit finds the entry it has to drop.
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
        // A shell of a terminal does not count with the terminal's program: two windows are two actors.
        guard !facts.leadsTerminalSession, facts.parent > 1, depth < Self.longestLineage else { return [] }
        guard let parent = load(process: facts.parent, status: nil, depth: depth + 1) else { return [] }
        // A parent that started later is another process, which got the number of the one that ended.
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
