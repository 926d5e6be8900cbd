// Who takes part in coordination, and what they are told.

import VersionModel

/// A client that takes part in coordination.
public protocol CoordinationClient: AnyObject, Sendable {
    /// Something for the client. Called with the coordinator's lock held, so that the order is kept: it puts the
    /// message on its way and returns.
    func tell(_ message: CoordinationMessage)
}

/// What a client is told.
public enum CoordinationMessage: Hashable, Sendable {
    case granted(ClaimID, [TreePath])
    case failed(ClaimID, ClaimRefusal)
    /// With where the presenter's item is.
    case ask(QuestionID, PresenterID, Question, for: ClaimID, at: TreePath?)
    case reacquire(PresenterID, ClaimID)
    case heldUp(ClaimID, by: CoordinationParty, isHolder: Bool)
    case presenterRevoked(PresenterID)
    case claimRevoked(ClaimID)
    /// What the claim is on was changed, moved or deleted by a program that did not wait for it.
    case disturbed(ClaimID, Access)
    case probe
}

/// Why a claim is not granted, for people.
public enum ClaimRefusal: Hashable, Sendable {
    case cancelled
    /// Who waits for whom, in a ring.
    case deadlock([CoordinationParty])
    case refused(by: CoordinationParty, String)
    case unresponsive
}

/// A process that takes part.
public struct CoordinationParty: Hashable, Sendable {
    public var process: Int32
    public var program: String
    /// The item that it is about; nil if that has none.
    public var path: TreePath?
    /// Whose process it is; nil if nobody can tell.
    public var user: UInt32?

    public init(process: Int32, program: String, path: TreePath? = nil, user: UInt32? = nil) {
        self.process = process
        self.program = program
        self.path = path
        self.user = user
    }
}

extension CoordinationParty {
    /// Somebody who has gone.
    public static let unknown = CoordinationParty(process: 0, program: "")
}
