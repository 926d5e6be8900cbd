// A version: one saved state of an item, with its author and its parents.

/// The role of a version for its item (DESIGN 2).
public enum VersionKind: String, Sendable, CaseIterable {
    /// The version in the file.
    case current
    /// Superseded.
    case history
    /// An unresolved loser.
    case conflict
}

/// The owner and permissions of a content while it was the file's.
public struct Attributes: Hashable, Sendable {
    /// Permission bits with set-id and sticky bits: `st_mode & 07777`.
    public var mode: UInt32
    public var owner: UInt32
    public var group: UInt32
    /// The value of `system.posix_acl_access`; nil if the file has none.
    public var accessList: [UInt8]?

    public init(mode: UInt32, owner: UInt32, group: UInt32, accessList: [UInt8]? = nil) {
        self.mode = mode
        self.owner = owner
        self.group = group
        self.accessList = accessList
    }
}

/// The author of a save: a process, as far as the system knew it.
public struct Author: Hashable, Sendable {
    /// The numeric user.
    public var userID: UInt32
    /// The user's name, or the number as text.
    public var user: String
    /// The program's name (the last component of its executable); empty if unknown.
    public var program: String
    /// The process; 0 if unknown.
    public var process: Int32

    public init(userID: UInt32, user: String, program: String, process: Int32) {
        self.userID = userID
        self.user = user
        self.program = program
        self.process = process
    }
}

/// One saved state of an item.
public struct Version: Hashable, Sendable, Identifiable {
    public var id: VersionID
    public var item: ItemID
    public var kind: VersionKind
    /// The stored content; several versions may share one. The current version's content is the live file until a save
    /// displaces it.
    public var content: ContentID
    /// Length in bytes.
    public var size: UInt64
    /// The file's `st_mtim` at the save.
    public var modified: Timestamp
    /// The time at which the daemon noticed the save.
    public var saved: Timestamp
    /// The same moment for ordering (DESIGN 6.2).
    public var time: HybridTime
    public var device: DeviceID
    public var author: Author
    /// The versions that it supersedes: none for an item's first version, one for an ordinary save, more for a merge.
    public var parents: [VersionID]
    /// The version that the save started from, if it is known; for a conflict, the version that its rival's save
    /// started from. ``MergeBase`` finds the common ancestor of the two.
    public var base: VersionID?
    /// SHA-256 of the content; nil until it is known.
    public var hash: [UInt8]?
    public var attributes: Attributes
    public var flags: Flags

    /// Further properties of a version.
    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Never thinned.
        public static let pinned = Flags(rawValue: 1)
        /// Complete: a later write makes a new version.
        public static let sealed = Flags(rawValue: 2)
        /// A save that a crash interrupted (DESIGN 9).
        public static let unfinished = Flags(rawValue: 4)
        /// The content could not be kept, or was lost outside the mount.
        public static let contentLost = Flags(rawValue: 8)
        /// Saved to a file that had lost its name, or added from elsewhere: it never was the content of the name, even
        /// if it is the latest save.
        public static let beside = Flags(rawValue: 16)
    }

    public init(
        id: VersionID, item: ItemID, kind: VersionKind, content: ContentID, size: UInt64, modified: Timestamp,
        saved: Timestamp, time: HybridTime, device: DeviceID, author: Author, parents: [VersionID] = [],
        base: VersionID? = nil, hash: [UInt8]? = nil, attributes: Attributes, flags: Flags = []
    ) {
        self.id = id
        self.item = item
        self.kind = kind
        self.content = content
        self.size = size
        self.modified = modified
        self.saved = saved
        self.time = time
        self.device = device
        self.author = author
        self.parents = parents
        self.base = base
        self.hash = hash
        self.attributes = attributes
        self.flags = flags
    }
}
