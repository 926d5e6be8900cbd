// From thread numbers to actors: over an invented /proc with counted reads, and over real processes.

import Container
import Glibc
import Synchronization
import Testing
import VersionModel
import VersionStore

/// A /proc of our own making.
private final class FakeProc: ProcReader, ProcessWatching {
    struct Process {
        var parent: Int32
        var started: UInt64
        var session: Int32
        var terminal: Int32
        var group: String
        var exe: String?
        var comm: String
        var innermost: Int32?
        var threads: Set<Int32>
        /// It is in the middle of execve(2).
        var isBecomingAnother = false
    }

    private struct State {
        var processes: [Int32: Process] = [:]
        var reads = 0
        /// Reads that the kernel would not have answered until the process has closed its files.
        var waits = 0
        var opened = 0
        var exits: [Int32: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())

    var reads: Int { state.withLock { $0.reads } }
    var opened: Int { state.withLock { $0.opened } }
    var waits: Int { state.withLock { $0.waits } }
    var watched: Int { state.withLock { $0.exits.count } }

    func add(
        _ process: Int32, parent: Int32, session: Int32 = 2, terminal: Int32 = 0, group: String = "0::/a\n",
        exe: String? = "/usr/bin/prog", comm: String = "prog", innermost: Int32? = nil, threads: Set<Int32> = [],
        started: UInt64? = nil
    ) {
        state.withLock {
            $0.processes[process] = Process(
                parent: parent, started: started ?? UInt64(process) * 10, session: session, terminal: terminal,
                group: group, exe: exe, comm: comm, innermost: innermost, threads: threads)
        }
    }

    func change(_ process: Int32, _ change: (inout Process) -> Void) {
        state.withLock { state in
            guard var changed = state.processes[process] else { return }
            change(&changed)
            state.processes[process] = changed
        }
    }

    func exit(_ process: Int32) {
        let onExit = state.withLock { state in
            state.processes[process] = nil
            return state.exits.removeValue(forKey: process)
        }
        onExit?()
    }

    func contents(of path: String) -> [UInt8]? {
        state.withLock { state in
            state.reads += 1
            let parts = path.split(separator: "/")
            guard let thread = Int32(parts[0]) else { return nil }
            let owner = state.processes.first { $0.key == thread || $0.value.threads.contains(thread) }
            guard let (number, process) = owner else { return nil }
            if process.isBecomingAnother, parts[1] == "stat" { state.waits += 1 }
            switch parts[1] {
            case "status":
                let nested = process.innermost.map { "NSpid:\t\(thread)\t\($0)\n" } ?? "NSpid:\t\(thread)\n"
                return Array("Name:\tx\nTgid:\t\(number)\nPPid:\t\(process.parent)\n\(nested)".utf8)
            case "stat":
                let rest = "S \(process.parent) 1 \(process.session) \(process.terminal) 0 0 0 0 0 0 0 0 0 0 20 0 1 0"
                return Array("\(number) (a) b (c) \(rest) \(process.started) 0 0\n".utf8)
            case "statm":
                return Array((process.isBecomingAnother ? "33 1 0 0 0 33 0\n" : "4000 900 700 80 0 200 0\n").utf8)
            case "cgroup": return Array(process.group.utf8)
            case "comm": return Array((process.comm + "\n").utf8)
            default: return nil
            }
        }
    }

    func target(of path: String) -> [UInt8]? {
        state.withLock { state in
            state.reads += 1
            let process = path.split(separator: "/").first.flatMap { Int32($0) }.flatMap { state.processes[$0] }
            if process?.isBecomingAnother == true { state.waits += 1 }
            return process?.exe.map { Array($0.utf8) }
        }
    }

    func file(_ path: String) -> (any ProcFile)? {
        guard contents(of: path) != nil else { return nil }
        state.withLock { $0.opened += 1 }
        return File { self.contents(of: path) }
    }

    func link(_ path: String) -> (any ProcFile)? { File { self.target(of: path) } }

    private struct File: ProcFile {
        let contents: @Sendable () -> [UInt8]?

        func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            let bytes = (contents() ?? []).prefix(buffer.count)
            buffer.copyBytes(from: bytes)
            return bytes.count
        }
    }

    func watch(_ process: Int32, onExit: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.processes[process] != nil else { return false }
            state.exits[process] = onExit
            return true
        }
    }

    func unwatch(_ process: Int32) { state.withLock { $0.exits[process] = nil } }

    func isThread(_ thread: Int32, of process: Int32) -> Bool {
        state.withLock { $0.processes[process]?.threads.contains(thread) ?? false }
    }
}

@Suite("The table of processes")
struct ProcessTableTests {
    private let proc = FakeProc()
    private func table(capacity: Int = 1024, onExit: @escaping @Sendable (ActorRef) -> Void = { _ in }) -> ProcessTable
    {
        ProcessTable(reader: proc, watch: proc, capacity: capacity, onExit: onExit)
    }

    @Test("a second look-up of a process or of its threads reads nothing")
    func readsOnce() throws {
        proc.add(100, parent: 1, threads: [101, 102])
        let table = table()
        let actor = try #require(table.actor(thread: 101))
        #expect(actor.ref == ActorRef(process: 100, started: 1000))
        _ = table.actor(thread: 102)
        let reads = proc.reads
        for thread in [100, 101, 102, 101, 100] as [Int32] { #expect(table.actor(thread: thread) == actor) }
        #expect(proc.reads == reads)
        #expect(reads <= 5)
    }

    @Test("of a process that closes its files in an execve(2) nothing is asked that would wait for that")
    func becomingAnother() {
        proc.add(100, parent: 1, exe: "/usr/bin/a-name-of-more-than-15-bytes", comm: "a-name-of-more-")
        proc.add(101, parent: 100, exe: "/usr/bin/other", comm: "other")
        let table = table()
        let opener = table.actor(thread: 100)
        #expect(table.program(of: 100) == "a-name-of-more-than-15-bytes")
        for process in [100, 101] as [Int32] { proc.change(process) { $0.isBecomingAnother = true } }
        #expect(table.actor(thread: 100, isClosing: true) == opener)
        #expect(table.program(of: 100, isClosing: true) == "a-name-of-more-than-15-bytes")
        #expect(table.actor(thread: 101, isClosing: true) == nil)
        #expect(table.program(of: 101, isClosing: true) == "other")
        #expect(proc.waits == 0)
        proc.change(101) { $0.isBecomingAnother = false }
        #expect(table.actor(thread: 101, isClosing: true)?.lineage.first == opener?.ref)
    }

    @Test("which program saves is told by the name it goes by, and where that is another's by what it runs")
    func goingByAName() {
        proc.add(100, parent: 1, exe: "/usr/bin/bash", comm: "bash")
        let table = table()
        _ = table.actor(thread: 100)
        #expect(table.program(of: 100, isClosing: true) == "bash")
        let reads = proc.reads
        #expect(table.program(of: 100, isClosing: true) == "bash")
        #expect(proc.reads == reads + 1)
        // It becomes another program, and one that goes by the name of the wrapper that it was.
        proc.change(100) { ($0.exe, $0.comm) = ("/usr/bin/a-name-of-more-than-15-bytes", "a-name-of-more-") }
        #expect(table.program(of: 100, isClosing: true) == "a-name-of-more-than-15-bytes")
        #expect(table.program(of: 100, isClosing: true) == "a-name-of-more-than-15-bytes")
        proc.change(100) { ($0.exe, $0.comm) = ("/usr/bin/bash", "editor") }
        #expect(table.program(of: 100, isClosing: true) == "bash")
        proc.change(100) { ($0.exe, $0.comm) = ("/opt/editor/bin/editor", "editor") }
        #expect(table.program(of: 100, isClosing: true) == "editor")
        // A part of a name is another name.
        proc.change(100) { ($0.exe, $0.comm) = ("/usr/bin/edit", "edit") }
        #expect(table.program(of: 100, isClosing: true) == "edit")
        #expect(proc.waits == 0)
    }

    @Test("who saves again and again is asked through open files, and few are held open")
    func savers() {
        let many = Array(200..<300 as Range<Int32>)
        for process in many { proc.add(process, parent: 1) }
        let table = table()
        for process in many { _ = table.actor(thread: process) }
        for _ in 0..<5 { #expect(table.program(of: 200, isClosing: true) == "prog") }
        #expect(proc.opened == 2, "comm and statm")
        for process in many { _ = table.program(of: process, isClosing: true) }
        #expect(proc.opened == 2 * many.count)
        _ = table.program(of: 299, isClosing: true)
        #expect(proc.opened == 2 * many.count)
        // The first of them was let go for the others.
        proc.change(200) { $0.isBecomingAnother = true }
        _ = table.program(of: 200, isClosing: true)
        #expect(proc.opened == 2 * many.count + 2)
        #expect(proc.waits == 0)
        // Another process with the number of one that has ended is not asked through that one's file.
        proc.exit(299)
        proc.add(299, parent: 1, exe: "/usr/bin/next", comm: "next", started: 9999)
        #expect(table.program(of: 299, isClosing: true) == "next")
        #expect(table.actor(thread: 299)?.ref.started == 9999)
    }

    @Test("a sibling costs only its own files, not its ancestors' again")
    func siblings() {
        proc.add(50, parent: 1)
        proc.add(60, parent: 50)
        proc.add(70, parent: 60)
        proc.add(71, parent: 60)
        let table = table()
        _ = table.actor(thread: 70)
        let reads = proc.reads
        #expect(table.actor(thread: 71)?.lineage.map(\.process) == [60, 50])
        #expect(proc.reads - reads == 4, "status, stat, cgroup, and which program the parent is")
    }

    @Test("a lineage ends with the leader of a terminal's session, which has none itself")
    func terminalSession() {
        proc.add(40, parent: 1, exe: "/usr/bin/gnome-terminal-server")
        proc.add(50, parent: 40, session: 50, terminal: 34816)
        proc.add(60, parent: 50, session: 50, terminal: 34816)
        proc.add(70, parent: 60, session: 50, terminal: 34816)
        proc.add(41, parent: 40, session: 41, terminal: 0)
        let table = table()
        #expect(table.actor(thread: 70)?.lineage.map(\.process) == [60, 50])
        #expect(table.actor(thread: 50)?.lineage == [])
        #expect(table.actor(thread: 41)?.lineage.map(\.process) == [40], "it leads a session without a terminal")
    }

    @Test(
        "a lineage stops before an init, another control group, and a boundary",
        arguments: [
            "group", "namespace", "tmux", "comm", "younger",
        ])
    func stops(why: String) {
        proc.add(50, parent: 1)
        proc.add(60, parent: 50)
        proc.add(70, parent: 60)
        proc.change(60) { parent in
            switch why {
            case "group": parent.group = "0::/b\n"
            case "namespace": parent.innermost = 1
            case "tmux": parent.exe = "/usr/bin/tmux (deleted)"
            case "comm": (parent.exe, parent.comm) = (nil, "containerd-shim")
            default: parent.started = 701
            }
        }
        #expect(table().actor(thread: 70)?.lineage == [])
    }

    @Test("an exec is seen at once, for the program is not cached")
    func exec() {
        proc.add(100, parent: 1, exe: "/bin/bash")
        let table = table()
        _ = table.actor(thread: 100)
        #expect(table.program(of: 100) == "bash")
        proc.change(100) { $0.exe = "/usr/bin/sed" }
        #expect(table.program(of: 100) == "sed")
        proc.change(100) { ($0.exe, $0.comm) = ("/bin/busybox", "vi") }
        #expect(table.program(of: 100) == "vi")
        #expect(table.program(of: 999) == "")
    }

    @Test("a process that ends is dropped and reported, and its number may come again")
    func exits() {
        let holder = Ended()
        proc.add(100, parent: 1, threads: [101])
        let table = table { holder.add($0) }
        let first = table.actor(thread: 101)
        proc.exit(100)
        #expect(holder.all == [first?.ref])
        #expect(table.count == 0)
        #expect(table.actor(thread: 101) == nil)
        proc.add(101, parent: 1, started: 5000)
        #expect(table.actor(thread: 101)?.ref == ActorRef(process: 101, started: 5000))
    }

    @Test("it holds no more processes than its bound, and keeps those in use")
    func bound() {
        for process in 100..<200 as Range<Int32> { proc.add(process, parent: 1) }
        let table = table(capacity: 16)
        for process in 100..<200 as Range<Int32> {
            _ = table.actor(thread: 100)
            _ = table.actor(thread: process)
            #expect(table.count <= 16)
            #expect(proc.watched == table.count)
        }
        let reads = proc.reads
        _ = table.actor(thread: 100)
        #expect(proc.reads == reads)
    }

    @Test("what is not there gives no actor", arguments: [0, -1, 12345] as [Int32])
    func nothing(thread: Int32) {
        #expect(table().actor(thread: thread) == nil)
    }

    @Test("a loop of parents ends")
    func loop() {
        proc.add(100, parent: 101, started: 1)
        proc.add(101, parent: 100, started: 1)
        #expect(table().actor(thread: 100) != nil)
    }
}

private final class Ended: Sendable {
    private let refs = Mutex<[ActorRef]>([])
    func add(_ ref: ActorRef) { refs.withLock { $0.append(ref) } }
    var all: [ActorRef] { refs.withLock { $0 } }
}

@Suite("The table of processes, on this system")
struct RealProcessTests {
    @Test("this thread belongs to this process, whose child has it for a parent, and whose end is heard of")
    func real() async throws {
        let (exits, continuation) = AsyncStream.makeStream(of: ActorRef.self)
        let watch = try #require(ProcessWatch.start())
        let table = ProcessTable(watch: watch, boundaries: Boundaries([])) { continuation.yield($0) }
        let link = try #require(SystemProcReader().target(of: "thread-self"))
        let thread = try #require(
            String(decoding: link, as: UTF8.self).split(separator: "/").last.flatMap { Int32($0) })
        let mine = try #require(table.actor(thread: thread))
        #expect(mine.ref.process == getpid())
        #expect(table.actor(thread: thread) == mine)

        var child: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
        defer { arguments.forEach { free($0) } }
        var pipe: [Int32] = [0, 0]
        #expect(Glibc.pipe(&pipe) == 0)
        _ = fcntl(pipe[1], F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, pipe[0], 0)
        #expect(posix_spawnp(&child, "cat", &actions, nil, &arguments, environ) == 0)
        let actor = try #require(table.actor(thread: child))
        #expect(actor.lineage.first == mine.ref)
        #expect(table.program(of: child) == "cat" || table.program(of: child) == "coreutils")
        #expect(table.isAlive(actor.ref))
        #expect(!table.isAlive(ActorRef(process: child, started: actor.ref.started + 1)))
        #expect(table.author(actor.ref, userID: 0).user == "root")
        #expect(table.author(actor.ref, userID: 0).program == table.program(of: child))
        close(pipe[0])
        close(pipe[1])
        var ended = exits.makeAsyncIterator()
        #expect(await ended.next() == actor.ref)
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
    }

    @Test("users have names, and those without one their number")
    func users() {
        let names = UserNames()
        #expect(names.name(of: 0) == "root")
        #expect(names.name(of: 3_999_999_999) == "3999999999")
    }
}
