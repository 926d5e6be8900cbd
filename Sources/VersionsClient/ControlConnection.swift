// A connection to a daemon: sends calls, and passes replies to their callers.

import ControlProtocol
import Glibc
import Synchronization

/// JSON-RPC over a connected stream socket. Thread-safe. A thread of its own reads replies, questions and events, and
/// calls their handlers. So a wait for them needs no thread of Swift's pool.
public final class ControlConnection: Sendable {
    /// The handler of a reply; called once, on the reading thread, before the next line is read.
    typealias Completion = @Sendable (Result<[UInt8], ControlError>) -> Void

    struct State {
        var next: Int64 = 1
        var pending: [Int64: Completion] = [:]
        var progress: [Int64: @Sendable (ProgressNotification) -> Void] = [:]
        var watchers: [UInt64: Watcher] = [:]
        var queries: [UInt64: QueryWatcher] = [:]
        /// The handlers for the holders of waiting claims, by the claim's key.
        var heldUp: [UInt64: @Sendable (HeldUpNotification) -> Void] = [:]
        /// The handler for events of granted claims.
        var claimWatcher: (@Sendable (ClaimNotice) -> Void)?
        var nextKey: UInt64 = 1
        /// The presenters of this connection.
        var sinks: [UInt64: PresenterSink] = [:]
        /// The handlers for the end of the connection.
        var endings: [@Sendable (ControlError) -> Void] = []
        /// The reason why no call is possible any more.
        var end: ControlError?
    }

    /// The handlers of a subscription, called on the reading thread. A slow handler delays the daemon.
    struct Watcher: Sendable {
        var events: @Sendable (EventsNotification) -> Void
        /// Called once: the daemon ended the subscription, or the connection is gone.
        var ended: @Sendable (ControlError) -> Void
    }

    /// Guards the waiting calls. Never held during a callback or a write.
    let state = Mutex(State())
    /// Guards the order of bytes on the socket: lines must not mix. Locked after `state` is unlocked; no wait under it.
    let output = Mutex(Output())
    let socket: CInt

    /// Takes ownership of a connected socket and starts to read.
    public init(socket: CInt) {
        self.socket = socket
        if !ReadingThread.start({ self.readAll() }) {
            finish(ControlError(.failed, "the system has no thread for the connection"))
        }
    }

    deinit { Glibc.close(socket) }

    /// Closes the connection: waiting calls fail.
    public func close() {
        // The descriptor stays open until its last user is gone; this ends the reader.
        shutdown(socket, CInt(SHUT_RDWR))
    }

    /// The reason for the end of the connection; nil while it is open.
    public var end: ControlError? { state.withLock { $0.end } }

    /// Calls a handler at the end of the connection, on the reading thread; at once if it has ended.
    public func whenEnded(_ body: @escaping @Sendable (ControlError) -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.endings.append(body) }
            return state.end
        }
        if let end { body(end) }
    }

    // MARK: - Calls

    /// Calls the daemon.
    /// - Parameters:
    ///   - request: the request.
    ///   - progress: gets the progress of a long call.
    /// - Throws: the daemon's error, `disconnected`, or `cancelled` if the task is canceled.
    public func call<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (ProgressNotification) -> Void)? = nil
    ) async throws(ControlError) -> Request.Reply {
        let line = try await reply(to: request, progress: progress)
        return try Wire.result(Request.Reply.self, in: line)
    }

    /// Calls the daemon and returns at once.
    /// - Parameters:
    ///   - request: the request.
    ///   - then: called once, on the reading thread, before any later line is read; at once if the connection has
    ///     ended. A slow handler delays the whole connection.
    public func call<Request: ControlRequest>(
        _ request: Request, then: @escaping @Sendable (Result<Request.Reply, ControlError>) -> Void
    ) {
        begin(request) { result in
            then(result.flatMap { line in
                do throws(ControlError) {
                    return .success(try Wire.result(Request.Reply.self, in: line))
                } catch {
                    return .failure(error)
                }
            })
        }
    }

    /// Subscribes. The watcher is in place before the first event is read.
    /// - Parameter then: called once, on the reading thread.
    func watch(
        _ request: WatchRequest, _ watcher: Watcher,
        then: @escaping @Sendable (Result<WatchRequest.Reply, ControlError>) -> Void
    ) {
        call(request) { [weak self] result in
            if case .success(let reply) = result { self?.state.withLock { $0.watchers[reply.subscription] = watcher } }
            then(result)
        }
    }

    /// Ends a subscription: its watcher is not called any more.
    func unwatch(_ subscription: UInt64) {
        guard state.withLock({ $0.watchers.removeValue(forKey: subscription) }) != nil else { return }
        post(UnwatchRequest(subscription: subscription))
    }

    /// Calls the daemon and ignores the answer.
    func post(_ request: some ControlRequest) {
        let number = newNumber(nil)
        if let line = try? Wire.line(calling: request, id: .number(number)) { write(line) }
    }

    private func newNumber(_ progress: (@Sendable (ProgressNotification) -> Void)?) -> Int64 {
        state.withLock { state in
            defer { state.next += 1 }
            if let progress { state.progress[state.next] = progress }
            return state.next
        }
    }

    /// Sends a call.
    func begin(_ request: some ControlRequest, _ completion: @escaping Completion) {
        let number = newNumber(nil)
        do throws(ControlError) {
            let line = try Wire.line(calling: request, id: .number(number))
            expect(number, completion)
            write(line)
        } catch {
            completion(.failure(error))
        }
    }

    private func reply(
        to request: some ControlRequest, progress: (@Sendable (ProgressNotification) -> Void)?
    ) async throws(ControlError) -> [UInt8] {
        let number = newNumber(progress)
        let line = try Wire.line(calling: request, id: .number(number))
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<[UInt8], ControlError>, Never>) in
                expect(number) { continuation.resume(returning: $0) }
                if Task.isCancelled { complete(number, .failure(ControlError(.cancelled, "cancelled"))) }
                write(line)
            }
        } onCancel: {
            complete(number, .failure(ControlError(.cancelled, "cancelled")))
        }
        return try result.get()
    }

    private func expect(_ number: Int64, _ completion: @escaping Completion) {
        let end = state.withLock { state -> ControlError? in
            if state.end == nil { state.pending[number] = completion }
            return state.end
        }
        if let end { completion(.failure(end)) }
    }

    func complete(_ number: Int64, _ result: Result<[UInt8], ControlError>) {
        let completion = state.withLock { state in
            state.progress[number] = nil
            return state.pending.removeValue(forKey: number)
        }
        completion?(result)
    }
}
