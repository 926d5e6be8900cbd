// One coordinated read or write of one item, with its options, and what it excludes.

import VersionModel

/// How an item is read.
public struct ReadingOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Presenters are not asked to save first.
    public static let withoutChanges = ReadingOptions(rawValue: 1)
    /// The claim is on what a symbolic link leads to. Whoever makes the claim has followed it.
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    /// Nothing is fetched for it; it excludes and asks as any read does.
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
    /// The claim ends as soon as a snapshot of the item exists.
    public static let forUploading = ReadingOptions(rawValue: 8)
}

/// How an item is written: one of these, never two.
public enum WritingOption: String, Hashable, Sendable, CaseIterable {
    /// Its content is changed.
    case updating
    /// It is removed, with all that is in it.
    case forDeleting
    /// It gets another name or place.
    case forMoving
    /// Its presenters save first, so that what they have can be merged.
    case forMerging
    /// Whatever has the name is replaced, or something new gets it.
    case forReplacing
    /// Nothing of its content: tags, attributes, versions.
    case contentIndependentMetadataOnly
}

/// A read or a write.
public enum AccessKind: Hashable, Sendable {
    case reading(ReadingOptions)
    case writing(WritingOption)

    /// What it excludes.
    public var strength: ClaimStrength {
        switch self {
        case .reading: .reads
        case .writing(.updating), .writing(.forMerging), .writing(.contentIndependentMetadataOnly): .writes
        // Of a plain file it has nothing to take along, so that callers need not look what they move.
        case .writing(.forMoving), .writing(.forDeleting), .writing(.forReplacing): .takesTree
        }
    }

    /// Whether the claim is on the name, whatever item gets it; others follow their item to another name.
    public var isOfName: Bool { self == .writing(.forReplacing) }
}

/// What a claim excludes.
public enum ClaimStrength: Hashable, Sendable, CaseIterable {
    /// Writers of the item.
    case reads
    /// Readers and writers of the item.
    case writes
    /// The same, and everyone at anything in it: a directory goes away with all that is in it.
    case takesTree
}

/// A read or write of one item.
public struct Access: Hashable, Sendable {
    /// Where the item is now, or where it will be.
    public var path: TreePath
    /// Which item it is, where that is known: two names of one file are one item.
    public var item: ItemID?
    public var kind: AccessKind
    /// Nothing has the name when the access is asked for: nothing there can be replaced or deleted.
    public var isOfFreeName: Bool

    public init(path: TreePath, item: ItemID? = nil, kind: AccessKind, isOfFreeName: Bool = false) {
        self.path = path
        self.item = item
        self.kind = kind
        self.isOfFreeName = isOfFreeName
    }
}
