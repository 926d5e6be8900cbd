// What the file system below does by itself meanwhile: a call that hangs there too does not hang because of us.

import Dispatch
import Foundation
import Glibc
import Support
import Synchronization

/// Creates, renames and removes a file in a bare directory, again and again, and remembers when that took long.
final class DiskWitness: Sendable {
    private struct State {
        var hasEnded = false
        var stalls: [ClosedRange<ContinuousClock.Instant>] = []
    }

    private static let long = Duration.milliseconds(20)
    private let state = Mutex(State())
    private let hasStopped = DispatchSemaphore(value: 0)

    init() throws {
        let directory = try Workplace.fresh("witness")
        Thread.detachNewThread { [self] in
            watch(directory)
            rmdir(directory)
            hasStopped.signal()
        }
    }

    /// Ends the watching.
    /// - Returns: when a call took over 20 ms.
    func end() -> [ClosedRange<ContinuousClock.Instant>] {
        state.withLock { $0.hasEnded = true }
        hasStopped.wait()
        return state.withLock(\.stalls)
    }

    private func watch(_ directory: String) {
        while !state.withLock(\.hasEnded) {
            let start = ContinuousClock.now
            let file = open("\(directory)/a", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
            if file >= 0 { close(file) }
            rename("\(directory)/a", "\(directory)/b")
            unlink("\(directory)/b")
            let end = ContinuousClock.now
            if end - start > Self.long { state.withLock { $0.stalls.append(start...end) } }
            // At a pace, so that it is no load of its own.
            poll(nil, 0, 5)
        }
    }
}
