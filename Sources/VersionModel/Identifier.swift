// The identities of the model: 128 random bits each, written as 32 hex digits.

/// What an item is known by; survives rename and every way of saving.
public typealias ItemID = Identifier<IdentifierOf.Item>
/// What one version is known by; does not depend on its content.
public typealias VersionID = Identifier<IdentifierOf.Version>
/// What one kept content is known by; several versions may share it.
public typealias ContentID = Identifier<IdentifierOf.Content>
/// What one entry of the deleted area is known by.
public typealias DeletionID = Identifier<IdentifierOf.Deletion>
/// What a container attached to a hub is known by.
public typealias DeviceID = Identifier<IdentifierOf.Device>
/// What a container is known by; changes when it is copied.
public typealias ContainerID = Identifier<IdentifierOf.Container>

/// The kinds of identity, so that one cannot be passed for another.
public enum IdentifierOf {
    public enum Item {}
    public enum Version {}
    public enum Content {}
    public enum Deletion {}
    public enum Device {}
    public enum Container {}
}

/// An identity of 128 bits for one kind of thing.
public struct Identifier<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A fresh identity.
    public static func random() -> Self {
        var generator = RandomBits()
        return random(using: &generator)
    }

    /// A fresh identity that has its first byte in common with those made just before: what is put away under it, in
    /// directories named by that byte, lies near what came before it, not in another of 256 places each time.
    public static func neighbouring() -> Self {
        var generator = RandomBits()
        let first = UInt64(RandomBits.neighbourhood()) << 56
        return Self(high: generator.next() >> 8 | first, low: generator.next())
    }

    /// A fresh identity from a given source of randomness (tests use a seeded one).
    public static func random(using generator: inout some RandomNumberGenerator) -> Self {
        Self(high: generator.next(), low: generator.next())
    }

    /// Reads 32 hex digits; nil for anything else.
    public init?(hex: some StringProtocol) {
        let digits = Array(hex.utf8)
        guard digits.count == 32, digits.allSatisfy(\.isLetterOrDigit),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Reads the 16 bytes that ``bytes`` gives; nil for another length.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The identity as 16 bytes, most significant first.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            for index in 0..<16 {
                let half = index < 8 ? high : low
                buffer[index] = UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64(index & 7)))
            }
            count = 16
        }
    }

    /// 32 hex digits.
    public var hex: String { Self.digits(high) + Self.digits(low) }

    /// The first 12 hex digits: what people see and type (DESIGN 3.2).
    public var short: String { String(Self.digits(high).prefix(12)) }

    public var description: String { hex }

    /// The bits are random already, or well mixed: half of them tell identities apart.
    public func hash(into hasher: inout Hasher) { hasher.combine(high ^ low) }

    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    private static func digits(_ half: UInt64) -> String {
        let text = String(half, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
