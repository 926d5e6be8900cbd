// Starting other programs with arguments that are bytes.

import ControlProtocol
import Glibc
import VersionsClient

/// Other programs.
enum Subprocess {
    /// Starts a program found by path or through PATH.
    /// - Parameters:
    ///   - environment: values set beside this program's own.
    ///   - standard: what its standard input, output and error are, by descriptor; what is left out is ours.
    ///   - defaults: signals that end it, though we ignore them.
    /// - Returns: its process.
    static func start(
        _ program: String, _ arguments: [Path], environment: [(String, Path)] = [], standard: [CInt: CInt] = [:],
        defaults: [CInt] = []
    ) throws(ControlError) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        // Threads of the runtime block most signals, and a program gets what the thread that starts it has blocked: no
        // ^C would end it.
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in defaults { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in standard { posix_spawn_file_actions_adddup2(&actions, source, target) }
        let names = environment.map { Array("\($0.0)=".utf8) }
        let own = currentEnvironment().filter { entry in !names.contains { entry.bytes.starts(with: $0) } }
        let added = zip(names, environment).map { Path(bytes: $0 + $1.1.bytes) }
        var process: pid_t = 0
        let result = withCStrings([Path(program)] + arguments) { arguments in
            withCStrings(own + added) { environment in
                posix_spawnp(&process, program, &actions, &attributes, arguments, environment)
            }
        }
        guard result == 0 else {
            errno = result
            let advice = result == ENOENT ? "install it, or put it into PATH" : nil
            throw ControlError(system: "cannot be started", path: Path(program), advice: advice)
        }
        return process
    }

    /// Waits for a program's end: its exit status, 128 and the signal if one ended it.
    static func wait(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return 1 }
        }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
    }

    /// Starts a program and waits for its end.
    static func run(
        _ program: String, _ arguments: [Path], environment: [(String, Path)] = [], standard: [CInt: CInt] = [:]
    ) throws(ControlError) -> Int32 {
        wait(try start(program, arguments, environment: environment, standard: standard))
    }

    private static func currentEnvironment() -> [Path] {
        var entries: [Path] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(Path(bytes: UnsafeRawBufferPointer(start: entry, count: strlen(entry))))
            next += 1
        }
        return entries
    }

    private static func withCStrings<Result>(
        _ strings: [Path], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { $0.withCString { strdup($0) } }
        defer { pointers.forEach { free($0) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress.unsafelyUnwrapped) }
    }
}
