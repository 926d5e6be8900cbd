// What is wrong with the text of a query, and where.

/// The place in a query's text that could not be read, and what was expected there.
public struct QuerySyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte where the reading stopped, from 0.
    public var offset: Int
    /// Which character that is, from 1.
    public var character: Int
    /// What stands there; empty at the end of the text.
    public var found: String
    /// A clause: `expected an attribute`.
    public var message: String

    /// - Parameters:
    ///   - message: a clause.
    ///   - offset: the byte where the reading stopped, from 0.
    ///   - found: what stands there.
    ///   - text: all that was to be read.
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
