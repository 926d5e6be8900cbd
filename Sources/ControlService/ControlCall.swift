// What a backend knows of the call it serves: the caller, whether it still waits, and where progress goes.

import ControlProtocol
import Synchronization

/// One call while it runs. A long call asks ``checkCancellation()`` now and then and reports its progress.
public final class ControlCall: Sendable {
    public let peer: Peer
    private let cancelled = Atomic(false)
    private let progress: @Sendable (_ done: UInt64, _ total: UInt64?, _ unit: String) -> Void

    /// - Parameter progress: takes what ``report(done:of:unit:)`` reports; may be called from any thread.
    public init(
        peer: Peer,
        progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64?, _ unit: String) -> Void = { _, _, _ in }
    ) {
        self.peer = peer
        self.progress = progress
    }

    /// Whether the client went away.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    /// Throws `cancelled` if the client went away.
    public func checkCancellation() throws(ControlError) {
        if isCancelled { throw ControlError(.cancelled, "the client went away") }
    }

    /// Tells the client how far the call is; cheap enough to call often, for it sends at most ten a second.
    public func report(done: UInt64, of total: UInt64?, unit: String) {
        progress(done, total, unit)
    }

    /// The client went away.
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}
