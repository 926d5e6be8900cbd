// What a presenter's messages go to, before anybody has decided on which thread they are handled.

import ControlProtocol

/// A message to a presenter.
public struct PresenterMessage: Sendable {
    /// What is asked or told.
    public enum Content: Sendable {
        /// Leave the item alone from now on, until `reacquire` comes for the same claim.
        case relinquish(toWriter: Bool, claim: UInt64)
        /// Write what has not been written yet.
        case save(claim: UInt64)
        /// Make a deletion possible; of something in the package or directory that is presented, or of the item itself.
        case accommodateDeletion(of: Path?, claim: UInt64)
        /// The item is the presenter's again.
        case reacquire(claim: UInt64)
        /// What others did, and everybody's conflicts; `sequence` is what to present again from (`after`).
        case changes([PresentedChange], sequence: UInt64)
        /// No answer came in time, and others went on: what is shown may be old.
        case revoked
    }

    public let content: Content
    /// Answers a question, once, from any thread; does nothing for what is only told.
    public let answer: @Sendable (Result<Void, ControlError>) -> Void

    public init(_ content: Content, answer: @escaping @Sendable (Result<Void, ControlError>) -> Void) {
        self.content = content
        self.answer = answer
    }
}

/// Takes the messages of one presenter, in their order, on the connection's reading thread: it passes them on and
/// returns. What is called meanwhile in a handler should say so (``CoordinationContext``).
public struct PresenterSink: Sendable {
    /// Takes a message.
    public var take: @Sendable (PresenterMessage) -> Void
    /// Called once: nothing comes any more, for the connection is gone or the presenter has withdrawn.
    public var ended: @Sendable (ControlError) -> Void

    public init(
        take: @escaping @Sendable (PresenterMessage) -> Void, ended: @escaping @Sendable (ControlError) -> Void
    ) {
        self.take = take
        self.ended = ended
    }
}
