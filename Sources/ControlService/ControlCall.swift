// A call as the backend sees it: the caller, whether it still waits, and the receiver of progress reports.

import ControlProtocol
import Synchronization

/// A running call. A long call uses ``checkCancellation()`` now and then and reports its progress.
public final class ControlCall: Sendable {
    public let peer: Peer
    private let cancelled = Atomic(false)
    private let progress: @Sendable (_ done: UInt64, _ total: UInt64?, _ unit: String) -> Void

    /// - Parameter progress: receives the reports of ``report(done:of:unit:)``; may be called on any thread.
    public init(
        peer: Peer,
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64?, _ unit: String) -> Void = { _, _, _ in }
    ) {
        self.peer = peer
        self.progress = progress
    }

    /// Whether the client is gone.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Throws `cancelled` if the client is gone.
    public func checkCancellation() throws(ControlError) {
        if isCancelled { throw ControlError(.cancelled, "the client went away") }
    }

    /// Reports progress to the client. Cheap enough to call often: it sends at most ten reports per second.
    public func report(done: UInt64, of total: UInt64?, unit: String) {
        progress(done, total, unit)
    }

    /// Notes that the client is gone.
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
