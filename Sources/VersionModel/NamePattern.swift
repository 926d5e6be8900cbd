// Shapes of file names, as programs make them up: a few literal bytes and runs of a kind of character.

/// A shape that a name has or has not; written as a list of parts.
struct NamePattern: Sendable, ExpressibleByArrayLiteral {
    enum Part: Sendable {
        /// These bytes, in any case of letters.
        case text(String)
        /// So many letters, digits or underscores: what mkstemp and its kin put in.
        case random(Int)
        /// So many digits, at least the first and at most the second number.
        case digits(Int, Int)
        /// So many hexadecimal digits.
        case hex(Int)
        /// At least one byte of any kind.
        case anything
        /// The process's own number in decimal, not part of a longer number.
        case process
    }

    private let parts: [Part]
    /// What every name of this shape begins and ends with.
    private let ends: (first: [UInt8], last: [UInt8])

    init(arrayLiteral parts: Part...) {
        func literal(_ part: Part?) -> [UInt8] {
            if case .text(let text)? = part { text.utf8.map(\.lowercased) } else { [] }
        }
        self.parts = parts
        ends = (literal(parts.first), literal(parts.last))
    }

    /// Whether the whole name has this shape.
    func matches(_ name: [UInt8], process: Int32) -> Bool {
        mayMatch(name) && Self.matches(name[...], parts[...], before: nil, process: process)
    }

    /// A quick look at the two ends, which turns nearly every name down.
    func mayMatch(_ name: [UInt8]) -> Bool {
        guard name.count >= max(ends.first.count, ends.last.count) else { return false }
        for (index, byte) in ends.first.enumerated() where name[index].lowercased != byte { return false }
        let tail = name.count - ends.last.count
        for (index, byte) in ends.last.enumerated() where name[tail + index].lowercased != byte { return false }
        return true
    }

    private static func matches(
        _ name: ArraySlice<UInt8>, _ parts: ArraySlice<Part>, before: UInt8?, process: Int32
    ) -> Bool {
        guard let part = parts.first else { return name.isEmpty }
        let rest = parts.dropFirst()
        return lengths(of: part, in: name, before: before, process: process).contains { length in
            let taken = name.prefix(length)
            return matches(name.dropFirst(length), rest, before: taken.last ?? before, process: process)
        }
    }

    /// How many bytes at the beginning of the name the part may take.
    private static func lengths(
        of part: Part, in name: ArraySlice<UInt8>, before: UInt8?, process: Int32
    ) -> [Int] {
        func run(_ count: Int, _ isOne: (UInt8) -> Bool) -> [Int] {
            name.count >= count && name.prefix(count).allSatisfy(isOne) ? [count] : []
        }
        switch part {
        case .text(let text):
            let text = Array(text.utf8)
            let fits = name.count >= text.count && zip(name, text).allSatisfy { $0.lowercased == $1.lowercased }
            return fits ? [text.count] : []
        case .random(let count): return run(count) { $0.isLetterOrDigit || $0 == 95 }
        case .hex(let count): return run(count, \.isHexDigit)
        case .digits(let least, let most):
            let count = name.prefix { $0.isDigit }.count
            return count < least ? [] : Array(least...min(most, count))
        case .anything: return name.isEmpty ? [] : Array(1...name.count)
        case .process:
            let number = Array(String(process).utf8)
            guard process > 0, name.starts(with: number), before?.isDigit != true,
                name.dropFirst(number.count).first?.isDigit != true
            else { return [] }
            return [number.count]
        }
    }
}
