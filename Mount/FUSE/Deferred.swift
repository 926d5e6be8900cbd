// An answer that can be given later, from any thread. The caller can interrupt the wait.

import Synchronization
public import SystemPackage

/// The answer to a request that has to wait for something.
///
/// The handler keeps it and returns `nil`; any thread calls ``complete(_:)`` later. If it is released without an
/// answer, the answer is EIO. The lock guards the stage only; handlers and the answer run outside it.
public final class Deferred<Value: Sendable>: Sendable {
    private enum Stage: Sendable {
        /// The handler has not returned yet: an early answer is kept until then.
        case handling(Result<Value, Errno>?)
        /// The handler has returned `nil`.
        case parked
        case answered
    }
    private struct State: Sendable {
        var stage = Stage.handling(nil)
        var interrupted = false
        var onInterrupt: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let answer: @Sendable (Result<Value, Errno>) -> Void

    /// `answer` is called at most once, and only after ``park()``.
    public init(answer: @escaping @Sendable (Result<Value, Errno>) -> Void) {
        self.answer = answer
    }

    deinit {
        let waiting = state.withLock { state in
            if case .parked = state.stage { return true }
            return false
        }
        if waiting { answer(.failure(.ioError)) }
    }

    /// Gives the answer. A second one is dropped.
    ///
    /// - Returns: whether the answer was taken. If not, the handle in the answer still belongs to the caller.
    @discardableResult
    public func complete(_ result: Result<Value, Errno>) -> Bool {
        let (taken, now) = state.withLock { state -> (Bool, Bool) in
            switch state.stage {
            case .handling(nil):
                state.stage = .handling(result)
                return (true, false)
            case .parked:
                state.stage = .answered
                state.onInterrupt = nil
                return (true, true)
            case .handling, .answered:
                return (false, false)
            }
        }
        if now { answer(result) }
        return taken
    }

    /// Sets the handler for an interrupt: a signal is pending for the caller, or the mount is gone. If that has
    /// happened already, the handler runs at once. It runs on a thread of the driver, may complete the answer, and must
    /// not block.
    public func onInterrupt(_ handler: @escaping @Sendable () -> Void) {
        let now = state.withLock { state in
            if state.interrupted { return true }
            state.onInterrupt = handler
            return false
        }
        if now { handler() }
    }

    /// Tells the handler that the caller no longer wants to wait.
    public func interrupt() {
        let handler = state.withLock { state in
            state.interrupted = true
            defer { state.onInterrupt = nil }
            return state.onInterrupt
        }
        handler?()
    }

    /// Notes that the handler returned without an answer: from now on ``complete(_:)`` sends the answer.
    public func park() {
        let result = state.withLock { state -> Result<Value, Errno>? in
            guard case .handling(let result) = state.stage else { return nil }
            state.stage = result == nil ? .parked : .answered
            return result
        }
        if let result { answer(result) }
    }

    /// Notes that the handler sent the answer itself: later answers are dropped.
    ///
    /// - Returns: an early answer that is not needed.
    @discardableResult
    func close() -> Result<Value, Errno>? {
        state.withLock { state in
            defer { state.stage = .answered }
            guard case .handling(let result) = state.stage else { return nil }
            return result
        }
    }
}
