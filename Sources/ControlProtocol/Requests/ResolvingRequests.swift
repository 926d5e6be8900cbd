// Requests that resolve conflicts, and one that makes a conflict for tests.

import VersionModel

/// Resolves a document's losers.
public struct ResolveRequest: ControlRequest {
    public static let method = "resolve"
    public static let isLong = true
    public typealias Reply = Resolution
    public var target: Target
    public var keep: Choice
    /// The losers that the caller has seen; other losers stay in conflict. Nil: all losers.
    public var seen: [VersionID]?

    public init(_ target: Target, keep: Choice, seen: [VersionID]? = nil) {
        self.target = target
        self.keep = keep
        self.seen = seen
    }

    /// The version that becomes current.
    public enum Choice: Hashable, Sendable, Codable {
        /// The current version stays.
        case current
        /// This loser (an id or its first digits) becomes current, and the current version becomes history.
        case version(String)
        /// The current version stays, and each loser is saved beside it as `NAME 2.EXT`.
        case all
        /// The version with the latest save.
        case newest
        /// The document already contains the losers' changes: they become its parents.
        case merged

        public init(from decoder: any Decoder) throws {
            self.init(word: try decoder.singleValueContainer().decode(String.self))
        }

        /// Reads a choice in the form of JSON and the command line.
        public init(word: String) {
            self =
                switch word {
                case "current": .current
                case "all": .all
                case "newest": .newest
                case "merged": .merged
                default: .version(word)
                }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .current: try container.encode("current")
            case .all: try container.encode("all")
            case .newest: try container.encode("newest")
            case .merged: try container.encode("merged")
            case .version(let id): try container.encode(id)
            }
        }
    }
}

/// Resolves every conflict at or below a path. The newest version becomes current.
public struct ResolveAllRequest: ControlRequest {
    public static let method = "resolveAll"
    public static let isLong = true
    /// One for each resolved document.
    public typealias Reply = [Resolution]
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// The result for one document's conflict.
public struct Resolution: Hashable, Sendable, Codable {
    /// The document.
    public var document: Path
    /// The version that is current now.
    public var current: VersionID
    /// The losers that were resolved.
    public var resolved: [VersionID]
    /// The files that `all` has saved beside the document.
    public var written: [Path]
    /// The number of losers that remain.
    public var remaining: Int

    public init(document: Path, current: VersionID, resolved: [VersionID], written: [Path] = [], remaining: Int = 0) {
        self.document = document
        self.current = current
        self.resolved = resolved
        self.written = written
        self.remaining = remaining
    }
}

/// Makes a conflict on a document as two programs would, so that users and programs can test their reaction.
public struct SimulateConflictRequest: ControlRequest {
    public static let method = "simulateConflict"
    public typealias Reply = ConflictedDocument
    public var target: Target
    public init(_ target: Target) { self.target = target }
}
