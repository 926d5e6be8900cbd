// Splits the text of a query into words, quoted texts and signs.

/// One piece of a query's text.
struct QueryToken {
    enum Kind: Hashable {
        /// A name, keyword, number or value without quotes.
        case word
        /// The text between quotes, with its escapes replaced.
        case quoted([UInt8])
        /// `=`, `(`, `&&` and the like.
        case sign(String)
        case end
    }

    var kind: Kind
    /// Its bytes in the query.
    var source: ArraySlice<UInt8>

    var text: String { String(decoding: source, as: UTF8.self) }
}

/// Reads one token after the other.
struct QueryScanner {
    let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) { self.text = text }

    /// - Throws: for an unknown sign, and for a quoted text without an end or with an invalid escape.
    mutating func next() throws(QuerySyntaxError) -> QueryToken {
        while position < text.count, Self.isBlank(text[position]) { position += 1 }
        guard position < text.count else { return QueryToken(kind: .end, source: text[text.count...]) }
        let start = position
        let byte = text[start]
        if byte == 34 || byte == 39 { return try quoted(byte) }
        if Self.isWord(byte) {
            while position < text.count, Self.isWord(text[position]) { position += 1 }
            return QueryToken(kind: .word, source: text[start..<position])
        }
        for sign in Self.signs where text[start...].starts(with: sign.utf8) {
            position += sign.utf8.count
            return QueryToken(kind: .sign(Self.meanings[sign] ?? sign), source: text[start..<position])
        }
        throw error("this sign means nothing here", start, text[start..<(start + 1)])
    }

    /// The longer signs first.
    private static let signs = [
        "<=", ">=", "!=", "<>", "==", "&&", "||", "[c]", "[C]", "=", "<", ">", "!", "(", ")", ",",
    ]
    private static let meanings = ["==": "=", "<>": "!=", "[C]": "[c]"]

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    /// All bytes except spaces, control characters and special characters: `" ' ( ) , = < > ! [ ] \ & |`.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...32, 127, 33, 34, 38, 39, 40, 41, 44, 60, 61, 62, 91, 92, 93, 124: false
        default: true
        }
    }

    // MARK: Quotes

    private mutating func quoted(_ quote: UInt8) throws(QuerySyntaxError) -> QueryToken {
        let start = position
        var value: [UInt8] = []
        position += 1
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte == quote { return QueryToken(kind: .quoted(value), source: text[start..<position]) }
            value.append(byte == 92 ? try escaped() : byte)
        }
        throw error("expected \(quote == 34 ? "\"" : "'") at the end of this text", start, text[start...])
    }

    /// The byte of an escape, after its backslash.
    private mutating func escaped() throws(QuerySyntaxError) -> UInt8 {
        let start = position - 1
        let rest = text[position...]
        position += 1
        switch rest.first {
        case 34, 39, 92: return rest.first ?? 92
        case 110: return 10
        case 114: return 13
        case 116: return 9
        case 120:
            let digits = rest.dropFirst().prefix(2)
            guard digits.count == 2, let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
                digits.first != 43, digits.first != 45
            else { throw error("expected two hex digits behind \\x", start, text[start...].prefix(4)) }
            position += 2
            return byte
        case 42, 63:
            throw error(
                "no such escape: in a pattern \\\\* stands for a star itself, \\\\? for a question mark", start,
                text[start..<(start + 2)])
        default:
            throw error(
                "no such escape: there are \\\\ \\\" \\' \\n \\r \\t \\xHH", start, text[start...].prefix(2))
        }
    }

    func error(_ message: String, _ offset: Int, _ found: ArraySlice<UInt8>) -> QuerySyntaxError {
        QuerySyntaxError(message, at: offset, found: found, in: text)
    }
}
