// An error in the text of a query, with its place.

/// The place of an error in a query's text, and the expected words.
public struct QuerySyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte of the error, from 0.
    public var offset: Int
    /// The number of its character, from 1.
    public var character: Int
    /// The text at the error; empty at the end.
    public var found: String
    /// A clause: `expected an attribute`.
    public var message: String

    /// - Parameters:
    ///   - message: a clause.
    ///   - offset: the byte of the error, from 0.
    ///   - found: the text there.
    ///   - text: the whole text.
    public init(_ message: String, at offset: Int, found: ArraySlice<UInt8>, in text: [UInt8]) {
        self.offset = offset
        character = String(decoding: text.prefix(offset), as: UTF8.self).count + 1
        let shown = String(decoding: found.prefix(40), as: UTF8.self)
        self.found = String(shown.map { $0.isNewline || $0.asciiValue.map { $0 < 32 } ?? false ? " " : $0 })
        self.message = message
    }

    /// `at character 6, "LIK": expected …`.
    public var description: String {
        found.isEmpty ? "at the end: \(message)" : "at character \(character), \"\(found)\": \(message)"
    }
}
