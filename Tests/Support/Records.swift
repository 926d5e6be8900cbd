// The JSON that versionsctl prints (DESIGN 3.3), as far as tests look at it.

/// One version.
public struct VersionRecord: Decodable, Sendable {
    public let id: String
    public let item: String
    public let path: String
    public let name: String
    /// `current`, `history` or `conflict`.
    public let kind: String
    public let size: Int64
    public let modified: String
    public let saved: String
    public let device: String
    public let user: String?
    public let program: String?
    public let pid: Int32?
    public let parents: [String]
    public let hash: String?
    public let pinned: Bool
    public let sealed: Bool
    /// The path under the mount at which this version can be read.
    public let file: String
}

/// All versions of one document.
public struct HistoryRecord: Decodable, Sendable {
    public let path: String
    /// Newest first, the current one included.
    public let versions: [VersionRecord]

    /// The version that is in the file.
    public var current: VersionRecord? { versions.first { $0.kind == "current" } }
    /// The unresolved losers.
    public var conflicts: [VersionRecord] { versions.filter { $0.kind == "conflict" } }
}

/// One document with unresolved losers.
public struct ConflictRecord: Decodable, Sendable {
    public let path: String
    public let current: VersionRecord?
    public let base: VersionRecord?
    public let versions: [VersionRecord]

    private enum CodingKeys: String, CodingKey { case path, current, base, versions }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        path = try values.decode(String.self, forKey: .path)
        current = try values.decodeIfPresent(VersionRecord.self, forKey: .current)
        base = try values.decodeIfPresent(VersionRecord.self, forKey: .base)
        versions = try values.decode([VersionRecord].self, forKey: .versions)
    }
}

/// One entry of the deleted area.
public struct DeletedRecord: Decodable, Sendable {
    public let id: String
    public let path: String
    public let type: String
    public let size: Int64
    public let program: String?
    public let group: String
}

public struct ClaimListing: Decodable, Sendable {
    public let id: String
    public let paths: [String]
    public let kind: String
    public let options: [String]
    public let pid: Int32
    public let program: String
    public let since: String
    public let waiting: Bool
}
