// The receiver of a presenter's messages, independent of the thread that handles them.

import ControlProtocol

/// A message to a presenter.
public struct PresenterMessage: Sendable {
    /// The content of a message.
    public enum Content: Sendable {
        /// Do not use the item from now on, until `reacquire` comes for the same claim.
        case relinquish(toWriter: Bool, claim: UInt64)
        /// Write all unsaved changes.
        case save(claim: UInt64)
        /// Make a deletion possible, of the item or of an item in the presented package or directory.
        case accommodateDeletion(of: Path?, claim: UInt64)
        /// The item belongs to the presenter again.
        case reacquire(claim: UInt64)
        /// Changes by other programs, and conflicts of all programs. `sequence` is the position to present again from
        /// (`after`).
        case changes([PresentedChange], sequence: UInt64)
        /// The presenter has not answered in time, and other programs continued: it may show old content.
        case revoked
    }

    public let content: Content
    /// Answers a question, once, from any thread. No effect for a notification.
    public let answer: @Sendable (Result<Void, ControlError>) -> Void

    public init(_ content: Content, answer: @escaping @Sendable (Result<Void, ControlError>) -> Void) {
        self.content = content
        self.answer = answer
    }
}

/// Takes the messages of one presenter in order, on the connection's reading thread. It passes them on and returns.
/// Calls inside a handler should carry their context (``CoordinationContext``).
public struct PresenterSink: Sendable {
    /// Takes a message.
    public var take: @Sendable (PresenterMessage) -> Void
    /// Called once at the end of the messages: the connection is gone, or the presenter has withdrawn.
    public var ended: @Sendable (ControlError) -> Void

    public init(
        take: @escaping @Sendable (PresenterMessage) -> Void, ended: @escaping @Sendable (ControlError) -> Void
    ) {
        self.take = take
        self.ended = ended
    }
}
