// Patterns of LIKE: `*` and `?` over names that are bytes, mostly UTF-8.

/// A pattern: compiled once, matched with every entry.
struct TextPattern: Sendable {
    private enum Token: Sendable {
        case unit(UInt32)
        case anyOne
        case anyRun
    }

    private var tokens: [Token] = []
    private let ignoresCase: Bool

    init(_ pattern: [UInt8], ignoresCase: Bool) {
        self.ignoresCase = ignoresCase
        var rest = TextUnits.units(of: pattern, ignoringCase: ignoresCase)[...]
        while let unit = rest.popFirst() {
            switch unit {
            // Several in a row are the same as one.
            case 42: if case .anyRun? = tokens.last {} else { tokens.append(.anyRun) }
            case 63: tokens.append(.anyOne)
            // After a final backslash no byte can match.
            case 92: tokens.append(.unit(rest.popFirst() ?? .max))
            default: tokens.append(.unit(unit))
            }
        }
    }

    /// Whether the whole text matches.
    func matches(_ text: [UInt8]) -> Bool {
        let units = TextUnits.units(of: text, ignoringCase: ignoresCase)
        var (token, unit) = (0, 0)
        // The point to continue from after a mismatch: the last `*` takes one more.
        var retry: (token: Int, unit: Int)?
        while true {
            if token < tokens.count, case .anyRun = tokens[token] {
                token += 1
                retry = (token, unit)
            } else if unit < units.count, token < tokens.count, Self.matches(tokens[token], units[unit]) {
                token += 1
                unit += 1
            } else if unit == units.count, token == tokens.count {
                return true
            } else if let last = retry, last.unit < units.count {
                (token, unit) = (last.token, last.unit + 1)
                retry = (token, unit)
            } else {
                return false
            }
        }
    }

    private static func matches(_ token: Token, _ unit: UInt32) -> Bool {
        switch token {
        case .unit(let other): unit == other
        case .anyOne: true
        case .anyRun: false
        }
    }
}

/// Texts as units: characters of Unicode, and bytes that are not UTF-8.
enum TextUnits {
    /// The scalars of the text; a byte that is not UTF-8 is a number above all scalars.
    static func units(of bytes: [UInt8], ignoringCase: Bool) -> [UInt32] {
        if bytes.allSatisfy({ $0 < 128 }) {
            return bytes.map { byte in
                UInt32(ignoringCase && (65...90).contains(byte) ? byte | 32 : byte)
            }
        }
        var units: [UInt32] = []
        units.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let first = rest.first {
            guard let (scalar, length) = scalar(rest) else {
                units.append(0x11_0000 + UInt32(first))
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(length)
            if ignoringCase {
                units += scalar.properties.lowercaseMapping.unicodeScalars.map(\.value)
            } else {
                units.append(scalar.value)
            }
        }
        return units
    }

    private static func scalar(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, Int)? {
        var decoder = UTF8()
        var iterator = bytes.prefix(4).makeIterator()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else { return nil }
        return (scalar, UTF8.width(scalar))
    }
}
