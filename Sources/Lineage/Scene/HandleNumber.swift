/// An open handle, as the engine numbers it.
@frozen
public struct HandleNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt32

    @inlinable
    public init(_ number: UInt32) { self.number = number }

    public var description: String { "handle \(number)" }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
