// A program's report of a failure: an error, a hint, and for wrong usage the usage.

/// An error for users and, as JSON, for programs.
public struct Diagnostic: Hashable, Sendable {
    /// The file or directory, as a user would type it.
    public var subject: String?
    /// The error: a clause without a full stop, such as `no version 12ab34`.
    public var error: String
    /// The next command.
    public var hint: String?
    /// The form of the command.
    public var usage: String?

    public init(_ subject: String? = nil, _ error: String, hint: String? = nil, usage: String? = nil) {
        self.subject = subject
        self.error = error
        self.hint = hint
        self.usage = usage
    }

    /// `SUBJECT: error`.
    public var sentence: String { subject.map { "\($0): \(error)" } ?? error }

    /// The same with the hint, in one line: for a log, or for one of several notes.
    public var line: String { hint.map { "\(sentence). \($0)" } ?? sentence }

    /// The lines `error: …`, `hint: …` and `usage: …`, each wrapped at words; without a newline at the end.
    public func text(columns: Int) -> String {
        // A path is one word, even with spaces.
        let words = (subject.map { [Self.shown($0) + ":"] } ?? []) + WrappedText.words(Self.shown(error))
        var lines = [WrappedText.lines(words, label: "error: ", columns: columns)]
        if let hint { lines.append(WrappedText.lines(Self.shown(hint), label: "hint: ", columns: columns)) }
        if let usage { lines.append(WrappedText.lines(usage: Self.shown(usage), label: "usage: ", columns: columns)) }
        return lines.joined(separator: "\n")
    }

    /// A text without effect on the terminal: control characters become their codes, line ends become spaces.
    private static func shown(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            if scalar == "\n" || scalar == "\t" { return " " }
            guard scalar.properties.generalCategory == .control else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\x" + String(repeating: "0", count: max(0, 2 - digits.count)) + digits
        }.joined()
    }
}

extension Diagnostic: Encodable {
    private enum Key: String, CodingKey { case error, hint, usage }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(sentence, forKey: .error)
        try container.encode(hint, forKey: .hint)
        try container.encodeIfPresent(usage, forKey: .usage)
    }
}
