// Comparing a directory with what it was.

import VersionModel

/// How a directory differs from what it was at a time, or before the last run of a program in it.
public struct CompareDirectoryRequest: ControlRequest {
    public static let method = "compareDirectory"
    public static let isLong = true
    public typealias Reply = DirectoryComparison
    public var target: Target
    public var at: Timestamp?
    /// A program's name, or the number of its process; in place of `at`.
    public var before: String?
    public init(_ target: Target, at: Timestamp?, before: String? = nil) {
        self.target = target
        self.at = at
        self.before = before
    }
}

/// A directory of then and of now.
public struct DirectoryComparison: Hashable, Sendable, Codable {
    /// The moment that it is compared with.
    public var at: Timestamp
    /// What differs, by path.
    public var entries: [Entry]

    public init(at: Timestamp, entries: [Entry]) {
        self.at = at
        self.entries = entries
    }

    /// A name that is not what it was. Of a directory that came or went the entries below it are left out.
    public struct Entry: Hashable, Sendable, Codable {
        public enum Change: String, Hashable, Sendable, Codable {
            /// It is there now and was not then.
            case added
            /// It was there then and is not now.
            case removed
            /// It had another content.
            case modified
        }

        public var path: Path
        public var change: Change
        public var isDirectory: Bool
        /// What it held then; nil for what has no versions. The content may go on behind `size`: appended since.
        public var then: VersionInfo?
        /// What it holds now; nil for what has no versions.
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
