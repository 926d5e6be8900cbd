// A container of its own for one test: a fresh directory, the real daemon over it, and an end that leaves nothing
// behind.

import CTestSupport
import Foundation

/// A mounted container. Get one from ``withContainer(_:named:options:files:seconds:body:)``.
///
/// A test may use it from several threads; what changes (`daemon`) changes only while the test itself mounts or
/// unmounts.
public final class TestContainer: @unchecked Sendable {
    /// The directory: through the mount while mounted, the plain tree otherwise.
    public let path: String
    /// Whether there is a daemon, and whether it is asked.
    public let level: ContainerLevel
    /// Whether tests may ask about versions.
    public var isVersioned: Bool { level == .versioned }
    /// The options for `-o`.
    public var options: [String]
    /// The user id the daemon runs as; nil for this process's own.
    public let user: UInt32?
    /// What the daemon's environment has besides this process's.
    /// Of the next daemon.
    public var environment: [String: String]
    public private(set) var daemon: Child?
    private let logPath: String
    private let seconds: Double

    init(
        named name: String, on base: String, options: [String], user: UInt32?, environment: [String: String] = [:],
        seconds: Double, level: ContainerLevel
    ) throws {
        let place = try Workplace.fresh(name, in: base)
        path = place + "/container"
        logPath = place + "/daemon.log"
        self.options = Workplace.usesRing ? options : options + ["no-ring"]
        self.user = user
        self.environment = environment
        self.seconds = seconds
        self.level = level
        guard mkdir(path, 0o755) == 0 else { throw Failure.call("mkdir \(path)") }
        if let user { chown(path, user, user) }
    }

    /// A container that is there already and not mounted, with the log of its daemon beside it.
    public init(existing path: String, seconds: Double = 30) {
        self.path = path
        logPath = (path as NSString).deletingLastPathComponent + "/daemon.log"
        self.seconds = seconds
        (options, user, environment, level) = ([], nil, [:], .versioned)
    }

    /// What the daemon has logged, all mounts together.
    public var log: String {
        let text = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).suffix(200).joined(separator: "\n")
    }

    /// What a daemon said of locks that it had taken out of their order, which ended it (docs/locks.md). A test that
    /// ends the daemon itself may not notice.
    var lockReports: [String] {
        let text = (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").filter { $0.contains("see docs/locks.md for the order") }.map(String.init)
    }

    /// A path of the container.
    public func file(_ name: String) -> String { name.isEmpty ? path : path + "/" + name }

    // MARK: Mounting

    /// Starts the daemon and waits until its mount is there and answers.
    public func mount() throws {
        guard level != .plain else { return }
        guard daemon == nil else { throw Failure("\(path) is mounted already") }
        let before = try Mounts.all().count { $0.path == path }
        let log = open(logPath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard log >= 0, null >= 0 else { throw Failure.call(logPath) }
        defer {
            close(log)
            close(null)
        }
        // The daemon as users get it has no engine.
        let program = environment["VERSIONSFS_ENGINE"] == nil ? Workplace.daemon : Workplace.checkingDaemon
        var start = Child.Start(
            program, [path, "-f"] + (options.isEmpty ? [] : ["-o", options.joined(separator: ",")]))
        start.directory = "/"
        start.user = user
        start.environment = environment
        start.descriptors = [null, log, log]
        let child = try Child(start)
        daemon = child
        let came = try Mounts.wait(.after(seconds: seconds), watching: child) { entries in
            entries.count { $0.path == path } > before
        }
        guard came else {
            let status = child.poll().map { "it ended with status \($0)" }
                ?? "it does not mount, and waits in \(child.whereItWaits)"
            abandon()
            throw Failure("versionsfs \(path): \(status)", evidence: self.log)
        }
        // The mount is in the table before its first answer: ask once, in a process that may be killed if none comes.
        do {
            try mustRun("stat", ["--", path], asUser: user, seconds: seconds)
        } catch {
            abandon()
            throw Failure("\(path) is mounted and does not answer: \(error)", evidence: self.log)
        }
    }

    /// Unmounts in order, and waits until the daemon has ended and said it did so without fault.
    public func unmount() throws {
        guard let child = daemon else { return }
        // Processes that a test has just ended may still be on their way out; whoever stays is reported.
        let patience = Deadline.after(seconds: 5)
        var unmounted = try tryUnmount()
        while unmounted.status != 0, !patience.isOver {
            for pid in try holders() { awaitEnd(of: pid, patience) }
            // The kernel lets go a moment after the last process has ended, and has no event for that.
            _ = Deadline.after(seconds: 0.02).poll([])
            unmounted = try tryUnmount()
        }
        guard unmounted.status == 0 else {
            let pids = try holders().map(String.init).joined(separator: ",")
            let list = pids.isEmpty ? "nobody has it open" : try run("ps", ["-o", "pid,stat,args", "-p", pids]).text
            throw Failure("cannot unmount \(path): \(unmounted.errors)", evidence: list)
        }
        // It writes what it has not written yet, on a disk and processors that other tests may have to themselves.
        let status = try child.wait(.after(seconds: max(seconds, 300)))
        daemon = nil
        guard status == 0 else { throw Failure("the daemon ended with status \(status)", evidence: log) }
    }

    /// Kills the daemon as a crash would (SIGKILL), and detaches the dead mount unless told to leave it.
    public func kill(detaching: Bool = true) throws {
        guard let child = daemon else { return }
        child.kill()
        daemon = nil
        if detaching { Mounts.abort(path) }
    }

    /// Unmounts in order and mounts again.
    public func remount() throws {
        try unmount()
        try mount()
    }

    private func tryUnmount() throws -> Output {
        let isRoot = user == nil && getuid() == 0
        return try run(
            isRoot ? "umount" : "fusermount3", isRoot ? [path] : ["-u", path], asUser: user, seconds: seconds)
    }

    /// Who has files of the mount open: what people ask first when an unmount says "busy".
    private func holders() throws -> [pid_t] {
        try run("fuser", ["-m", path], seconds: 10).text.split(separator: " ").compactMap { pid_t($0) }
    }

    private func awaitEnd(of pid: pid_t, _ deadline: Deadline) {
        let handle = pidfd_open(pid, 0)
        guard handle >= 0 else { return }
        _ = deadline.poll([(handle, POLLIN)])
        close(handle)
    }

    /// Ends everything, however stuck it is.
    public func abandon() {
        if level != .plain {
            daemon?.kill()
            for _ in 0..<4 {
                guard (try? Mounts.at(path)) != nil else { break }
                Mounts.abort(path)
            }
        }
        daemon = nil
    }

    /// The orderly end of a test that passed: everything it made goes.
    func remove() throws {
        abandon()
        // A tree of 200,000 files may take its time on a disk that others use too.
        _ = try run("rm", ["-rf", (path as NSString).deletingLastPathComponent], seconds: 600)
    }
}

/// Makes a container, mounts it, runs a test in it and takes it down again. When the test throws, or reports problems,
/// what the
/// daemon logged is shown with them, and the directory stays for a look.
///
/// - Parameters:
///   - name: part of the directory's name.
///   - base: where the directory is made: on another file system with ``withFileSystem(_:megabytes:body:)``.
///   - options: mount options for `-o`.
///   - files: documents that are there before the first mount, by their paths.
///   - settings: lines for `.versionsfs/config.toml`, set with `versionsctl config` after the mount.
///   - seconds: after this long the connection is aborted, so that blocked calls return and the test fails.
///   - body: the test; it returns what it found wrong, in sentences.
/// - Throws: a ``Failure`` with all problems and the daemon's log.
public func withContainer(
    named name: String = "test", on base: String = Workplace.root, options: [String] = [], asUser user: UInt32? = nil,
    files: [String: String] = [:], environment: [String: String] = [:],
    settings: [String: String] = [:], seconds: Double = 120, level: ContainerLevel = Workplace.level,
    body: (TestContainer) throws -> [String]
) throws {
    let container = try TestContainer(
        named: name, on: base, options: options, user: user, environment: environment, seconds: 30, level: level)
    for (file, text) in files { try container.put(text, at: file) }
    let fuse = Fuse(seconds: seconds) { container.abandon() }
    defer {
        fuse.defuse()
        container.abandon()
    }
    var problems: [String] = []
    do {
        try container.mount()
        for (key, value) in settings where level == .versioned { try container.must("config", key, value) }
        problems = try body(container)
        if container.daemon?.isRunning == false { problems.append("the daemon has died") }
        // The daemon's end has limits of its own: it may wait for a disk that other tests use.
        fuse.defuse()
        try container.unmount()
    } catch {
        problems.append("\(error)")
    }
    problems += container.lockReports
    if fuse.hasBlown { problems.append("the test took over \(seconds) s; its mount was aborted") }
    guard problems.isEmpty else {
        let log = container.log.isEmpty ? "" : ", its log:\n" + container.log
        throw Failure(problems.joined(separator: "\n"), evidence: "the container was \(container.path)" + log)
    }
    fuse.defuse()
    try container.remove()
}
