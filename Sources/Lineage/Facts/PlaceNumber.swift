/// A place: a directory and a name in it.
///
/// The rules compare places and never look into them, so the engine numbers the places of a scene. What a rule needs to
/// know of a name (whether its maker made it up, ``Event``) is a fact of the event.
@frozen
public struct PlaceNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: UInt32

    @inlinable
    public init(_ number: UInt32) { self.number = number }

    public var description: String { "place \(number)" }

    @inlinable
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
