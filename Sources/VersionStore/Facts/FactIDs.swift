// Identities that are derived from the numbers of facts, so that no index has to find one.

import Lineage
import VersionModel

/// The identities of the facts of one epoch: a bijection of their numbers.
///
/// | bits | |
/// |---|---|
/// | the first 48 | the number, mixed: those of facts that follow one another differ in the first four digits |
/// | the other 80 | the epoch, which is random: no two containers have an identity in common |
///
/// Documents and versions have their numbers from one sequence, so no document has the identity of a version.
struct FactIDs: Sendable {
    /// The bits that numbers have. A sequence that skips a million numbers with each crash ends after 2^28 crashes.
    static let numberBits: UInt64 = 48
    private static let mask: UInt64 = 1 << numberBits - 1
    /// 2^48 divided by the golden ratio: multiples of it, modulo 2^48, are far from one another.
    private static let factor: UInt64 = 0x9E37_79B9_7F4B
    /// The number that undoes the multiplication.
    private static let inverse: UInt64 = {
        // Each of Newton's steps doubles the right bits; an odd number is its own inverse in three.
        var inverse = factor
        for _ in 0..<5 { inverse = inverse &* (2 &- factor &* inverse) }
        return inverse & mask
    }()

    private let high: UInt16
    private let low: UInt64

    /// - Parameter epoch: a random identity; 80 bits of it count.
    init(epoch: ContainerID) { (high, low) = (UInt16(truncatingIfNeeded: epoch.high), epoch.low) }

    /// The identity of a fact; nil for a number that is too large for one.
    func id<Subject>(_ number: UInt64) -> Identifier<Subject>? {
        guard number <= Self.mask else { return nil }
        return Identifier(high: mixed(number) << 16 | UInt64(high), low: low)
    }

    /// The number of the fact with an identity; nil for an identity of another epoch.
    func number<Subject>(of id: Identifier<Subject>) -> UInt64? {
        guard UInt16(truncatingIfNeeded: id.high) == high, id.low == low else { return nil }
        return unmixed(id.high >> 16)
    }

    /// The numbers whose identities begin with some hex digits, in their order.
    ///
    /// - Parameters:
    ///   - digits: at most 32 of either case.
    ///   - last: the largest number that a fact has.
    ///   - limit: how many are wanted at most.
    ///   - isFact: whether there is a fact with a number: a crash skips many. It is asked about few.
    /// - Returns: nil for other text.
    func numbers(
        startingWith digits: String, through last: UInt64, limit: Int, where isFact: (UInt64) throws -> Bool
    ) rethrows -> [UInt64]? {
        guard let range = IDRange(digits), let least = Identifier<IdentifierOf.Version>(bytes: range.low),
            let largest = Identifier<IdentifierOf.Version>(bytes: range.high)
        else { return nil }
        // The first digits leave a range of mixed numbers, and so of multiples of the factor.
        let (first, end) = (least.high >> 16, largest.high >> 16)
        let span = end - first
        let base = (first ^ low & Self.mask) & ~span
        func isMeant(_ number: UInt64) -> Bool {
            guard let id: VersionID = id(number) else { return false }
            return least <= id && id <= largest
        }
        var found: [UInt64] = []
        var next: UInt64 = 1
        while found.count < limit, let number = Self.number(from: next, inRange: base...base + span), number <= last {
            if isMeant(number), try isFact(number) { found.append(number) }
            next = number + 1
        }
        return found
    }

    /// The first number from one on whose multiple of the factor, modulo 2^48, is in a range.
    private static func number(from start: UInt64, inRange range: ClosedRange<UInt64>) -> UInt64? {
        guard start <= mask else { return nil }
        let passed = start &* factor & mask
        if range.contains(passed) { return start }
        let (low, high) = ((range.lowerBound &- passed) & mask, (range.upperBound &- passed) & mask)
        return multiple(of: factor, modulo: mask + 1, from: low, through: high).flatMap { steps in
            steps <= mask - start ? start + steps : nil
        }
    }

    /// The least number whose multiple is in a range, by Euclid's way: of the rest of a division the same is asked.
    private static func multiple(
        of factor: UInt64, modulo modulus: UInt64, from low: UInt64, through high: UInt64
    ) -> UInt64? {
        if low == 0 { return 0 }
        guard factor > 0 else { return nil }
        let times = (low + factor - 1) / factor
        if times * factor <= high { return times }
        let (from, through) = ((factor - high % factor) % factor, (factor - low % factor) % factor)
        guard let rounds = multiple(of: modulus % factor, modulo: factor, from: from, through: through) else {
            return nil
        }
        // Up to 2^96.
        let wanted = UInt128(low) + UInt128(modulus) * UInt128(rounds)
        return UInt64((wanted + UInt128(factor) - 1) / UInt128(factor))
    }

    private func mixed(_ number: UInt64) -> UInt64 { (number &* Self.factor ^ low) & Self.mask }

    private func unmixed(_ mixed: UInt64) -> UInt64 { ((mixed ^ low) & Self.mask) &* Self.inverse & Self.mask }
}
