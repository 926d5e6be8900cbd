// What the arbiter knows claims, presenters, connections, questions and purposes by.

/// What a claim is known by: given by whoever makes it, for instance the number of the open file.
public struct ClaimID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public var description: String { "\(number)" }
    public static func < (left: ClaimID, right: ClaimID) -> Bool { left.number < right.number }
}

/// What a presenter is known by.
public struct PresenterID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public var description: String { "\(number)" }
    public static func < (left: PresenterID, right: PresenterID) -> Bool { left.number < right.number }
}

/// A client's connection: its claims and presenters end with it.
public struct ConnectionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public var description: String { "\(number)" }
    public static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.number < right.number }
}

/// A question to a presenter, which it answers once.
public struct QuestionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public var description: String { "\(number)" }
    public static func < (left: QuestionID, right: QuestionID) -> Bool { left.number < right.number }
}

/// What claims that belong together have in common: they never wait for one another, in whatever process they are made.
/// A secret of 128 random bits, so that nobody passes others' claims by guessing.
public struct Purpose: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
