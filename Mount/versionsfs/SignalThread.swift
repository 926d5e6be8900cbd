// A thread that waits for the signals that end the daemon.

import CLinux
import Glibc
import Synchronization

/// Calls a handler when a signal asks the daemon to end. Make it before other threads, so that they inherit the mask.
final class SignalThread: Sendable {
    private let handler: @Sendable () -> Void
    private static let signals: [Int32] = [SIGTERM, SIGINT, SIGHUP]

    init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

    /// Blocks the signals in this thread and in all threads that it starts. Ignores signals that the kernel sends as a
    /// side effect: SIGPIPE when a reader is gone, SIGIO when a program opens a file during a lease test.
    static func block() {
        var set = mask
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // An exceeded file size limit (RLIMIT_FSIZE) is an error of the call, like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGIO, SIG_IGN)
    }

    func start() {
        let handler = handler
        // Runs until the process ends; it holds no resource to release.
        let thread = ThreadStart {
            var set = Self.mask
            var number: Int32 = 0
            while sigwait(&set, &number) == 0 { handler() }
        }
        thread.run()
    }

    private static var mask: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        signals.forEach { sigaddset(&set, $0) }
        return set
    }
}

/// Starts a detached thread with a closure.
struct ThreadStart {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func run() {
        // Balanced by `takeRetainedValue` on the new thread.
        let box = Unmanaged.passRetained(Box(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            box.release()
            return
        }
        pthread_detach(thread)
    }
}
