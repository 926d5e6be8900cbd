// A separate thread for a connection: its waiting callers may occupy every thread of every pool.

import Glibc

/// Threads outside of all pools.
enum ReadingThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs a body on a new thread that gets none of the program's signals.
    /// - Returns: whether the thread exists; if not, `body` is never called.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let context = Unmanaged.passRetained(Body(body))
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { pointer in
            if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
            return nil
        }, context.toOpaque())
        guard result == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
