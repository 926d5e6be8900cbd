// The values in a query: texts, words, numbers with units, times.

import VersionModel

extension QueryParser {
    /// A value to compare an attribute with.
    mutating func value(of attribute: QueryAttribute) throws(QuerySyntaxError) -> QueryValue {
        switch attribute.kind {
        case .text: return .text(try text("a text in quotes"))
        case .word(let words):
            let expected = "expected \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
            guard let written, let word = words.first(where: { $0 == written.lowercased() }) else {
                throw unexpected(expected)
            }
            try advance()
            return .text(word)
        case .number:
            guard let written, let number = Self.number(written) else {
                throw unexpected("expected a whole number, perhaps with KiB, MiB, GiB or TiB behind it")
            }
            try advance()
            return .number(number)
        case .moment:
            guard let written, let time = moment(written) else {
                throw unexpected("expected a time such as 10m, yesterday, \"yesterday 17:00\" or \"2026-11-21 10:33\"")
            }
            try advance()
            return .moment(time)
        }
    }

    /// A pattern for LIKE; one that ends in a backslash would never match.
    mutating func pattern() throws(QuerySyntaxError) -> [UInt8] {
        let place = token
        let pattern = try text("a pattern in quotes")
        let trailing = pattern.reversed().prefix { $0 == 92 }.count
        guard trailing.isMultiple(of: 2) else {
            throw unexpected("the pattern ends in a backslash with nothing to take the meaning of", at: place)
        }
        return pattern
    }

    /// The text between quotes, or a word without quotes.
    private mutating func text(_ what: String) throws(QuerySyntaxError) -> [UInt8] {
        let bytes: [UInt8]
        switch token.kind {
        case .quoted(let value): bytes = value
        case .word:
            guard !["AND", "OR", "NOT"].contains(token.text.uppercased()) else { throw unexpected("expected \(what)") }
            bytes = Array(token.source)
        default: throw unexpected("expected \(what)")
        }
        try advance()
        return bytes
    }

    /// The token as text; nil if it is neither quoted text nor a word.
    private var written: String? {
        switch token.kind {
        case .quoted(let value): String(decoding: value, as: UTF8.self)
        case .word: token.text
        default: nil
        }
    }

    private func unexpected(_ message: String, at token: QueryToken) -> QuerySyntaxError {
        var copy = self
        copy.put(back: token)
        return copy.unexpected(message)
    }

    private static let units: [String: Int64] = [
        "": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "kb": 1_000, "mb": 1_000_000,
        "gb": 1_000_000_000, "tb": 1_000_000_000_000,
    ]

    /// `-12`, `3`, `10KiB`; nil for other text and for numbers that are too big.
    static func number(_ text: String) -> Int64? {
        let isNegative = text.first == "-"
        let digits = text.drop { $0 == "-" }.prefix { $0.isASCII && $0.isNumber }
        let unit = text.dropFirst(digits.count + (isNegative ? 1 : 0)).lowercased()
        guard !digits.isEmpty, let factor = units[unit],
            let value = Int64((isNegative ? "-" : "") + digits)
        else { return nil }
        let (product, isOver) = value.multipliedReportingOverflow(by: factor)
        return isOver ? nil : product
    }
}
