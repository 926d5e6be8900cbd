// Reads the daemon's lines: replies for callers, questions and notifications for presenters, events for watchers.

import ControlProtocol
import Glibc
import Synchronization

extension ControlConnection {
    /// Reads until the connection ends.
    func readAll() {
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
        case ClaimDisturbedNotification.method:
            guard let notice = try? Wire.parameters(ClaimDisturbedNotification.self, in: line) else { return }
            state.withLock { $0.claimWatcher }?(.disturbed(notice))
        case ClaimRevokedNotification.method:
            guard let notice = try? Wire.parameters(ClaimRevokedNotification.self, in: line) else { return }
            state.withLock { $0.claimWatcher }?(.revoked(claim: notice.claim))
        case ReacquireNotification.method:
            guard let notice = try? Wire.parameters(ReacquireNotification.self, in: line) else { return }
            deliver(.reacquire(claim: notice.claim), to: notice.presenter)
        case PresenterChangesNotification.method:
            guard let notice = try? Wire.parameters(PresenterChangesNotification.self, in: line) else { return }
            deliver(.changes(notice.changes, sequence: notice.sequence), to: notice.presenter)
        case PresenterRevokedNotification.method:
            guard let notice = try? Wire.parameters(PresenterRevokedNotification.self, in: line) else { return }
            deliver(.revoked, to: notice.presenter)
        case WatchEndedNotification.method:
            guard let ended = try? Wire.parameters(WatchEndedNotification.self, in: line) else { return }
            let watcher = state.withLock { $0.watchers.removeValue(forKey: ended.subscription) }
            watcher?.ended(ControlError(.disconnected, ended.reason, advice: "watch again, after \(ended.sequence)"))
        case QueryResultsNotification.method:
            if let results = try? Wire.parameters(QueryResultsNotification.self, in: line) { took(results) }
        case QueryEndedNotification.method:
            if let ended = try? Wire.parameters(QueryEndedNotification.self, in: line) { queryEnded(ended) }
        default: break  // A newer daemon may send messages that this library does not know.
        }
    }

    /// Passes a daemon's question to its presenter, which answers it.
    private func asked(_ method: String, _ id: RequestID, _ line: [UInt8]) {
        do throws(ControlError) {
            switch method {
            case ProbeRequest.method: write(try Wire.line(replying: Done(), to: id))
            case RelinquishRequest.method:
                let request = try Wire.parameters(RelinquishRequest.self, in: line)
                deliver(.relinquish(toWriter: request.toWriter, claim: request.claim), to: request.presenter, id)
            case SaveRequest.method:
                let request = try Wire.parameters(SaveRequest.self, in: line)
                deliver(.save(claim: request.claim), to: request.presenter, id)
            case AccommodateDeletionRequest.method:
                let request = try Wire.parameters(AccommodateDeletionRequest.self, in: line)
                deliver(.accommodateDeletion(of: request.path, claim: request.claim), to: request.presenter, id)
            default: throw ControlError(.unknownMethod, "no method \(method.prefix(64)) here")
            }
        } catch {
            write(Wire.line(failing: error, to: id))
        }
    }

    private func deliver(_ content: PresenterMessage.Content, to presenter: UInt64, _ question: RequestID? = nil) {
        let message = PresenterMessage(content) { [weak self] result in
            if let question { self?.answer(question, result) }
        }
        guard let sink = state.withLock({ $0.sinks[presenter] }) else {
            // Withdrawn a moment ago: it cannot object.
            return message.answer(.success(()))
        }
        sink.take(message)
    }

    private func answer(_ question: RequestID, _ result: Result<Void, ControlError>) {
        switch result {
        case .success: if let line = try? Wire.line(replying: Done(), to: question) { write(line) }
        case .failure(let error): write(Wire.line(failing: error, to: question))
        }
    }

    /// Ends the connection: every waiting caller gets the error.
    func finish(_ error: ControlError) {
        let (ended, reason) = state.withLock { state in
            if state.end == nil { state.end = error }
            defer {
                state.pending = [:]
                state.progress = [:]
                state.watchers = [:]
                state.queries = [:]
                state.sinks = [:]
                state.heldUp = [:]
                state.claimWatcher = nil
                state.endings = []
            }
            return (state, state.end ?? error)
        }
        ended.sinks.values.forEach { $0.ended(reason) }
        ended.pending.values.forEach { $0(.failure(reason)) }
        ended.watchers.values.forEach { $0.ended(reason) }
        ended.queries.values.forEach { $0.ended(reason) }
        ended.endings.forEach { $0(reason) }
    }
}
