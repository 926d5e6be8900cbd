// Readers of the change feed wait here until the kernel shows the names that they read of.

import Dispatch
import Synchronization

/// A change is recorded before its system call is answered, and the kernel shows its names when the program that made
/// the call runs again. A reader that is told before that opens the old file, or is told that there is none.
final class ShownNames: Sendable {
    /// A system call that waits for claims may hold a directory's names for as long. Its reader may be the one that has
    /// to give way, so no reader waits longer than this.
    private static let patience = DispatchTimeInterval.milliseconds(250)

    private struct State {
        /// Readers whose directories the thread has not passed yet.
        var waiting = 0
        /// Whether one of them has lost its patience: until the thread is free again, none waits.
        var isLate = false
    }

    private let kernel: KernelLink
    /// The only thread that waits for the kernel, for as long as it takes.
    private let thread = Scheduler()
    /// Lock order: last.
    private let state = RankedMutex(State())

    init(kernel: KernelLink) { self.kernel = kernel }

    func start() { thread.start() }
    func end() { thread.end() }

    /// Waits until the kernel shows what was done in directories, given by their nodes. The caller holds no lock
    /// that a system call needs.
    func wait(for directories: [UInt64]) {
        guard !directories.isEmpty, let side = kernel.side else { return }
        let mayWait = state.withLock { state in
            if !state.isLate { state.waiting += 1 }
            return !state.isLate
        }
        guard mayWait else { return }
        let passed = DispatchSemaphore(value: 0)
        thread.after(0) { [self] in
            for directory in directories { side.awaitNames(of: directory) }
            state.withLock { state in
                state.waiting -= 1
                if state.waiting == 0 { state.isLate = false }
            }
            passed.signal()
        }
        guard passed.wait(timeout: .now() + Self.patience) == .timedOut else { return }
        state.withLock { state in if state.waiting > 0 { state.isLate = true } }
    }
}
