// What is said of words that are no command.

import ControlProtocol

/// The parser's message and usage as a diagnostic.
enum UsageLine {
    /// - Parameters:
    ///   - message: what is wrong, without how the words go.
    ///   - whole: all that the parser has to say, with a line `Usage: …`.
    ///   - arguments: the command line.
    ///   - known: all commands.
    ///   - commands: those that are listed.
    static func of(
        _ message: String, _ whole: String, _ arguments: [String], known: [String], commands: [String]
    ) -> Diagnostic {
        var what = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        if let first = what.first { what = first.lowercased() + what.dropFirst() }
        if what.hasSuffix(".") { what.removeLast() }
        what = named(empty: what)
        let lines = whole.split(whereSeparator: \.isNewline)
        let usage = lines.first { $0.hasPrefix(label) }?.dropFirst(label.count).description
        guard usage == "versionsctl <subcommand>" else {
            let help = command(arguments).map { "`versionsctl help \($0)` explains the arguments" }
            return Diagnostic(nil, shortened(what), hint: help, usage: usage)
        }
        var hint = list
        if let word = command(arguments) {
            guard known.contains(word) else { return unknown(command: word, commands: commands) }
            guard what.hasPrefix("unknown option") else { return Diagnostic(nil, what, hint: hint, usage: general) }
            hint = "options follow the command: `versionsctl \(word) ...`. " + hint
        }
        return Diagnostic(nil, shortened(what), hint: hint, usage: general)
    }

    /// What is said of a word that is no command.
    static func unknown(command word: String, commands: [String]) -> Diagnostic {
        let likely = Likeness.nearest(to: word, among: commands).map { "`\($0)`" }.joined(separator: " or ")
        return Diagnostic(
            nil, "no command '\(Style.printable(Path(bytes: ArgumentBytes.bytes(word))))'",
            hint: (likely.isEmpty ? "" : "did you mean \(likely)? ") + list, usage: general)
    }

    /// A help with its usage in lines, which the parser leaves in one.
    static func wrapped(_ help: String, columns: Int) -> String {
        help.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix("USAGE: ") else { return String(line) }
            return WrappedText.lines(usage: String(line.dropFirst(7)), label: "USAGE: ", columns: columns)
        }.joined(separator: "\n")
    }

    /// `the value '' is invalid for '--at <time>'`, as people say it.
    private static func named(empty what: String) -> String {
        let mark = "the value '' is invalid for '"
        guard what.hasPrefix(mark) else { return what }
        let rest = what.dropFirst(mark.count)
        guard let end = rest.firstIndex(of: "'") else { return what }
        let name = rest[..<end].split(separator: " ").first ?? "a value"
        return "\(name) is empty" + rest[rest.index(after: end)...]
    }

    /// The first word that is no option, nor an option's value.
    private static func command(_ arguments: [String]) -> String? {
        let words = arguments.prefix { $0 != "--" }
        return words.indices.first { index in
            !words[index].hasPrefix("-") && (index == 0 || words[index - 1] != "--container")
        }.map { words[$0] }
    }

    /// `400 unexpected arguments: 'a', 'b', …` with three of them: a shell's `*` may have made thousands.
    private static func shortened(_ what: String) -> String {
        let mark = " unexpected arguments: "
        guard let found = what.firstRange(of: mark), let count = Int(what[..<found.lowerBound]), count > shown else {
            return what
        }
        let listed = what[found.upperBound...].split(separator: "', '", maxSplits: shown).prefix(shown)
        return "\(count)\(mark)\(listed.joined(separator: "', '"))' and \(count - shown) more"
    }

    private static let shown = 3

    private static let label = "Usage: "
    private static let list = "`versionsctl --help` lists the commands."
    static let general = "versionsctl COMMAND [ARGUMENT...]"
}
