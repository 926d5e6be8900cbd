// What the arbiter knows claims, presenters, connections, questions and purposes by.

import VersionModel

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

    /// A new one, from the system's source of secrets.
    public static func random() -> Purpose {
        var generator = SystemRandomNumberGenerator()
        return Purpose(high: generator.next(), low: generator.next())
    }

    /// Reads 32 hex digits; nil for anything else.
    public init?(hex: String) {
        guard let identifier = Identifier<Purpose>(hex: hex) else { return nil }
        self.init(high: identifier.high, low: identifier.low)
    }

    /// What stands for it in the change feed: it names the purpose among changes, and does not give the secret away.
    public var origin: UInt64 {
        // 64 bits of 128: who knows them still has 2^64 secrets to try. Never 0, which would look like none.
        max(1, BitMixing.mix(BitMixing.mix(high) ^ low))
    }

    /// The digits that stand for it in messages.
    public var hex: String { Identifier<Purpose>(high: high, low: low).hex }
}
