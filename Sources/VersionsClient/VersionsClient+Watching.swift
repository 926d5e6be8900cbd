// Subscriptions of a client: changes at or below a target.

import ControlProtocol

extension VersionsClient {
    /// Changes at a target and below it to the given depth, from now on or after a known sequence number. Ends with an
    /// error if the connection ends, or if the consumer falls 65,536 events behind: watch again from the last event's
    /// number. The daemon stops when the stream is released.
    public func events(
        of target: Target, depth: WatchDepth = .subtree, after sequence: UInt64? = nil
    ) async throws(ControlError) -> AsyncThrowingStream<WatchEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: WatchEvent.self, throwing: (any Error).self, bufferingPolicy: .bufferingOldest(65_536))
        let watcher = ControlConnection.Watcher(
            events: { notification in
                for event in notification.events {
                    guard case .dropped = continuation.yield(event) else { continue }
                    let error = ControlError(.failed, "events came faster than they were taken", advice: "watch again")
                    return continuation.finish(throwing: error)
                }
            },
            ended: { continuation.finish(throwing: $0) })
        let running = Running { [weak connection] in connection?.unwatch($0) }
        continuation.onTermination = { _ in running.end() }
        let (begins, begin) = AsyncStream.makeStream(of: Result<WatchRequest.Reply, ControlError>.self)
        connection.watch(WatchRequest(target, after: sequence, depth: depth), watcher) { result in
            running.began(result.map(\.subscription))
            begin.yield(result)
            begin.finish()
        }
        for await result in begins {
            _ = try result.get()
            return stream
        }
        running.end()
        throw ControlError(.cancelled, "cancelled")
    }

    /// The same without a buffer: `body` is called on the reading thread, and a slow `body` delays the daemon. Returns
    /// the error at the end; cancellation of the task ends it too.
    public func watch(
        _ target: Target, depth: WatchDepth = .subtree, after sequence: UInt64? = nil,
        _ body: @escaping @Sendable (WatchEvent) -> Void
    ) async throws(ControlError) -> ControlError {
        let end = RunningEnd<ControlError>(of: Running { [weak connection] in connection?.unwatch($0) })
        let watcher = ControlConnection.Watcher(
            events: { $0.events.forEach(body) }, ended: { end.came(.success($0)) })
        connection.watch(WatchRequest(target, after: sequence, depth: depth), watcher) { result in
            end.began(result.map(\.subscription))
        }
        return try await end.wait()?.get() ?? ControlError(.cancelled, "cancelled")
    }
}
