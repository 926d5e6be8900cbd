// Which changes concern a presenter, and where its item is by then: it goes along the change feed with the presenter.

import VersionModel

/// What a change is to a presenter.
public enum PresentedRelation: String, Hashable, Sendable, CaseIterable {
    /// It is about the presented item, or takes that along.
    case item
    /// It is about something in the package that is presented.
    case inPackage
    /// It is about something in the directory that is presented, at whatever depth.
    case inDirectory
}

/// A presenter's place in the change feed. A pure machine: changes go in, in their order, and of each comes out what it
/// is to the presenter. Where the item is counts as of each change, not as of now.
public struct PresentedItem: Hashable, Sendable {
    /// Where the item is; nil while it is nowhere.
    public private(set) var path: TreePath?
    /// The document, where the item is one that is known.
    public private(set) var item: ItemID?
    /// Changes of this origin are the presenter's own.
    public let origin: UInt64
    /// Where the item was before it was moved away: it may come back, as after a backup by rename.
    private var left: TreePath?

    public init(path: TreePath?, item: ItemID?, origin: UInt64) {
        self.path = path
        self.item = item
        self.origin = origin
    }

    /// The presenter says where its item is.
    public mutating func place(at path: TreePath?, _ item: ItemID?) {
        self.path = path
        self.item = item
        left = nil
    }

    /// What the next change is to the presenter; nil if it need not hear of it. Its own changes move it as well.
    public mutating func hears(_ change: Change, _ packages: Packages) -> PresentedRelation? {
        guard let relation = follow(change, packages) else { return nil }
        // Versions are told of whoever made them: who shows conflicts hears from one place alone (Apple's rule).
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
            // One change tells of both: what had the new name has the old one now. The other tells those around of it.
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
        // The other side of a save by rename, which is told as such: the presented item is what it was.
        if change.event == .renamed, change.version != nil, change.path == place { return nil }
        if change.path == place || item != nil && change.item == item {
            // What has the name now is what is presented: whoever replaces a file means the document.
            if change.path == place, let item = change.item { self.item = item }
            return .item
        }
        switch change.event {
        case .deleted, .undeleted, .renamed:
            // With the directory goes, or comes, what is in it; a rename over a directory ends here, too.
            if place.isWithin(change.path) { return .item }
        default: break
        }
        guard change.path.isWithin(place) || change.from?.isWithin(place) ?? false else { return nil }
        guard let name = place.name, packages.isPackage(name) else { return .inDirectory }
        return .inPackage
    }
}
