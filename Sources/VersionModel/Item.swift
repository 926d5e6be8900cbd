// Items, deletions and changes: the records beside versions that the catalog keeps and the change feed reports.

/// The identity of a file or directory of the live tree: the `st_ino` that the mount shows. Never reused, equal for
/// all names of one file, stable across mounts; the root is ``root``.
public struct FileID: Hashable, Comparable, Sendable {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public static let root = FileID(1)
    public static func < (left: FileID, right: FileID) -> Bool { left.number < right.number }
}

/// A name in a directory.
public struct Place: Hashable, Sendable {
    public var directory: FileID
    public var name: FileName
    public init(directory: FileID, name: FileName) {
        self.directory = directory
        self.name = name
    }
}

/// A document that the catalog knows. Documents that were never touched have no record.
public struct Item: Hashable, Sendable, Identifiable {
    public var id: ItemID
    /// Its names, at least one while it lives; none once it is deleted.
    public var places: [Place]
    public var current: VersionID
    /// The live file as it was when `current` was recorded: differs from the file on disk if it was edited unseen.
    public var file: LiveFile

    /// What identifies the state of a live file without reading it.
    public struct LiveFile: Hashable, Sendable {
        public var id: FileID
        public var size: UInt64
        public var modified: Timestamp
        /// Its `st_ctim`, which no program can set; nil if that is not known.
        public var changed: Timestamp?
        public init(id: FileID, size: UInt64, modified: Timestamp, changed: Timestamp? = nil) {
            self.id = id
            self.size = size
            self.modified = modified
            self.changed = changed
        }
    }

    public init(id: ItemID, places: [Place], current: VersionID, file: LiveFile) {
        self.id = id
        self.places = places
        self.current = current
        self.file = file
    }
}

/// A directory that recorded things lie in or below; gives them their paths.
public struct Directory: Hashable, Sendable, Identifiable {
    public var id: FileID
    public var place: Place
    public init(id: FileID, place: Place) {
        self.id = id
        self.place = place
    }
}

/// What kind of thing was deleted.
public enum EntryType: String, Sendable, CaseIterable {
    case file, directory, symlink, fifo, socket, device
    /// One of several names of a file that stayed under another one.
    case link
}

/// One entry of the deleted area.
public struct Deletion: Hashable, Sendable, Identifiable {
    public var id: DeletionID
    /// The directory it was in, and its name there.
    public var place: Place
    /// The path it had, for finding and showing it after that directory is gone too.
    public var path: TreePath
    public var type: EntryType
    /// The thing itself, so that entries deleted from a deleted directory find their way back into it.
    public var file: FileID
    /// The document; nil for what has no versions.
    public var item: ItemID?
    public var size: UInt64
    public var deleted: Timestamp
    public var author: Author
    /// Deletions that belong together: the id of the first of them (DESIGN 3.2).
    public var group: DeletionID
    /// The parent directory's times before this deletion.
    public var parentAccessed: Timestamp
    public var parentModified: Timestamp
    public var attributes: Attributes

    public init(
        id: DeletionID, place: Place, path: TreePath, type: EntryType, file: FileID, item: ItemID?, size: UInt64,
        deleted: Timestamp, author: Author, group: DeletionID, parentAccessed: Timestamp, parentModified: Timestamp,
        attributes: Attributes
    ) {
        self.id = id
        self.place = place
        self.path = path
        self.type = type
        self.file = file
        self.item = item
        self.size = size
        self.deleted = deleted
        self.author = author
        self.group = group
        self.parentAccessed = parentAccessed
        self.parentModified = parentModified
        self.attributes = attributes
    }
}

/// What happened, as `versionsctl watch` and presenters hear of it (DESIGN 3.3).
public enum ChangeEvent: String, Sendable, CaseIterable {
    case created, saved, renamed, deleted, undeleted, conflict, resolved
    case versionLost = "version-lost"
    case attributes
}

/// One row of the change feed; its sequence number is given by the transaction that records it.
public struct Change: Hashable, Sendable {
    public var event: ChangeEvent
    public var path: TreePath
    /// For a rename, the path before it.
    public var from: TreePath?
    /// The directory that `path` names something in, wherever it is now: who may know of the change is asked there. nil
    /// where it is not known, as in rows of former releases.
    public var directory: FileID?
    /// The same of `from`.
    public var fromDirectory: FileID?
    public var item: ItemID?
    public var version: VersionID?
    public var time: Timestamp
    /// Who did it; nil for the container itself.
    public var author: Author?
    /// In whose coordinated access it was done (`Purpose.origin`); nil outside of any. Presenters do not hear of their
    /// own.
    public var origin: UInt64?
    /// What else those need to know who bring back a time that has passed.
    public var detail = Detail()

    /// What is in no message, and only with few changes.
    public struct Detail: Hashable, Sendable {
        /// With this save a document has its name back that had been away. (Of a new one, `created` tells.)
        public var isComingBack = false
        /// The two names of this rename have changed places; the `created` behind it tells the same once more.
        public var isExchange = false
        /// How long the version was that this save has amended, by appending to it; `.max` if it has changed otherwise.
        public var amended: UInt64?
        public init() {}
    }

    public init(
        event: ChangeEvent, path: TreePath, from: TreePath? = nil, item: ItemID? = nil, version: VersionID? = nil,
        time: Timestamp, author: Author? = nil, origin: UInt64? = nil, directory: FileID? = nil,
        fromDirectory: FileID? = nil
    ) {
        self.event = event
        self.path = path
        self.from = from
        self.item = item
        self.version = version
        self.time = time
        self.author = author
        self.origin = origin
        self.directory = directory
        self.fromDirectory = fromDirectory
    }
}
