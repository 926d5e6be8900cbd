// A connection to a daemon: calls out and replies in, over a plain socket, joined by their ids.

import ControlProtocol
import Dispatch
import Glibc
import Synchronization

/// Carries JSON-RPC over a connected stream socket. Thread-safe. Replies and events are read by a thread of its own.
public final class ControlConnection: Sendable {
    /// What a caller waits for; called once, on the reading thread, before the next line is read.
    typealias Completion = @Sendable (Result<[UInt8], ControlError>) -> Void

    private struct State {
        var next: Int64 = 1
        var pending: [Int64: Completion] = [:]
        var progress: [Int64: @Sendable (ProgressNotification) -> Void] = [:]
        var watchers: [UInt64: Watcher] = [:]
        /// Who wants to hear what holds up a claim, by the claim's key.
        var heldUp: [UInt64: @Sendable (HeldUpNotification) -> Void] = [:]
        var nextKey: UInt64 = 1
        /// The presenters of this connection.
        var inboxes: [UInt64: PresenterInbox] = [:]
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
    private let state = Mutex(State())
    /// Guards the order of bytes on the socket: lines must not mix. Taken after `state` was let go.
    private let output: Mutex<CInt>
    private let socket: CInt
    private let reader = DispatchQueue(label: "versions-client-reader")

    /// Takes over a connected socket and begins to read.
    public init(socket: CInt) {
        self.socket = socket
        output = Mutex(socket)
        reader.async { self.readAll() }
    }

    deinit { Glibc.close(socket) }

    /// Ends the connection: calls that wait fail.
    public func close() {
        // The descriptor itself stays until nobody can use it any more; the reader ends at this.
        shutdown(socket, CInt(SHUT_RDWR))
    }

    /// Calls the daemon.
    /// - Parameter progress: hears how far a long call is.
    /// - Throws: the daemon's error, `disconnected`, or `cancelled` if the task is.
    public func call<Request: ControlRequest>(
        _ request: Request, progress: (@Sendable (ProgressNotification) -> Void)? = nil
    ) async throws(ControlError) -> Request.Reply {
        let line = try await reply(to: request, progress: progress) { _ in }
        return try Wire.result(Request.Reply.self, in: line)
    }

    /// Subscribes; the watcher is in place before the first event is read.
    func watch(_ request: WatchRequest, _ watcher: Watcher) async throws(ControlError) -> WatchRequest.Reply {
        let line = try await reply(to: request, progress: nil) { [weak self] line in
            guard let reply = try? Wire.result(WatchRequest.Reply.self, in: line) else { return }
            self?.state.withLock { $0.watchers[reply.subscription] = watcher }
        }
        return try Wire.result(WatchRequest.Reply.self, in: line)
    }

    // MARK: - Claims

    /// A key for a claim, and who hears what holds it up.
    func newKey(_ heldUp: (@Sendable (HeldUpNotification) -> Void)?) -> UInt64 {
        state.withLock { state in
            defer { state.nextKey += 1 }
            state.heldUp[state.nextKey] = heldUp
            return state.nextKey
        }
    }

    func forget(key: UInt64) { _ = state.withLock { $0.heldUp.removeValue(forKey: key) } }

    // MARK: - Presenters

    /// Presents an item; the inbox is in place before the first question is read.
    func present(_ request: PresentRequest, _ inbox: PresenterInbox) async throws(ControlError) -> PresentRequest.Reply {
        let line = try await reply(to: request, progress: nil) { [weak self] line in
            guard let reply = try? Wire.result(PresentRequest.Reply.self, in: line) else { return }
            self?.state.withLock { $0.inboxes[reply.presenter] = inbox }
        }
        return try Wire.result(PresentRequest.Reply.self, in: line)
    }

    /// Nothing more is handled for a presenter.
    func withdraw(_ presenter: UInt64) {
        state.withLock { $0.inboxes.removeValue(forKey: presenter) }?.end()
    }

    /// A question of the daemon. It is answered when its presenter has handled it, in a task of its own.
    private func asked(_ method: String, _ id: RequestID, _ line: [UInt8]) {
        do throws(ControlError) {
            switch method {
            case ProbeRequest.method: write(try Wire.line(replying: Done(), to: id))
            case RelinquishRequest.method:
                let request = try Wire.parameters(RelinquishRequest.self, in: line)
                hand(request.presenter, id) {
                    await $0.relinquish(toWriter: request.toWriter, claim: request.claim)
                }
            case SaveRequest.method:
                let request = try Wire.parameters(SaveRequest.self, in: line)
                hand(request.presenter, id) { try await $0.save(claim: request.claim) }
            case AccommodateDeletionRequest.method:
                let request = try Wire.parameters(AccommodateDeletionRequest.self, in: line)
                hand(request.presenter, id) {
                    try await $0.accommodateDeletion(of: request.path, claim: request.claim)
                }
            default: throw ControlError(.unknownMethod, "no method \(method.prefix(64)) here")
            }
        } catch {
            write(Wire.line(failing: error, to: id))
        }
    }

    /// Puts a message into a presenter's inbox. What is handled there knows for whom.
    private func hand(
        _ presenter: UInt64, _ question: RequestID? = nil, _ handle: @escaping @Sendable (any ItemPresenter) async throws -> Void
    ) {
        let context = CoordinationContext(connection: ObjectIdentifier(self), handling: presenter)
        let message = PresenterInbox.Message(
            answer: { [weak self] result in if let question { self?.answer(question, result) } }
        ) { handler in
            try await CoordinationContext.$current.withValue(context) { try await handle(handler) }
        }
        guard let inbox = state.withLock({ $0.inboxes[presenter] }) else {
            // Withdrawn a moment ago: it has nothing to say.
            return message.answer(.success(()))
        }
        inbox.put(message)
    }

    private func answer(_ question: RequestID, _ result: Result<Void, ControlError>) {
        switch result {
        case .success: if let line = try? Wire.line(replying: Done(), to: question) { write(line) }
        case .failure(let error): write(Wire.line(failing: error, to: question))
        }
    }

    // MARK: - Out

    /// Calls the daemon and does not care for the answer.
    func post(_ request: some ControlRequest) {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        if let line = try? Wire.line(calling: request, id: .number(number)) { write(line) }
    }

    private func reply(
        to request: some ControlRequest, progress: (@Sendable (ProgressNotification) -> Void)?,
        arrived: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(ControlError) -> [UInt8] {
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.progress[state.next] = progress
            return state.next
        }
        let line = try Wire.line(calling: request, id: .number(number))
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<[UInt8], ControlError>, Never>) in
                expect(number) { result in
                    if case .success(let line) = result { arrived(line) }
                    continuation.resume(returning: result)
                }
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

    private func complete(_ number: Int64, _ result: Result<[UInt8], ControlError>) {
        let completion = state.withLock { state in
            state.progress[number] = nil
            return state.pending.removeValue(forKey: number)
        }
        completion?(result)
    }

    private func write(_ line: [UInt8]) {
        let isWritten = output.withLock { socket in
            line.withUnsafeBytes { bytes in
                var sent = 0
                while sent < bytes.count {
                    let rest = bytes.count - sent
                    let count = send(socket, bytes.baseAddress?.advanced(by: sent), rest, CInt(MSG_NOSIGNAL))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    sent += count
                }
                return true
            }
        }
        // The reader finds the end of the connection and fails the calls.
        if !isWritten { close() }
    }

    // MARK: - In

    private func readAll() {
        var framer = LineFramer(limit: 1 << 30)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { bytes in
                framer.feed(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { take($0) }
            }
        }
        finish(ControlError(.disconnected, "the daemon closed the connection", advice: "see its log"))
    }

    private func take(_ frame: LineFramer.Frame) {
        guard case .line(let line) = frame, let message = try? Message(line: line) else { return }
        switch message {
        case .reply(.number(let number), let error): complete(number, error.map { .failure($0) } ?? .success(line))
        case .reply(nil, let error?): finish(error)  // Refused at the door, or a bug: nothing else will come of it.
        case .reply: break
        case .notification(let method): notified(method, line)
        case .request(let id, let method): asked(method, id, line)
        }
    }

    private func notified(_ method: String, _ line: [UInt8]) {
        switch method {
        case ProgressNotification.method:
            guard let progress = try? Wire.parameters(ProgressNotification.self, in: line),
                case .number(let number) = progress.request
            else { return }
            state.withLock { $0.progress[number] }?(progress)
        case EventsNotification.method:
            guard let events = try? Wire.parameters(EventsNotification.self, in: line) else { return }
            state.withLock { $0.watchers[events.subscription] }?.events(events)
        case HeldUpNotification.method:
            guard let notice = try? Wire.parameters(HeldUpNotification.self, in: line), let key = notice.key
            else { return }
            state.withLock { $0.heldUp[key] }?(notice)
        case ReacquireNotification.method:
            guard let notice = try? Wire.parameters(ReacquireNotification.self, in: line) else { return }
            hand(notice.presenter) { await $0.reacquire(claim: notice.claim) }
        case PresenterRevokedNotification.method:
            guard let notice = try? Wire.parameters(PresenterRevokedNotification.self, in: line) else { return }
            hand(notice.presenter) { await $0.wasRevoked() }
        case WatchEndedNotification.method:
            guard let ended = try? Wire.parameters(WatchEndedNotification.self, in: line) else { return }
            let watcher = state.withLock { $0.watchers.removeValue(forKey: ended.subscription) }
            watcher?.ended(ControlError(.disconnected, ended.reason, advice: "watch again, after \(ended.sequence)"))
        default: break  // A newer daemon may say more than we know.
        }
    }

    private func finish(_ error: ControlError) {
        let (pending, watchers, inboxes) = state.withLock { state in
            if state.end == nil { state.end = error }
            defer {
                state.pending = [:]
                state.progress = [:]
                state.watchers = [:]
                state.inboxes = [:]
                state.heldUp = [:]
            }
            return (state.pending, state.watchers, state.inboxes)
        }
        inboxes.values.forEach { $0.end() }
        pending.values.forEach { $0(.failure(error)) }
        watchers.values.forEach { $0.ended(error) }
    }
}
