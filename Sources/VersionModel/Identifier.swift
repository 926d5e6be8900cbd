// The identities of the model: 128 random bits each, written as 32 hex digits.

/// The identity of an item. It stays the same after renames and every way of saving.
public typealias ItemID = Identifier<IdentifierOf.Item>
/// The identity of a version; independent of its content.
public typealias VersionID = Identifier<IdentifierOf.Version>
/// The identity of a stored content; several versions may share it.
public typealias ContentID = Identifier<IdentifierOf.Content>
/// The identity of an entry of the deleted area.
public typealias DeletionID = Identifier<IdentifierOf.Deletion>
/// The identity of a container that is attached to a hub.
public typealias DeviceID = Identifier<IdentifierOf.Device>
/// The identity of a container; a copy gets a new one.
public typealias ContainerID = Identifier<IdentifierOf.Container>

/// The kinds of identity, so that one kind cannot replace another.
public enum IdentifierOf {
    public enum Item {}
    public enum Version {}
    public enum Content {}
    public enum Deletion {}
    public enum Device {}
    public enum Container {}
}

/// An identity of 128 bits for one kind of object.
public struct Identifier<Subject>: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new identity.
    public static func random() -> Self {
        var generator = RandomBits()
        return random(using: &generator)
    }

    /// A new identity whose first byte is the same as that of the identities just before it. Files under such names, in
    /// directories named by that byte, are close together on the disk instead of in 256 places.
    public static func neighboring() -> Self {
        var generator = RandomBits()
        let first = UInt64(RandomBits.neighborhood()) << 56
        return Self(high: generator.next() >> 8 | first, low: generator.next())
    }

    /// A new identity from a given source of randomness (for tests with a seed).
    public static func random(using generator: inout some RandomNumberGenerator) -> Self {
        Self(high: generator.next(), low: generator.next())
    }

    /// Reads 32 hex digits; nil for other text.
    public init?(hex: some StringProtocol) {
        let digits = Array(hex.utf8)
        guard digits.count == 32, digits.allSatisfy(\.isLetterOrDigit),
            let high = UInt64(String(decoding: digits[..<16], as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits[16...], as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Reads the 16 bytes of ``bytes``; nil for another length.
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
    public var hex: String {
        String(unsafeUninitializedCapacity: 32) { text in
            for index in 0..<16 {
                text[index] = Self.digit(high >> (60 - 4 * UInt64(index)))
                text[16 + index] = Self.digit(low >> (60 - 4 * UInt64(index)))
            }
            return 32
        }
    }

    /// The first 12 hex digits, for users (DESIGN 3.2).
    public var short: String { String(hex.prefix(12)) }

    public var description: String { hex }

    /// The bits are random already, or well mixed: half of them are enough.
    public func hash(into hasher: inout Hasher) { hasher.combine(high ^ low) }

    public static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// The digit of the last four bits.
    private static func digit(_ number: UInt64) -> UInt8 {
        let bits = UInt8(truncatingIfNeeded: number & 15)
        return bits < 10 ? 48 + bits : 87 + bits
    }
}
