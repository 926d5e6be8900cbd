/// The versions that a version supersedes: none, one, or two where its author had settled a conflict.
public struct Parents: Hashable, Sendable {
    public private(set) var first: VersionNumber?
    public private(set) var second: VersionNumber?

    public init(_ first: VersionNumber? = nil, _ second: VersionNumber? = nil) {
        self.first = first ?? second
        self.second = first == nil || second == first ? nil : second
    }

    public func contains(_ version: VersionNumber) -> Bool { first == version || second == version }

    /// Adds one more. There are never more than two: a save supersedes one version and settles one.
    public mutating func add(_ version: VersionNumber) {
        self = first == nil ? Parents(version) : Parents(first, version)
    }

    /// Without those that do not fit.
    public func filter(_ fits: (VersionNumber) -> Bool) -> Parents {
        Parents(first.flatMap { fits($0) ? $0 : nil }, second.flatMap { fits($0) ? $0 : nil })
    }
}
