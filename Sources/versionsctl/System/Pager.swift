// The user's pager: what a listing prints goes through it where standard output is a terminal.

import ControlProtocol
import Glibc
import Synchronization

/// The program that PAGER names. It starts with the first output, so that an error alone is not paged.
enum Pager {
    private struct State {
        var isWanted = false
        var process: pid_t = 0
        /// The terminal, while standard output is the pager.
        var terminal: CInt = 1
        var signals: [CInt] = []
    }

    private static let state = Mutex(State())
    /// For the handler of signals, which may come at any time: the pager, or -1 while it is started, and a signal that
    /// came meanwhile.
    private static let process = Atomic<pid_t>(0)
    private static let early = Atomic<CInt>(0)
    /// A signal that the handler ends the command with, as soon as the pager has ended.
    private static let last = Atomic<CInt>(0)
    private static let sink = Atomic<CInt>(-1)
    private static let left = Atomic(false)

    /// The terminal that the output reaches, if it reaches one: standard output, or what it was before the pager.
    static var terminal: CInt { state.withLock { $0.terminal } }

    /// Whether the pager ended before it had all of the output. The command then ends without a word.
    static var isLeft: Bool { left.load(ordering: .sequentiallyConsistent) }

    /// From now on, output to a terminal goes through the pager.
    static func use() {
        guard isatty(1) == 1 else { return }
        left.store(false, ordering: .sequentiallyConsistent)
        state.withLock { $0.isWanted = true }
    }

    /// Starts the pager, if it is wanted and does not run. Without a pager the output goes to the terminal itself.
    static func start() {
        state.withLock { state in
            guard state.isWanted else { return }
            state.isWanted = false
            guard state.process == 0, let program = fromEnvironment() else { return }
            start(program, &state)
        }
    }

    private static func start(_ program: String, _ state: inout State) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        defer { ends.forEach { close($0) } }
        guard ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else { return }
        let terminal = fcntl(1, F_DUPFD_CLOEXEC, 3)
        guard terminal >= 0 else { return }
        // Before the pager is there to be interrupted.
        process.store(-1, ordering: .sequentiallyConsistent)
        sink.store(open("/dev/null", O_WRONLY | O_CLOEXEC), ordering: .sequentiallyConsistent)
        state.signals = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].filter { SupervisedCommand.replace($0, by: end) }
        // A handler and not SIG_IGN: a program that we start gets its default back.
        if SupervisedCommand.replace(SIGPIPE, by: { _ in }) { state.signals.append(SIGPIPE) }
        // As git does it: short output is not paged, colors are shown, the screen stays.
        let environment = getenv("LESS") == nil ? [("LESS", Path("FRX"))] : []
        let started = try? Subprocess.start(
            "sh", [Path("-c"), Path(program)], environment: environment, standard: [0: ends[0]])
        if let started, dup2(ends[1], 1) == 1 {
            (state.process, state.terminal) = (started, terminal)
        } else {
            close(terminal)
            settle(state.signals)
        }
        process.store(state.process, ordering: .sequentiallyConsistent)
        let number = early.exchange(0, ordering: .sequentiallyConsistent)
        if number != 0 { kill(getpid(), number) }
    }

    /// Without a pager signals do what they did before.
    private static func settle(_ signals: [CInt]) {
        for number in signals { signal(number, SIG_DFL) }
        let null = sink.exchange(-1, ordering: .sequentiallyConsistent)
        if null >= 0 { close(null) }
    }

    /// Writes to standard output, through the pager if one is wanted.
    static func write(_ bytes: [UInt8]) throws(ControlError) {
        guard !bytes.isEmpty else { return }
        start()
        do {
            try Files.write(bytes, to: 1, path: nil)
        } catch {
            if error.errno == EPIPE, state.withLock({ $0.process > 0 }) {
                left.store(true, ordering: .sequentiallyConsistent)
            }
            throw error
        }
    }

    /// Ends the output to the pager, and waits until the user has left it.
    static func finish() {
        let running = state.withLock { state in
            let running = state
            state = State()
            return running
        }
        guard running.process > 0 else { return }
        dup2(running.terminal, 1)
        close(running.terminal)
        _ = Subprocess.wait(running.process)
        // The handler runs on another thread, and both wait for the pager: the command ends by the signal.
        while last.load(ordering: .sequentiallyConsistent) != 0 { pause() }
        process.store(0, ordering: .sequentiallyConsistent)
        settle(running.signals)
    }

    /// Ctrl-C reaches the pager, too, and some do not end by it: the terminal belongs to the pager until it ends.
    private static let end: sighandler_t = { number in
        var pager = process.load(ordering: .sequentiallyConsistent)
        if pager < 0 {
            early.store(number, ordering: .sequentiallyConsistent)
            pager = process.load(ordering: .sequentiallyConsistent)
            guard pager >= 0 else { return }
        }
        last.store(number, ordering: .sequentiallyConsistent)
        let null = sink.load(ordering: .sequentiallyConsistent)
        if null >= 0 { dup2(null, 1) }
        var status: CInt = 0
        while pager > 0, waitpid(pager, &status, 0) < 0, errno == EINTR {}
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    // MARK: Which one

    private static func fromEnvironment() -> String? {
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        return program(getenv("PAGER").map { String(cString: $0) }, isDumb: isDumb, isThere: isThere)
    }

    /// The pager as a line for the shell; nil where nothing is paged.
    /// - Parameters:
    ///   - named: the value of PAGER.
    ///   - isDumb: whether the terminal can move no cursor: `less` would only ask there.
    static func program(_ named: String?, isDumb: Bool, isThere: (String) -> Bool) -> String? {
        guard let named else { return isDumb || !isThere("less") ? nil : "less" }
        let words = named.split(whereSeparator: \.isWhitespace)
        guard let first = words.first, words != ["cat"] else { return nil }
        // Quotes, variables and the like are for the shell.
        let isPlain = first.allSatisfy { $0.isLetter || $0.isNumber || "/._+-".contains($0) }
        return !isPlain || isThere(String(first)) ? named : nil
    }

    private static func isThere(_ program: String) -> Bool {
        let line = Path("command -v \"$0\" > /dev/null 2>&1")
        return (try? Subprocess.run("sh", [Path("-c"), line, Path(program)])) == 0
    }
}
