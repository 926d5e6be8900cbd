// A coordinated access, requested by a client or by a plain program's open; and a presenter.

import VersionModel

/// A claim: all of its accesses are granted together, or none.
public struct Claim: Hashable, Sendable, Identifiable {
    public var id: ClaimID
    /// The client's connection; nil for a plain program, which has none.
    public var connection: ConnectionID?
    public var accesses: [Access]
    /// Claims of one purpose never wait for one another.
    public var purpose: Purpose?
    /// The presenter that makes the access: it gets no questions for it.
    public var presenter: PresenterID?
    /// Claims that last until after this one, which is nested in them.
    public var within: Set<ClaimID>
    /// The presenter whose handler makes the claim: it gives no answer before the claim is granted.
    public var handling: PresenterID?
    /// The process; nil if it is unknown.
    public var actor: FileActor?
    /// Whether it only asks presenters, once for all following claims of its purpose, and excludes no other access.
    public var isPreparation: Bool
    /// The longest wait of a plain program's open, in nanoseconds; then it continues as if granted. nil for a claim
    /// that waits without a limit.
    public var patience: Int64?

    public init(
        id: ClaimID, connection: ConnectionID?, accesses: [Access], purpose: Purpose? = nil,
        presenter: PresenterID? = nil, within: Set<ClaimID> = [], handling: PresenterID? = nil,
        actor: FileActor? = nil, isPreparation: Bool = false, patience: Int64? = nil
    ) {
        self.id = id
        self.connection = connection
        self.accesses = accesses
        self.purpose = purpose
        self.presenter = presenter
        self.within = within
        self.handling = handling
        self.actor = actor
        self.isPreparation = isPreparation
        self.patience = patience
    }

    /// Whether a plain program made it, by opening a file.
    public var isPlain: Bool { patience != nil }
}

/// A program that shows or edits an item and takes part in coordination.
public struct Presenter: Hashable, Sendable, Identifiable {
    public var id: PresenterID
    public var connection: ConnectionID
    /// The purpose of its own claims, about which it gets no questions.
    public var purpose: Purpose
    /// The place of its item; nil while it has none.
    public var path: TreePath?
    public var item: ItemID?
    public var actor: FileActor?
    /// Whether its refusal to save or to release the item counts. The refusal of a presenter that may not write the
    /// item does not.
    public var mayRefuse: Bool
    /// Whether a presenter of a plain directory gets a question before an item in it is deleted.
    public var accommodatesSubitems: Bool

    public init(
        id: PresenterID, connection: ConnectionID, purpose: Purpose, path: TreePath?, item: ItemID? = nil,
        actor: FileActor? = nil, mayRefuse: Bool = true, accommodatesSubitems: Bool = false
    ) {
        self.id = id
        self.connection = connection
        self.purpose = purpose
        self.path = path
        self.item = item
        self.actor = actor
        self.mayRefuse = mayRefuse
        self.accommodatesSubitems = accommodatesSubitems
    }
}
