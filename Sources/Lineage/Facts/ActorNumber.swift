/// A program that reads and saves, as the catalog numbers it.
@frozen
public struct ActorNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt32

    @inlinable
    public init(_ number: UInt32) { self.number = number }

    public var description: String { "actor \(number)" }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
