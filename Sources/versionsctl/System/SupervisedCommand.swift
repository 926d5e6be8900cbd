// Running a command whose end this program must see: signals do not end it before the command.

import ControlProtocol
import Glibc
import Synchronization
import VersionsClient

/// A command that something is held for until it ends.
enum SupervisedCommand {
    /// The command's process, once it runs; and a signal that came before. Whole numbers, since a signal's handler may
    /// come at any time.
    private static let process = Atomic<pid_t>(0)
    private static let early = Atomic<CInt>(0)

    /// Runs a command and waits for its end, as a shell does: what the terminal sends reaches the command by itself,
    /// and we wait for what it makes of it; what is sent to us alone is passed on.
    static func run(
        _ program: String, _ arguments: [Path], environment: [(String, Path)]
    ) throws(ControlError) -> Int32 {
        process.store(0, ordering: .sequentiallyConsistent)
        early.store(0, ordering: .sequentiallyConsistent)
        // Who was started with a signal ignored, as by nohup, leaves it so.
        let ours = [SIGINT, SIGQUIT].filter { replace($0, by: SIG_IGN) }
        let passedOn = [SIGTERM, SIGHUP].filter { replace($0, by: passOn) }
        defer { for number in ours + passedOn { signal(number, SIG_DFL) } }
        let child = try Subprocess.start(program, arguments, environment: environment, defaults: ours)
        process.store(child, ordering: .sequentiallyConsistent)
        let number = early.exchange(0, ordering: .sequentiallyConsistent)
        if number != 0 { kill(child, number) }
        return Subprocess.wait(child)
    }

    private static let passOn: sighandler_t = { number in
        let child = process.load(ordering: .sequentiallyConsistent)
        if child > 0 { kill(child, number) } else { early.store(number, ordering: .sequentiallyConsistent) }
    }

    /// Sets what a signal does, unless it is ignored.
    /// - Returns: whether it was set.
    static func replace(_ number: CInt, by handler: sighandler_t) -> Bool {
        var old = sigaction()
        guard sigaction(number, nil, &old) == 0 else { return false }
        let isIgnored =
            unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        guard !isIgnored else { return false }
        signal(number, handler)
        return true
    }
}
