// The settings of a container (DESIGN 3.5) as the code uses them; their defaults are the design's.

import VersionModel

/// What `config.toml` says.
public struct Settings: Sendable {
    /// What a save from stale content does (DESIGN 6.3).
    public enum StaleWrites: String, Sendable, CaseIterable { case keep, merge, refuse }

    public var staleWrites = StaleWrites.keep
    /// How long an open that replaces waits for others that do, in nanoseconds.
    public var replaceWaitNanoseconds: Int64 = 2_000_000_000
    /// Bytes; contents beyond it are not copied where the file system cannot share blocks.
    public var maxFile: UInt64 = 1 << 30
    /// How much history may take.
    public var historyShare = Share.percent(10)
    public var deletedShare = Share.percent(10)
    /// How long deleted entries are kept, in nanoseconds.
    public var keepDeletedNanoseconds: Int64 = 30 * 86_400_000_000_000
    /// gitignore patterns of what gets no versions.
    public var ignorePatterns: [String] = []
    /// Further patterns of what never conflicts; nil for the defaults.
    public var quietPatterns: [String]?
    /// Programs that end a lineage; nil for the defaults.
    public var actorBoundaries: [String]?

    /// A bound for what may be purged.
    public enum Share: Hashable, Sendable {
        /// Of the file system.
        case percent(Double)
        case bytes(UInt64)
    }

    /// What an open for reading does; `wait` takes effect with presenters.
    public enum PlainReads: String, Sendable, CaseIterable { case observe, wait }

    public var plainReads = PlainReads.observe
    /// Directories of document scope, by their paths from the root; takes effect between devices.
    public var documentScopes = ["/"]
    /// Endings of directories that are packages, in lower case and without a dot.
    public var packageExtensions: [String] = []

    public init() {}
}
