// Starting and ending processes: one wrapper of posix_spawn, because Foundation's Process knows neither sessions nor
// terminals.

import CTestSupport
import Glibc
import Synchronization

/// A process that a test started.
public final class Child: Sendable {
    public let pid: pid_t
    public let program: String
    /// Guards the one call of waitpid that reaps the child: a test's time limit may end it from another thread.
    private let status = Mutex<Int32?>(nil)

    /// What a child is given.
    public struct Start: Sendable {
        public var program: String
        public var arguments: [String] = []
        public var directory: String?
        public var environment: [String: String] = [:]
        /// A user id to run as (with setpriv, without any groups).
        public var user: UInt32?
        /// What becomes descriptor 0, 1, 2, ... of the child.
        public var descriptors: [Int32] = []
        /// A terminal to make the child the leader of a session with: the path of its slave side.
        public var terminal: String?

        public init(_ program: String, _ arguments: [String] = []) {
            self.program = program
            self.arguments = arguments
        }
    }

    /// Starts a program; a name without a slash is looked up in PATH.
    public init(_ start: Start) throws {
        var words = [start.program] + start.arguments
        if let user = start.user {
            words = ["setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] + words
        }
        program = start.program
        pid = try Child.spawn(words, start)
    }

    private static func spawn(_ words: [String], _ start: Start) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }

        // Signals as a fresh login has them, whatever the test runner ignores or blocks.
        var everything = sigset_t()
        var nothing = sigset_t()
        sigfillset(&everything)
        sigemptyset(&nothing)
        posix_spawnattr_setsigdefault(&attributes, &everything)
        posix_spawnattr_setsigmask(&attributes, &nothing)
        var flags = Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK)
        if start.terminal != nil { flags |= VFS_POSIX_SPAWN_SETSID }
        posix_spawnattr_setflags(&attributes, flags)

        var next: Int32 = 0
        if let terminal = start.terminal, start.descriptors.isEmpty {
            for descriptor: Int32 in 0...2 {
                posix_spawn_file_actions_addopen(&actions, descriptor, terminal, O_RDWR, 0)
            }
            next = 3
        } else {
            // A first pass lifts all of them out of the way, so that none overwrites another that is still to come.
            for (index, descriptor) in start.descriptors.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor, 500 + Int32(index))
            }
            for index in start.descriptors.indices {
                posix_spawn_file_actions_adddup2(&actions, 500 + Int32(index), Int32(index))
            }
            next = max(3, Int32(start.descriptors.count))
            if let terminal = start.terminal {
                // A session leader without a terminal gets the one that it opens first.
                posix_spawn_file_actions_addopen(&actions, next, terminal, O_RDWR, 0)
                next += 1
            }
        }
        if let directory = start.directory { posix_spawn_file_actions_addchdir_np(&actions, directory) }
        posix_spawn_file_actions_addclosefrom_np(&actions, next)

        // Messages in one line each, whatever their length; a terminal has its own width.
        // What programs keep outside of containers is a test's own, too.
        let ours = [
            "COLUMNS": "10000", "XDG_STATE_HOME": Workplace.root + "/state",
            "VERSIONSFS_LOCK_REPORTS": Workplace.lockReports,
        ]
        var environment = environmentNow().merging(ours) { _, new in new }
        environment.merge(start.environment) { _, new in new }
        var argv = words.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else {
            throw Failure("cannot start \(words.joined(separator: " ")): \(String(cString: strerror(code)))")
        }
        return pid
    }

    /// Whether it still runs (a zombie does not).
    public var isRunning: Bool { poll() == nil }

    /// Its exit status if it has ended: the code, or 128 plus the signal.
    public func poll() -> Int32? {
        status.withLock { status in
            var raw: Int32 = 0
            if status == nil, waitpid(pid, &raw, WNOHANG) == pid {
                let signal = raw & 0x7f
                status = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
            }
            return status
        }
    }

    /// What each of its threads is doing in the kernel, as far as that may be seen: for who finds it stuck.
    public var whereItWaits: String {
        let lines = try? run("sh", ["-c", "cd /proc/\(pid)/task && head -n 12 */comm */wchan */stack"], seconds: 5)
        return lines?.text ?? "nobody can tell where it waits"
    }

    /// Sends a signal unless it has ended.
    public func signal(_ number: Int32) {
        if poll() == nil { Glibc.kill(pid, number) }
    }

    /// Waits for the end. On overrun the child is killed and the wait fails.
    @discardableResult
    public func wait(_ deadline: Deadline) throws -> Int32 {
        if let status = poll() { return status }
        let handle = pidfd_open(pid, 0)
        guard handle >= 0 else { throw Failure.call("pidfd_open") }
        defer { close(handle) }
        _ = deadline.poll([(handle, POLLIN)])
        if let status = poll() { return status }
        let place = whereItWaits
        kill()
        throw Failure("\(program) (pid \(pid)) did not end in time and was killed", evidence: place)
    }

    /// Kills it and waits until it is gone. A process stuck in the kernel is left behind for Tests/run to report.
    public func kill() {
        guard poll() == nil else { return }
        Glibc.kill(pid, SIGKILL)
        let handle = pidfd_open(pid, 0)
        guard handle >= 0 else { return }
        defer { close(handle) }
        _ = Deadline.after(seconds: 5).poll([(handle, POLLIN)])
        _ = poll()
    }
}

/// The environment of this process.
func environmentNow() -> [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
        let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { result[String(parts[0])] = String(parts[1]) }
        entry += 1
    }
    return result
}
