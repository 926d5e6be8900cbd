// The participants of coordination, and the messages for them.

import VersionModel

/// A client that takes part in coordination.
public protocol CoordinationClient: AnyObject, Sendable {
    /// Receives a message. Called under the coordinator's lock, to keep the order: it passes the message on and
    /// returns.
    func tell(_ message: CoordinationMessage)
}

/// A message for a client.
public enum CoordinationMessage: Hashable, Sendable {
    case granted(ClaimID, [TreePath])
    case failed(ClaimID, ClaimRefusal)
    /// With the place of the presenter's item.
    case ask(QuestionID, PresenterID, Question, for: ClaimID, at: TreePath?)
    case reacquire(PresenterID, ClaimID)
    case heldUp(ClaimID, by: CoordinationParty, isHolder: Bool)
    case presenterRevoked(PresenterID)
    case claimRevoked(ClaimID)
    /// A program without coordination has changed, moved or deleted the claimed item.
    case disturbed(ClaimID, Access)
    case probe
}

/// The reason why a claim is not granted, for users.
public enum ClaimRefusal: Hashable, Sendable {
    case cancelled
    /// The claims of a ring, each waiting for the next.
    case deadlock([CoordinationParty])
    case refused(by: CoordinationParty, String)
    case unresponsive
}

/// A process that takes part.
public struct CoordinationParty: Hashable, Sendable {
    public var process: Int32
    public var program: String
    /// The item of its claim; nil if it has none.
    public var path: TreePath?
    /// The user of the process; nil if it is unknown.
    public var user: UInt32?

    public init(process: Int32, program: String, path: TreePath? = nil, user: UInt32? = nil) {
        self.process = process
        self.program = program
        self.path = path
        self.user = user
    }
}

extension CoordinationParty {
    /// A participant that is gone.
    public static let unknown = CoordinationParty(process: 0, program: "")
}
