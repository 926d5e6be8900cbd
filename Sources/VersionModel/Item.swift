// Items, deletions and changes: the catalog's records beside versions, and the content of the change feed.

/// The identity of a file or directory of the live tree: the mount shows it as `st_ino`. Never reused, the same for all
/// names of one file, stable across mounts; the root is ``root``.
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

/// A document in the catalog. An unchanged document has no record.
public struct Item: Hashable, Sendable, Identifiable {
    public var id: ItemID
    /// Its names: at least one for a live item, none for a deleted one.
    public var places: [Place]
    public var current: VersionID
    /// The live file at the time of the record of `current`. It differs from the file on disk after an edit outside the
    /// mount.
    public var file: LiveFile

    /// The state of a live file, known without a read of its content.
    public struct LiveFile: Hashable, Sendable {
        public var id: FileID
        public var size: UInt64
        public var modified: Timestamp
        /// Its `st_ctim`, which no program can set; nil if it is unknown.
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

/// A directory with recorded items in or below it; it gives them their paths.
public struct Directory: Hashable, Sendable, Identifiable {
    public var id: FileID
    public var place: Place
    public init(id: FileID, place: Place) {
        self.id = id
        self.place = place
    }
}

/// The type of a deleted item.
public enum EntryType: String, Sendable, CaseIterable {
    case file, directory, symlink, fifo, socket, device
    /// One of several names of a file that still has another one.
    case link
}

/// One entry of the deleted area.
public struct Deletion: Hashable, Sendable, Identifiable {
    public var id: DeletionID
    /// Its former directory, and its name there.
    public var place: Place
    /// Its former path, for search and display after that directory is gone too.
    public var path: TreePath
    public var type: EntryType
    /// The identity of the file itself, so that entries deleted from a deleted directory can return to it.
    public var file: FileID
    /// The document; nil for an entry without versions.
    public var item: ItemID?
    public var size: UInt64
    public var deleted: Timestamp
    public var author: Author
    /// Deletions that belong together: the id of the first one (DESIGN 3.2).
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

/// The kind of a change, for `versionsctl watch` and presenters (DESIGN 3.3).
public enum ChangeEvent: String, Sendable, CaseIterable {
    case created, saved, renamed, deleted, undeleted, conflict, resolved
    case versionLost = "version-lost"
    case attributes
}

/// One row of the change feed; the transaction that records it gives it its sequence number.
public struct Change: Hashable, Sendable {
    public var event: ChangeEvent
    public var path: TreePath
    /// For a rename, the former path.
    public var from: TreePath?
    /// The directory of the name in `path`, at any present place. Its rights decide who may know the change. nil if it
    /// is unknown, as in rows of former releases.
    public var directory: FileID?
    /// The same for `from`.
    public var fromDirectory: FileID?
    public var item: ItemID?
    public var version: VersionID?
    public var time: Timestamp
    /// The author; nil for the container itself.
    public var author: Author?
    /// The origin of the coordinated access (`Purpose.origin`); nil outside of one. Presenters do not hear of their own
    /// changes.
    public var origin: UInt64?
    /// Further facts for the restoration of an earlier time.
    public var detail = Detail()

    /// Facts that no message contains, and that few changes have.
    public struct Detail: Hashable, Sendable {
        /// Whether this save gives a missing document its name back. (For a new document, `created` reports it.)
        public var isComingBack = false
        /// Whether the two names of this rename have changed places; the `created` after it reports the same exchange.
        public var isExchange = false
        /// The former length of the version that this save has amended by an append; `.max` after another kind of
        /// change.
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
