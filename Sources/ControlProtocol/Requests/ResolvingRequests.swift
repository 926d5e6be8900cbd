// Requests that settle conflicts, and one that makes one for trying.

import VersionModel

/// Resolves a document's losers.
public struct ResolveRequest: ControlRequest {
    public static let method = "resolve"
    public static let isLong = true
    public typealias Reply = Resolution
    public var target: Target
    public var keep: Choice
    /// The losers that the caller saw; a loser that is not among them stays a conflict. Nil: all there are.
    public var seen: [VersionID]?

    public init(_ target: Target, keep: Choice, seen: [VersionID]? = nil) {
        self.target = target
        self.keep = keep
        self.seen = seen
    }

    /// Which version is to be current.
    public enum Choice: Hashable, Sendable, Codable {
        /// The current one stays.
        case current
        /// This loser (an id or its first digits) becomes current, what was current becomes history.
        case version(String)
        /// The current one stays, each loser is put beside it as `NAME 2.EXT`.
        case all
        /// The one with the latest save.
        case newest
        /// The document as it is now holds what the losers had: they become its parents.
        case merged

        public init(from decoder: any Decoder) throws {
            self.init(word: try decoder.singleValueContainer().decode(String.self))
        }

        /// Reads a choice as JSON and command line have it.
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

/// Resolves every conflict at or below a path in favour of the newest version.
public struct ResolveAllRequest: ControlRequest {
    public static let method = "resolveAll"
    public static let isLong = true
    /// One for each document that was resolved.
    public typealias Reply = [Resolution]
    public var target: Target
    public init(_ target: Target) { self.target = target }
}

/// What became of one document's conflict.
public struct Resolution: Hashable, Sendable, Codable {
    /// The document.
    public var document: Path
    /// The version that is current now.
    public var current: VersionID
    /// The losers that were resolved.
    public var resolved: [VersionID]
    /// The files that `all` put beside the document.
    public var written: [Path]
    /// Losers that remain.
    public var remaining: Int

    public init(document: Path, current: VersionID, resolved: [VersionID], written: [Path] = [], remaining: Int = 0) {
        self.document = document
        self.current = current
        self.resolved = resolved
        self.written = written
        self.remaining = remaining
    }
}

/// Makes a conflict on a document, as two programs would, so that people and programs can try what they do then.
public struct SimulateConflictRequest: ControlRequest {
    public static let method = "simulateConflict"
    public typealias Reply = ConflictedDocument
    public var target: Target
    public init(_ target: Target) { self.target = target }
}
