// Reports the end of processes: one descriptor for each, one thread for all.

import CLinux
import Glibc
import Synchronization

/// The services of the kernel that the table of processes needs, besides /proc.
public protocol ProcessWatching: Sendable {
    /// Calls `onExit` once when the process ends; false if that is impossible.
    func watch(_ process: Int32, onExit: @escaping @Sendable () -> Void) -> Bool
    /// Ends a watch; a call that is on its way may still come.
    func unwatch(_ process: Int32)
    /// Whether this thread belongs to this process now; costs one system call without file access.
    func isThread(_ thread: Int32, of process: Int32) -> Bool
}

/// The kernel's pidfds in one epoll set, read by a separate thread.
public final class ProcessWatch: ProcessWatching {
    private struct Watched {
        var process: Int32
        var descriptor: Int32
        var onExit: @Sendable () -> Void
    }

    private struct State {
        var watched: [UInt64: Watched] = [:]
        var tags: [Int32: UInt64] = [:]
        var nextTag: UInt64 = 1
        var hasThread = false
    }

    private let epoll: Int32
    /// Written to at the end, to wake and end the thread.
    private let wakeUp: Int32
    /// Guards the watches. Innermost: no lock is taken and no callback is called under it.
    private let state = RankedMutex(State())

    /// Starts the thread; nil if the system has no descriptor or thread left.
    public static func start() -> ProcessWatch? {
        let watch = ProcessWatch()
        guard watch.epoll >= 0, watch.wakeUp >= 0, linux_epoll_add(watch.epoll, watch.wakeUp, 0) == 0 else {
            return nil
        }
        return Loop(watch).start() ? watch : nil
    }

    private init() {
        epoll = linux_epoll_create()
        wakeUp = linux_eventfd()
    }

    deinit {
        state.withLock { state in
            state.watched.values.forEach { close($0.descriptor) }
            // The thread, if it exists, closes both after it has woken up.
            if state.hasThread { _ = linux_eventfd_signal(wakeUp) } else { [epoll, wakeUp].forEach { _ = close($0) } }
        }
    }

    public func watch(_ process: Int32, onExit: @escaping @Sendable () -> Void) -> Bool {
        let descriptor = linux_pidfd_open(process)
        guard descriptor >= 0 else { return false }
        return state.withLock { state in
            Self.drop(process, from: &state)
            let tag = state.nextTag
            state.nextTag += 1
            guard linux_epoll_add(epoll, descriptor, tag) == 0 else {
                close(descriptor)
                return false
            }
            state.watched[tag] = Watched(process: process, descriptor: descriptor, onExit: onExit)
            state.tags[process] = tag
            return true
        }
    }

    public func unwatch(_ process: Int32) {
        state.withLock { Self.drop(process, from: &$0) }
    }

    public func isThread(_ thread: Int32, of process: Int32) -> Bool {
        linux_probe_thread(process, thread) == 0 || errno == EPERM
    }

    private static func drop(_ process: Int32, from state: inout State) {
        guard let tag = state.tags.removeValue(forKey: process), let old = state.watched.removeValue(forKey: tag) else {
            return
        }
        close(old.descriptor)
    }

    private func ended(_ tag: UInt64) {
        let watched = state.withLock { state -> Watched? in
            guard let watched = state.watched.removeValue(forKey: tag) else { return nil }
            if state.tags[watched.process] == tag { state.tags[watched.process] = nil }
            close(watched.descriptor)
            return watched
        }
        watched?.onExit()
    }

    // MARK: The thread

    /// The thread's objects. It holds the watch only weakly, so that the watch can end.
    private final class Loop {
        weak var watch: ProcessWatch?
        let epoll: Int32
        let wakeUp: Int32
        init(_ watch: ProcessWatch) {
            self.watch = watch
            epoll = watch.epoll
            wakeUp = watch.wakeUp
        }

        func run() {
            var tags = [UInt64](repeating: 0, count: 64)
            while true {
                let count = linux_epoll_wait(epoll, &tags)
                if count < 0, errno != EINTR { break }
                let arrived = tags.prefix(Int(max(0, count)))
                if arrived.contains(0) { break }
                arrived.forEach { watch?.ended($0) }
            }
            close(epoll)
            close(wakeUp)
        }

        func start() -> Bool {
            var thread = pthread_t()
            let loop = Unmanaged.passRetained(self)
            let failure = pthread_create(
                &thread, nil,
                { argument in
                    if let argument { Unmanaged<Loop>.fromOpaque(argument).takeRetainedValue().run() }
                    return nil
                }, loop.toOpaque())
            guard failure == 0 else {
                loop.release()
                return false
            }
            pthread_detach(thread)
            watch?.state.withLock { $0.hasThread = true }
            return true
        }
    }
}
