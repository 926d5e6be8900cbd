// versionsfs: mounts a container.

import CLinux
import ControlProtocol
import Glibc
import Logging


/// After a start from `/proc/self/exe` the kernel names the process `exe`. pgrep and ps should find it by its name.
func takeName() {
    let file = open("/proc/self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = write(file, "versionsfs", 10)
    close(file)
}

func run() -> Int32 {
    // The state alone keeps about five hundred directories open, and a session often allows a thousand files.
    linux_raise_descriptors()
    let words = (1..<max(1, Int(CommandLine.argc))).compactMap { index -> [UInt8]? in
        guard let word = CommandLine.unsafeArgv[index] else { return nil }
        return UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) }
    }
    let arguments: Arguments
    do {
        arguments = try Arguments(words)
    } catch {
        complain(Diagnostic(nil, error.text, hint: "`versionsfs -h` explains the options", usage: Arguments.synopsis))
        return 64
    }
    switch arguments.mode {
    case .version:
        print("versionsfs \(ProductVersion.current)")
        return 0
    case .help:
        print(Arguments.usage, terminator: "")
        return 0
    case .offline:
        SignalThread.block()
        var logger = Logger(label: "versionsfs") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        takeName()
        return Offline.run(arguments, logger) ? 0 : 1
    case .remount:
        do {
            try Remount(arguments).run()
            return 0
        } catch {
            complain(error.diagnostic)
            return 1
        }
    case .mount:
        takeName()
        if !arguments.inForeground, arguments.readyDescriptor == nil { return Detaching.startAndWait(words) }
        SignalThread.block()
        // One arena per busy thread. With fewer, a serving thread waits for the arena of an interrupted catalog thread,
        // or makes it grow. Without a limit there are eight per processor.
        linux_limit_arenas(12)
        do {
            try Daemon(arguments).run()
            return 0
        } catch {
            complain(error.diagnostic)
            return 1
        }
    }
}

// Otherwise the first opened file would take one of their numbers.
linux_open_standard_streams()
exit(run())
