// A connection to a daemon: calls out, and whoever waits for their replies.

import ControlProtocol
import Glibc
import Synchronization

/// Carries JSON-RPC over a connected stream socket. Thread-safe. Replies, questions and events are read by a thread of
/// its own, and handed on there: nothing that waits for them needs a thread of Swift's pool.
public final class ControlConnection: Sendable {
    /// What a caller waits for; called once, on the reading thread, before the next line is read.
    typealias Completion = @Sendable (Result<[UInt8], ControlError>) -> Void

    struct State {
        var next: Int64 = 1
        var pending: [Int64: Completion] = [:]
        var progress: [Int64: @Sendable (ProgressNotification) -> Void] = [:]
        var watchers: [UInt64: Watcher] = [:]
        var queries: [UInt64: QueryWatcher] = [:]
        /// Who wants to hear what holds up a claim, by the claim's key.
        var heldUp: [UInt64: @Sendable (HeldUpNotification) -> Void] = [:]
        /// Who hears what becomes of claims that are held.
        var claimWatcher: (@Sendable (ClaimNotice) -> Void)?
        var nextKey: UInt64 = 1
        /// The presenters of this connection.
        var sinks: [UInt64: PresenterSink] = [:]
        /// Who wants to hear that the connection has ended.
        var endings: [@Sendable (ControlError) -> Void] = []
        /// Why nothing can be called any more.
        var end: ControlError?
    }

    /// What a subscription's notifications go to, on the reading thread: what blocks there holds the daemon back.
    struct Watcher: Sendable {
        var events: @Sendable (EventsNotification) -> Void
        /// Called once: the daemon ended the subscription, or the connection is gone.
        var ended: @Sendable (ControlError) -> Void
    }

    /// Guards the calls that wait. Never held while something is called or written.
    let state = Mutex(State())
    /// Guards the order of bytes on the socket: lines must not mix. Taken after `state` was let go; nothing waits with it.
    let output = Mutex(Output())
    let socket: CInt

    /// Takes over a connected socket and begins to read.
    public init(socket: CInt) {
        self.socket = socket
        if !ReadingThread.start({ self.readAll() }) {
            finish(ControlError(.failed, "the system has no thread for the connection"))
        }
    }

    deinit { Glibc.close(socket) }

    /// Ends the connection: calls that wait fail.
    public func close() {
        // The descriptor itself stays until nobody can use it any more; the reader ends at this.
        shutdown(socket, CInt(SHUT_RDWR))
    }

    /// Why the connection has ended; nil while it lasts.
    public var end: ControlError? { state.withLock { $0.end } }

    /// Has something called when the connection ends, on the reading thread; at once if it has.
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
    ///   - request: what is asked for.
    ///   - progress: hears how far a long call is.
    /// - Throws: the daemon's error, `disconnected`, or `cancelled` if the task is.
    public func call<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (ProgressNotification) -> Void)? = nil
    ) async throws(ControlError) -> Request.Reply {
        let line = try await reply(to: request, progress: progress)
        return try Wire.result(Request.Reply.self, in: line)
    }

    /// Calls the daemon and goes on.
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - then: called once, on the reading thread, before anything that the daemon says later is looked at; at once if
    ///     the connection has ended. What takes its time there holds up all others of the connection.
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

    /// Subscribes; the watcher is in place before the first event is read.
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

    /// Ends a subscription: nothing more is told of it.
    func unwatch(_ subscription: UInt64) {
        guard state.withLock({ $0.watchers.removeValue(forKey: subscription) }) != nil else { return }
        post(UnwatchRequest(subscription: subscription))
    }

    /// Calls the daemon and does not care for the answer.
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
