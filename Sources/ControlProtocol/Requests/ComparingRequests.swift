// The comparison of a directory with an earlier state.

import VersionModel

/// Compares a directory with its state at a time, or before the last run of a program in it.
public struct CompareDirectoryRequest: ControlRequest {
    public static let method = "compareDirectory"
    public static let isLong = true
    public typealias Reply = DirectoryComparison
    public var target: Target
    public var at: Timestamp?
    /// A program's name, or the number of its process; instead of `at`.
    public var before: String?
    public init(_ target: Target, at: Timestamp?, before: String? = nil) {
        self.target = target
        self.at = at
        self.before = before
    }
}

/// A comparison of a directory's earlier and present state.
public struct DirectoryComparison: Hashable, Sendable, Codable {
    /// The moment of the earlier state.
    public var at: Timestamp
    /// The differences, by path.
    public var entries: [Entry]

    public init(at: Timestamp, entries: [Entry]) {
        self.at = at
        self.entries = entries
    }

    /// A changed name. For an added or removed directory the entries below it are left out.
    public struct Entry: Hashable, Sendable, Codable {
        public enum Change: String, Hashable, Sendable, Codable {
            /// It exists now, but did not then.
            case added
            /// It existed then, but does not now.
            case removed
            /// Its content was different.
            case modified
        }

        public var path: Path
        public var change: Change
        public var isDirectory: Bool
        /// The version of then; nil for an entry without versions. The stored content may be longer than `size`,
        /// because a program has appended to it since.
        public var then: VersionInfo?
        /// The version of now; nil for an entry without versions.
        public var now: VersionInfo?

        public init(path: Path, change: Change, isDirectory: Bool, then: VersionInfo? = nil, now: VersionInfo? = nil) {
            self.path = path
            self.change = change
            self.isDirectory = isDirectory
            self.then = then
            self.now = now
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: TextKey.self)
            path = try container.decodePath(forKey: "path")
            change = try container.decode(Change.self, forKey: "change")
            isDirectory = try container.decode(EntryType.self, forKey: "type") == .directory
            then = try container.decodeIfPresent(VersionInfo.self, forKey: "then")
            now = try container.decodeIfPresent(VersionInfo.self, forKey: "now")
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: TextKey.self)
            try container.encode(path: path, forKey: "path")
            try container.encode(change, forKey: "change")
            try container.encode(isDirectory ? EntryType.directory : .file, forKey: "type")
            try container.encodeIfPresent(then, forKey: "then")
            try container.encodeIfPresent(now, forKey: "now")
        }
    }
}
