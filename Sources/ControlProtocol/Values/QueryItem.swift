// An entry of the tree in the result of a query.

import FoundationEssentials
import QueryLanguage
import VersionModel

/// A file, directory or other entry of the tree. Entries that the caller may not read have only the directory's
/// information.
public struct QueryItem: Hashable, Sendable, Codable, Identifiable {
    /// The entry's identity. It is the same after renames and saves, and for all names of one file.
    public var id: String
    public var path: Path
    public var type: EntryType
    /// Length in bytes; 0 for other entries than files.
    public var size: UInt64
    /// The time of the last change of the content.
    public var modified: Timestamp
    /// `current`, `evicted`, `downloading` or `uploading`.
    public var state: String
    /// `documents` or `data`.
    public var scope: String
    /// Its attributes as a document; nil for entries without versions, and for files that the caller may not read.
    public var document: Document?
    /// The absolute path under the mount.
    public var file: Path

    /// A summary of a document's versions.
    public struct Document: Hashable, Sendable {
        public var item: ItemID
        /// The current one.
        public var version: VersionID
        public var saved: Timestamp
        public var device: String
        public var user: String
        public var program: String
        /// The number of versions, including the current one.
        public var versions: Int
        /// The number of other versions in the unresolved conflict.
        public var conflicts: Int

        public init(
            item: ItemID, version: VersionID, saved: Timestamp, device: String, user: String, program: String,
            versions: Int, conflicts: Int
        ) {
            self.item = item
            self.version = version
            self.saved = saved
            self.device = device
            self.user = user
            self.program = program
            self.versions = versions
            self.conflicts = conflicts
        }
    }

    public init(
        id: String, path: Path, type: EntryType, size: UInt64, modified: Timestamp, state: String = "current",
        scope: String = "documents", document: Document? = nil, file: Path
    ) {
        self.id = id
        self.path = path
        self.type = type
        self.size = size
        self.modified = modified
        self.state = state
        self.scope = scope
        self.document = document
        self.file = file
    }

    /// The entry's name.
    public var name: Path { path.lastComponent }

    /// The value of an attribute in queries; nil if the entry has none.
    public func value(of attribute: QueryAttribute) -> QueryValue? {
        switch attribute {
        case .name: .text(name.bytes)
        case .path: .text(path.bytes)
        case .extension: FileName(bytes: name.bytes)?.fileExtension.map { .text($0) }
        case .type: .text(type.rawValue)
        case .size: .number(Int64(clamping: size))
        case .modified: .moment(modified)
        case .state: .text(state)
        case .scope: .text(scope)
        case .saved: document.map { .moment($0.saved) }
        case .versions: document.map { .number(Int64($0.versions)) }
        case .conflicts: document.map { .number(Int64($0.conflicts)) }
        case .device: document.map { .text($0.device) }
        case .user: document.map { .text($0.user) }
        case .program: document.map { .text($0.program) }
        case .item: document.map { .text($0.item.hex) }
        case .version: document.map { .text($0.version.hex) }
        }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: TextKey.self)
        id = try container.decode(String.self, forKey: "id")
        path = try container.decodePath(forKey: "path")
        type = try container.decode(EntryType.self, forKey: "type")
        size = try container.decode(UInt64.self, forKey: "size")
        modified = try container.decode(Timestamp.self, forKey: "modified")
        state = try container.decode(String.self, forKey: "state")
        scope = try container.decode(String.self, forKey: "scope")
        file = try container.decodePath(forKey: "file")
        guard let item = try container.decodeIfPresent(ItemID.self, forKey: "item") else { return }
        document = Document(
            item: item, version: try container.decode(VersionID.self, forKey: "version"),
            saved: try container.decode(Timestamp.self, forKey: "saved"),
            device: try container.decode(String.self, forKey: "device"),
            user: try container.decode(String.self, forKey: "user"),
            program: try container.decode(String.self, forKey: "program"),
            versions: try container.decode(Int.self, forKey: "versions"),
            conflicts: try container.decode(Int.self, forKey: "conflicts"))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: TextKey.self)
        try container.encode(id, forKey: "id")
        try container.encode(path: path, forKey: "path")
        try container.encode(path: name, forKey: "name")
        try container.encode(type, forKey: "type")
        try container.encode(size, forKey: "size")
        try container.encode(modified, forKey: "modified")
        try container.encode(state, forKey: "state")
        try container.encode(scope, forKey: "scope")
        try container.encode(path: file, forKey: "file")
        guard let document else { return }
        try container.encode(document.item, forKey: "item")
        try container.encode(document.version, forKey: "version")
        try container.encode(document.saved, forKey: "saved")
        try container.encode(document.device, forKey: "device")
        try container.encode(document.user, forKey: "user")
        try container.encode(document.program, forKey: "program")
        try container.encode(document.versions, forKey: "versions")
        try container.encode(document.conflicts, forKey: "conflicts")
    }
}
