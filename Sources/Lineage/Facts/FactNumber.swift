// The numbers of facts: name rows and versions share one sequence, in which they are recorded.

/// Where a fact stands in the order of all facts. Later facts have larger numbers; a number is never given twice, also
/// not after the end of the log was lost in a crash.
///
/// `Subject` is what the number is of, so that a row's number cannot be passed for a version's.
@frozen
public struct FactNumber<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64

    @inlinable
    public init(_ number: UInt64) { self.number = number }

    public var description: String { "#\(number)" }

    @inlinable
    public static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    @inlinable
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The number of a name row.
public typealias RowNumber = FactNumber<NameRow>
/// The number of a version.
public typealias VersionNumber = FactNumber<VersionRow>
/// A document. Its number is that of the first row which showed it: rules need no identities from elsewhere.
public typealias DocumentNumber = FactNumber<Document>

/// The subject of ``DocumentNumber``: a document is what its rows and versions say, and has no record of its own.
public enum Document {}
