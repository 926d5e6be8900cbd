// What is said of words that are no command.

import ControlProtocol

/// The parser's message and usage as a diagnostic.
enum UsageLine {
    /// - Parameters:
    ///   - message: what is wrong, without how the words go.
    ///   - whole: all that the parser has to say, with a line `Usage: …`.
    static func of(_ message: String, _ whole: String, commands: [String]) -> Diagnostic {
        var what = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        if let first = what.first { what = first.lowercased() + what.dropFirst() }
        if what.hasSuffix(".") { what.removeLast() }
        let lines = whole.split(whereSeparator: \.isNewline)
        let usage = lines.first { $0.hasPrefix(label) }?.dropFirst(label.count).description
        guard usage == "versionsctl <subcommand>" else { return Diagnostic(nil, what, usage: usage) }
        var hint = "`versionsctl --help` lists the commands."
        // `unexpected argument 'a'`, or `2 unexpected arguments: 'a', 'b'`: the first is the command.
        if what.contains("unexpected argument"), let quote = what.firstIndex(of: "'") {
            let word = what[what.index(after: quote)...].prefix { $0 != "'" }
            what = "no command '\(word)'"
            let likely = Likeness.nearest(to: String(word), among: commands)
            if !likely.isEmpty {
                hint = "did you mean \(likely.map { "`\($0)`" }.joined(separator: " or "))? " + hint
            }
        }
        return Diagnostic(nil, what, hint: hint, usage: general)
    }

    private static let label = "Usage: "
    static let general = "versionsctl COMMAND [ARGUMENT...]"
}
