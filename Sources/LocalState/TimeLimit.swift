// Work on files that may never answer, as on a network's file system: it is left to a thread, and given up in time.

import Dispatch
import Glibc
import Synchronization

public enum TimeLimit {
    /// Threads at a time. A file system that does not answer holds one for each of its items.
    private static let width = 64

    /// - Returns: the body's value; nil if it takes longer. The thread goes on then.
    public static func run<Value: Sendable>(
        seconds: Double, _ body: @escaping @Sendable () -> Value
    ) -> Value? {
        map([()], seconds: seconds) { body() }[0]
    }

    /// Does the same for each item, side by side.
    /// - Parameter seconds: for all of them.
    public static func map<Item: Sendable, Value: Sendable>(
        _ items: [Item], seconds: Double, _ body: @escaping @Sendable (Item) -> Value
    ) -> [Value?] {
        let tasks = Tasks<Value>(items.count)
        let started = (0..<min(items.count, width)).filter { _ in
            DetachedThread.start { while let index = tasks.take() { tasks.finish(index, body(items[index])) } }
        }
        if !started.isEmpty { tasks.wait(seconds) }
        return tasks.end()
    }
}

/// What threads have to do.
private final class Tasks<Value: Sendable>: Sendable {
    private struct State {
        var next = 0
        var missing: Int
        var values: [Value?]
    }

    private let done = DispatchSemaphore(value: 0)
    /// Guards what is taken and what is known.
    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(missing: count, values: Array(repeating: nil, count: count)))
    }

    /// The next item; nil if there is none.
    func take() -> Int? {
        state.withLock { state in
            guard state.next < state.values.count else { return nil }
            state.next += 1
            return state.next - 1
        }
    }

    func finish(_ index: Int, _ value: Value) {
        let isLast = state.withLock { state in
            guard index < state.values.count else { return false }
            state.values[index] = value
            state.missing -= 1
            return state.missing == 0
        }
        if isLast { done.signal() }
    }

    func wait(_ seconds: Double) { _ = done.wait(timeout: .now() + seconds) }

    /// What is known by now; no item is begun, and no value kept, after this.
    func end() -> [Value?] {
        state.withLock { state in
            defer { state.values = [] }
            return state.values
        }
    }
}

private enum DetachedThread {
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
