// Threads that are started one by one and joined together.

import CFuse3
import Glibc

/// The lock guards the list of threads only.
final class ThreadGroup: Sendable {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    private struct State {
        var running = 0
        /// Ended, not yet joined.
        var ended: [pthread_t] = []
    }
    private let state = Monitor(State())

    /// Starts a thread that is ready to run handlers.
    ///
    /// - Returns: whether the thread started.
    func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(
            Body { [self] in
                wire_name_thread(name)
                ThreadSetup.prepare()
                run()
                state.with {
                    $0.running -= 1
                    $0.ended.append(pthread_self())
                }
            })
        state.with { $0.running += 1 }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { pointer in
                // Balances `passRetained` above.
                if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        guard failure != 0 else { return true }
        body.release()
        state.with { $0.running -= 1 }
        return false
    }

    /// Waits until all have ended.
    func join() {
        while true {
            let ended = state.wait { state -> [pthread_t]? in
                if state.ended.isEmpty && state.running > 0 { return nil }
                defer { state.ended = [] }
                return state.ended
            }
            if ended.isEmpty { return }
            for thread in ended { pthread_join(thread, nil) }
        }
    }
}
