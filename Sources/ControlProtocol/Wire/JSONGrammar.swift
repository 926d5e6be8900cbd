// Checks that bytes are JSON (RFC 8259), without recursion and before a decoder reads them.

/// A checker of JSON's grammar.
///
/// Any program can send lines, and Foundation's scanner (Swift 6.3) can trap while it describes an error in a text. So
/// it gets only valid texts.
enum JSONGrammar {
    /// The deepest nesting of arrays and objects; the protocol's messages need seven levels.
    static let depthLimit = 64

    /// Whether the bytes are one JSON value: in UTF-8, not too deep, without lone surrogates in its escapes.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        var checker = Checker(rest: bytes[...])
        return checker.document()
    }

    private struct Checker {
        var rest: ArraySlice<UInt8>
        /// The open arrays and objects, innermost last: true for an object.
        private var open: [Bool] = []

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        mutating func document() -> Bool {
            while true {
                skipBlanks()
                // The start of a value.
                if take(123) {
                    guard open.count < JSONGrammar.depthLimit else { return false }
                    skipBlanks()
                    if !take(125) {
                        open.append(true)
                        guard key() else { return false }
                        continue
                    }
                } else if take(91) {
                    guard open.count < JSONGrammar.depthLimit else { return false }
                    skipBlanks()
                    if !take(93) {
                        open.append(false)
                        continue
                    }
                } else if !scalar() {
                    return false
                }
                // The end of a value.
                guard let more = afterValue() else { return false }
                if !more { return rest.isEmpty }
            }
        }

        /// Closes arrays and objects that end: true if another value follows, false at the end of the outermost, nil
        /// for an error.
        private mutating func afterValue() -> Bool? {
            while true {
                skipBlanks()
                guard let isObject = open.last else { return false }
                if take(44) {
                    skipBlanks()
                    return !isObject || key() ? true : nil
                }
                guard take(isObject ? 125 : 93) else { return nil }
                open.removeLast()
            }
        }

        private mutating func key() -> Bool {
            guard string() else { return false }
            skipBlanks()
            return take(58)
        }

        private mutating func scalar() -> Bool {
            switch rest.first {
            case 34: string()
            case 116: word("true")
            case 102: word("false")
            case 110: word("null")
            default: number()
            }
        }

        private mutating func string() -> Bool {
            guard take(34) else { return false }
            while let byte = rest.popFirst() {
                switch byte {
                case 34: return true
                case 0..<32: return false
                case 92: guard escape() else { return false }
                default: break
                }
            }
            return false
        }

        private mutating func escape() -> Bool {
            switch rest.popFirst() {
            case 34, 92, 47, 98, 102, 110, 114, 116: return true
            case 117:
                guard let unit = hexUnit() else { return false }
                if (0xDC00...0xDFFF).contains(unit) { return false }
                guard (0xD800...0xDBFF).contains(unit) else { return true }
                guard take(92), take(117), let second = hexUnit() else { return false }
                return (0xDC00...0xDFFF).contains(second)
            default: return false
            }
        }

        private mutating func hexUnit() -> UInt16? {
            let digits = rest.prefix(4)
            guard digits.count == 4 else { return nil }
            var unit: UInt16 = 0
            for digit in digits {
                switch digit {
                case 48...57: unit = unit << 4 | UInt16(digit - 48)
                case 65...70: unit = unit << 4 | UInt16(digit - 55)
                case 97...102: unit = unit << 4 | UInt16(digit - 87)
                default: return nil
                }
            }
            rest = rest.dropFirst(4)
            return unit
        }

        private mutating func number() -> Bool {
            _ = take(45)
            if !take(48), digits() == 0 { return false }
            if take(46), digits() == 0 { return false }
            if take(101) || take(69) {
                if !take(43) { _ = take(45) }
                return digits() > 0
            }
            return true
        }

        private mutating func digits() -> Int {
            let count = rest.prefix { (48...57).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }

        private mutating func word(_ word: StaticString) -> Bool {
            let matches = word.withUTF8Buffer { rest.starts(with: $0) }
            if matches { rest = rest.dropFirst(word.utf8CodeUnitCount) }
            return matches
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        private mutating func skipBlanks() {
            rest = rest.drop { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }
        }
    }
}
