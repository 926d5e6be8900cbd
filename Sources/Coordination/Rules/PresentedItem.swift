// The changes that concern a presenter, and the place of its item, which follows the change feed.

import VersionModel

/// The relation of a change to a presenter.
public enum PresentedRelation: String, Hashable, Sendable, CaseIterable {
    /// The presented item has changed, or has moved with a directory above it.
    case item
    /// An item in the presented package has changed.
    case inPackage
    /// An item in the presented directory has changed, at any depth.
    case inDirectory
}

/// A presenter's item along the change feed. A pure state machine: changes go in, in order, and their relation to the
/// presenter comes out. The item's place is the one at the time of each change, not the present one.
public struct PresentedItem: Hashable, Sendable {
    /// The item's place; nil while it has none.
    public private(set) var path: TreePath?
    /// The document, if the item is a known one.
    public private(set) var item: ItemID?
    /// The origin of the presenter's own changes.
    public let origin: UInt64
    /// The item's place before a move: it may come back, as after a backup by rename.
    private var left: TreePath?

    public init(path: TreePath?, item: ItemID?, origin: UInt64) {
        self.path = path
        self.item = item
        self.origin = origin
    }

    /// Sets the item's place.
    public mutating func place(at path: TreePath?, _ item: ItemID?) {
        self.path = path
        self.item = item
        left = nil
    }

    /// The relation of the next change to the presenter; nil if it does not concern the presenter. The presenter's own
    /// changes move its item as well.
    public mutating func hears(_ change: Change, _ packages: Packages) -> PresentedRelation? {
        guard let relation = follow(change, packages) else { return nil }
        // Changes of versions are reported even if they are the presenter's own: a presenter that shows conflicts then
        // has a single source (Apple's rule).
        switch change.event {
        case .conflict, .resolved, .versionLost: return relation
        case .created, .saved, .renamed, .deleted, .undeleted, .attributes:
            return change.origin == origin ? nil : relation
        }
    }

    private mutating func follow(_ change: Change, _ packages: Packages) -> PresentedRelation? {
        guard let place = path else { return nil }
        if change.event == .renamed, let from = change.from, let moved = place.moved(from, to: change.path) {
            path = moved
            if from == place {
                left = from
                if let item = change.item { self.item = item }
            } else {
                left = nil
            }
            return .item
        }
        if change.detail.isExchange {
            // One change reports both moves: the item of the new name has the old one now. The other change is for
            // presenters around it.
            if change.event == .created, place == change.path || place.isWithin(change.path) { return nil }
            if change.event == .renamed, let from = change.from, let moved = place.moved(change.path, to: from) {
                (path, left) = (moved, nil)
                return .item
            }
        }
        if let item, change.item == item, change.path == left, change.event == .created || change.event == .saved {
            path = change.path
            left = nil
            return .item
        }
        // The other side of a save by rename, which is reported as a save: the presented item is the same.
        if change.event == .renamed, change.version != nil, change.path == place { return nil }
        if change.path == place || item != nil && change.item == item {
            // The item of this name is the presented one: a program that replaces a file means the document.
            if change.path == place, let item = change.item { self.item = item }
            return .item
        }
        switch change.event {
        case .deleted, .undeleted, .renamed:
            // A directory takes its contents along; a rename over a directory ends here, too.
            if place.isWithin(change.path) { return .item }
        default: break
        }
        guard change.path.isWithin(place) || change.from?.isWithin(place) ?? false else { return nil }
        guard let name = place.name, packages.isPackage(name) else { return .inDirectory }
        return .inPackage
    }
}
