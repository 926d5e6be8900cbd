// What the catalog has of a fact beside what the rules read.

import Lineage
import VersionModel

/// What users see of a version, beside its ``VersionRow``.
public struct VersionDetail: Hashable, Sendable {
    /// The whole SHA-256, whose first 128 bits are the row's fingerprint; nil until it is known.
    public var hash: [UInt8]?
    public var attributes: Attributes?
    /// The ctime of the live file when this became its content; nil if that is not known.
    public var changed: Timestamp?
    public var marks: VersionMarks
    /// An identity that does not derive from the number.
    public var alias: VersionID?

    public init(
        hash: [UInt8]? = nil, attributes: Attributes? = nil, changed: Timestamp? = nil, marks: VersionMarks = [],
        alias: VersionID? = nil
    ) {
        (self.hash, self.attributes, self.changed) = (hash, attributes, changed)
        (self.marks, self.alias) = (marks, alias)
    }
}

/// Marks of a version, which come and go.
public struct VersionMarks: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Never thinned.
    public static let pinned = VersionMarks(rawValue: 1)
    /// The content could not be kept, or was lost outside the mount.
    public static let lost = VersionMarks(rawValue: 2)
    /// A save that a crash interrupted.
    public static let unfinished = VersionMarks(rawValue: 4)
    static let all: VersionMarks = [.pinned, .lost, .unfinished]
}

/// What the catalog has of a name, beside its ``NameRow``.
public struct NameDetail: Hashable, Sendable {
    /// What the place has. Of a removal, what it had.
    public var type: EntryType
    /// Whether `deleted/` has an entry for this removal. A directory that was removed below the mount has none there.
    public var isEntry: Bool
    /// An identity of the row's document that does not derive from the number; on its first row.
    public var document: ItemID?
    /// An identity of a removal that does not derive from the number.
    public var deletion: DeletionID?

    public init(
        type: EntryType = .file, isEntry: Bool = false, document: ItemID? = nil, deletion: DeletionID? = nil
    ) {
        (self.type, self.isEntry, self.document, self.deletion) = (type, isEntry, document, deletion)
    }
}

/// The details of the facts of one transaction.
struct FactDetails: Hashable, Sendable {
    var names: [RowNumber: NameDetail] = [:]
    var versions: [VersionNumber: VersionDetail] = [:]
}
