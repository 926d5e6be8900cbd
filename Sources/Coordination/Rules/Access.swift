// One coordinated read or write of one item, with its options, and the accesses that it excludes.

import VersionModel

/// The options for reading an item.
public struct ReadingOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Presenters do not save first.
    public static let withoutChanges = ReadingOptions(rawValue: 1)
    /// The claim is on the target of a symbolic link. The caller has resolved the link.
    public static let resolvesSymbolicLink = ReadingOptions(rawValue: 2)
    /// No content is fetched for it; otherwise it is like any read.
    public static let immediatelyAvailableMetadataOnly = ReadingOptions(rawValue: 4)
    /// The claim ends as soon as a snapshot of the item exists.
    public static let forUploading = ReadingOptions(rawValue: 8)
}

/// The option for writing an item: exactly one.
public enum WritingOption: String, Hashable, Sendable, CaseIterable {
    /// The writer changes the content.
    case updating
    /// The writer removes the item with all its contents.
    case forDeleting
    /// The writer moves or renames the item.
    case forMoving
    /// Presenters save first, so that the writer can merge their changes.
    case forMerging
    /// The writer replaces the item of this name, or creates one.
    case forReplacing
    /// The writer changes tags, attributes or versions, but not the content.
    case contentIndependentMetadataOnly
}

/// A read or a write.
public enum AccessKind: Hashable, Sendable {
    case reading(ReadingOptions)
    case writing(WritingOption)

    /// The strength of the access.
    public var strength: ClaimStrength {
        switch self {
        case .reading: .reads
        case .writing(.updating), .writing(.forMerging), .writing(.contentIndependentMetadataOnly): .writes
        // A plain file has no contents below it, so that callers need not check the type of the moved item.
        case .writing(.forMoving), .writing(.forDeleting), .writing(.forReplacing): .takesTree
        }
    }

    /// Whether the claim is on the name, whatever item has it; other claims follow their item to another name.
    public var isOfName: Bool { self == .writing(.forReplacing) }
}

/// The accesses that a claim excludes.
public enum ClaimStrength: Hashable, Sendable, CaseIterable {
    /// Writers of the item.
    case reads
    /// Readers and writers of the item.
    case writes
    /// The same, and accesses to items inside it: a directory goes with its contents.
    case takesTree
}

/// A read or write of one item.
public struct Access: Hashable, Sendable {
    /// The item's present or future place.
    public var path: TreePath
    /// The item, if it is known: two names of one file are one item.
    public var item: ItemID?
    public var kind: AccessKind
    /// Whether the name was free at the time of the request, so that no item there can be replaced or deleted.
    public var isOfFreeName: Bool

    public init(path: TreePath, item: ItemID? = nil, kind: AccessKind, isOfFreeName: Bool = false) {
        self.path = path
        self.item = item
        self.kind = kind
        self.isOfFreeName = isOfFreeName
    }
}
