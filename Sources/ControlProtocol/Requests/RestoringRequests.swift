// Requests that restore: versions, directories as of a time, deleted items.

import VersionModel

/// Makes a version current again, or writes it to another path.
public struct RestoreRequest: ControlRequest {
    public static let method = "restore"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    /// nil: the version before the current one; for a deleted document its last version.
    public var version: VersionName?
    /// Another path for it, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, version: VersionName?, to: Path?) {
        self.target = target
        self.version = version
        self.to = to
    }
}

/// Restores a directory to its state at a time, or before the last run of a program in it: in place (newer names go to
/// the deleted area), or as a copy.
public struct RestoreDirectoryRequest: ControlRequest {
    public static let method = "restoreDirectory"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    public var at: Timestamp?
    /// A program's name, or the number of its process; instead of `at`.
    public var before: String?
    /// The path of the copy, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, at: Timestamp?, before: String? = nil, to: Path?) {
        self.target = target
        self.at = at
        self.before = before
        self.to = to
    }
}

/// Restores a deleted item: a path's last deletion (for a directory with its group), or an entry by its id.
public struct UndeleteRequest: ControlRequest {
    public static let method = "undelete"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    /// Another path for it instead of the former one, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, to: Path?) {
        self.target = target
        self.to = to
    }
}

/// The result of a restoration.
public struct Restored: Hashable, Sendable, Codable {
    /// The present path, relative to the container's root.
    public var document: Path
    /// The number of documents, directories and other entries that were written or moved.
    public var entries: Int
    /// How many of them are directories; nil where that was not counted.
    public var directories: Int?
    /// The number of newer names that went to the deleted area.
    public var displaced: Int
    /// For one document, the restored version; nil for a directory and for a deleted item.
    public var version: VersionInfo?
    /// The number of entries of an undeletion that are still deleted.
    public var remaining: Int
    /// The reasons for the first hundred of them.
    public var problems: [Problem]

    /// One entry that was not restored.
    public struct Problem: Hashable, Sendable, Codable {
        public var path: Path
        public var problem: String
        public init(path: Path, problem: String) {
            self.path = path
            self.problem = problem
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: TextKey.self)
            path = try container.decodePath(forKey: "path")
            problem = try container.decode(String.self, forKey: "problem")
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(path: path, forKey: "path")
            try container.encode(problem, forKey: "problem")
        }
    }

    public init(
        document: Path, entries: Int, directories: Int? = nil, displaced: Int = 0, remaining: Int = 0,
        problems: [Problem] = [], version: VersionInfo? = nil
    ) {
        self.document = document
        self.entries = entries
        self.directories = directories
        self.displaced = displaced
        self.remaining = remaining
        self.problems = problems
        self.version = version
    }
}
