// Observers of what is committed.

import Synchronization

/// Ends an observation when it is cancelled or released.
public final class Observation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
    /// After this returns, no new call starts; one may still be running.
    public func cancel() { end() }
}

/// The observers of a change feed.
final class Observers<Row>: Sendable {
    typealias Handler = @Sendable ([Row]) -> Void
    private struct State {
        var next = 0
        var handlers: [Int: Handler] = [:]
    }
    /// Guards the list; not held while handlers run.
    private let state = Mutex(State())

    func add(_ handler: @escaping Handler) -> Observation {
        let number = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        return Observation { [weak self] in self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) } }
    }

    func tell(_ rows: [Row]) {
        let handlers = state.withLock { state in state.handlers.sorted { $0.key < $1.key }.map(\.value) }
        for handler in handlers { handler(rows) }
    }
}
