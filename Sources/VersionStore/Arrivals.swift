// Copies whose data is on its way to the disk, so that nothing that came after them is made durable before.

import CLinux
import Glibc
import Synchronization
import SystemPackage

/// Whoever synchronises waits for the copies begun before; a copy that is begun meanwhile is waited for at once. So a
/// save costs no waiting while nobody synchronises. Lock order: last; not held while waiting.
final class Arrivals: Sendable {
    /// As many are kept open. Whoever adds one more waits for the oldest, which by then has long arrived.
    private static let limit = 256

    private struct State {
        var writing: [FileDescriptor] = []
        var synchronizing = 0
    }

    private let state = Mutex(State())

    deinit { for file in state.withLock({ $0.writing }) { System.close(file) } }

    /// The writing of a copy's data has been started.
    func began(_ copy: FileDescriptor) {
        let own = FileDescriptor(rawValue: fcntl(copy.rawValue, F_DUPFD_CLOEXEC, 0))
        guard own.rawValue >= 0 else { return Self.finish(copy) }
        let due: FileDescriptor? = state.withLock { state in
            if state.synchronizing > 0 { return own }
            state.writing.append(own)
            return state.writing.count > Self.limit ? state.writing.removeFirst() : nil
        }
        if let due { Self.end(due) }
    }

    /// Runs what makes things durable behind all copies begun before.
    func synchronizing<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        let due = state.withLock { state in
            state.synchronizing += 1
            defer { state.writing = [] }
            return state.writing
        }
        defer { state.withLock { $0.synchronizing -= 1 } }
        for file in due { Self.end(file) }
        return try body()
    }

    /// Waits for all copies begun before and closes them: a removed one takes room as long as it is open.
    func finishAll() {
        let due = state.withLock { state in
            defer { state.writing = [] }
            return state.writing
        }
        for file in due { Self.end(file) }
    }

    private static func end(_ file: FileDescriptor) {
        Self.finish(file)
        System.close(file)
    }

    /// Until the data is written, and the file system's journal told of it.
    private static func finish(_ file: FileDescriptor) { _ = linux_await_writing(file.rawValue) }
}
