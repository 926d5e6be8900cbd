// Requests that bring back: versions, directories as of a time, deleted things.

import VersionModel

/// Makes a version current again, or puts it elsewhere.
public struct RestoreRequest: ControlRequest {
    public static let method = "restore"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    /// nil: the version before the current one; of a deleted document the one that it had last.
    public var version: VersionName?
    /// Where to put it instead, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, version: VersionName?, to: Path?) {
        self.target = target
        self.version = version
        self.to = to
    }
}

/// Brings a directory back as it was at a time, or before the last run of a program in it: in place (newer names go to
/// the deleted area), or as a copy.
public struct RestoreDirectoryRequest: ControlRequest {
    public static let method = "restoreDirectory"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    public var at: Timestamp?
    /// A program's name, or the number of its process; in place of `at`.
    public var before: String?
    /// Where to put the copy, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, at: Timestamp?, before: String? = nil, to: Path?) {
        self.target = target
        self.at = at
        self.before = before
        self.to = to
    }
}

/// Brings back what was deleted: a path's last deletion (for a directory with its group), or an entry by its id.
public struct UndeleteRequest: ControlRequest {
    public static let method = "undelete"
    public static let isLong = true
    public typealias Reply = Restored
    public var target: Target
    /// Where to put it instead of where it was, relative to the container's root; must not exist.
    public var to: Path?
    public init(_ target: Target, to: Path?) {
        self.target = target
        self.to = to
    }
}

/// What was brought back.
public struct Restored: Hashable, Sendable, Codable {
    /// Where it is now, relative to the container's root.
    public var document: Path
    /// How many documents, directories and other entries were written or moved.
    public var entries: Int
    /// Newer names that went to the deleted area.
    public var displaced: Int
    /// Of one document the version that it has the content of; nil for a directory and for what was deleted.
    public var version: VersionInfo?
    /// Entries of an undeletion that are still deleted.
    public var remaining: Int
    /// Why, for the first hundred of them.
    public var problems: [Problem]

    /// One entry that did not come back.
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
        document: Path, entries: Int, displaced: Int = 0, remaining: Int = 0, problems: [Problem] = [],
        version: VersionInfo? = nil
    ) {
        self.document = document
        self.entries = entries
        self.displaced = displaced
        self.remaining = remaining
        self.problems = problems
        self.version = version
    }
}
