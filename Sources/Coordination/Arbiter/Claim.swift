// A coordinated access, as a client or an open of a plain program asks for it; and who presents what.

import VersionModel

/// A claim: all of its accesses are granted together, or none.
public struct Claim: Hashable, Sendable, Identifiable {
    public var id: ClaimID
    /// Who holds it; nil for a plain program, which has none.
    public var connection: ConnectionID?
    public var accesses: [Access]
    /// Claims of one purpose never wait for one another.
    public var purpose: Purpose?
    /// The presenter that it is made for: it is asked nothing.
    public var presenter: PresenterID?
    /// Claims that their holder will not end before it has this one: nested ones.
    public var within: Set<ClaimID>
    /// The presenter in whose handler it is made: it answers nothing before it has this one.
    public var handling: PresenterID?
    /// The process; nil if nobody can tell.
    public var actor: FileActor?
    /// Whether it only has presenters asked, once for all claims of its purpose that follow, and excludes nobody.
    public var isPreparation: Bool
    /// How long it waits at most, in nanoseconds, before it goes on as if it had been granted: what a plain program
    /// opens. nil for a claim that is not granted before it may be.
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

/// Someone who shows or edits an item and wants to be asked and told.
public struct Presenter: Hashable, Sendable, Identifiable {
    public var id: PresenterID
    public var connection: ConnectionID
    /// What its own claims are made with; it is not asked about them.
    public var purpose: Purpose
    /// Where its item is; nil while it has none yet.
    public var path: TreePath?
    public var item: ItemID?
    public var actor: FileActor?
    /// Whether its refusal to save, or to let go of the item, counts: who may not write the item can only be asked.
    public var mayRefuse: Bool
    /// Whether a presenter of a plain directory wants to be asked before something in it is deleted.
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
