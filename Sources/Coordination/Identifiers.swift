// The identifiers of claims, presenters, connections, questions and purposes.

import VersionModel

/// The number of a claim, chosen by its maker: for instance the number of the open file.
public struct ClaimID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt64
    public init(_ number: UInt64) { self.number = number }
    public var description: String { "\(number)" }
    public static func < (left: ClaimID, right: ClaimID) -> Bool { left.number < right.number }
}

/// The number of a presenter.
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

/// The common property of claims that belong together: they never wait for one another, in any process. A secret of 128
/// random bits, so that no program can guess another's purpose and pass its claims.
public struct Purpose: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new purpose, from the system's source of secrets.
    public static func random() -> Purpose {
        var generator = SystemRandomNumberGenerator()
        return Purpose(high: generator.next(), low: generator.next())
    }

    /// Reads 32 hex digits; nil for other text.
    public init?(hex: String) {
        guard let identifier = Identifier<Purpose>(hex: hex) else { return nil }
        self.init(high: identifier.high, low: identifier.low)
    }

    /// The purpose's mark in the change feed. It does not reveal the secret.
    public var origin: UInt64 {
        // 64 bits of 128: a reader still has 2^64 possible secrets to try. Never 0, which would mean no purpose.
        max(1, BitMixing.mix(BitMixing.mix(high) ^ low))
    }

    /// The digits in messages.
    public var hex: String { Identifier<Purpose>(high: high, low: low).hex }
}
