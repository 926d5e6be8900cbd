// Options that a command does not have. The parser misses the arguments first, and guesses at names that are far off.

import ControlProtocol

/// A word that is no option of its command.
struct UnknownOption {
    var word: String
    /// The options that may have been meant.
    var likely: [String]

    /// The first such word; nil for none. Words behind `--` are names.
    /// - Parameters:
    ///   - arguments: the command line, from the command on.
    ///   - help: the command's help, with a line for each option.
    init?(_ arguments: [String], help: String) {
        let known = Self.options(help)
        guard !known.isEmpty else { return nil }
        let words = arguments.dropFirst().prefix { $0 != "--" }.map { word in
            String(word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)[0])
        }
        let unknown = words.first { word in
            let second = word.dropFirst().first
            return word.first == "-" && second != nil && second?.isNumber == false && !known.contains(word)
        }
        guard let unknown else { return nil }
        word = unknown
        // Without the dashes, which make short names alike.
        let names = known.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        likely = Likeness.nearest(to: String(unknown.drop { $0 == "-" }), among: names).map { "--" + $0 }
    }

    /// What the lines below `OPTIONS:` begin with.
    private static func options(_ help: String) -> [String] {
        let lines = help.split(separator: "\n").drop { !$0.hasPrefix("OPTIONS:") }
        return lines.filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split(separator: " ").prefix { $0.hasPrefix("-") }.map { $0.filter { $0 != "," } }
        }
    }

    /// What is said of it.
    func diagnostic(command: String, usage: String) -> Diagnostic {
        let shown = Style.printable(Path(bytes: ArgumentBytes.bytes(word)))
        let names = likely.map { "`\($0)`" }.joined(separator: " or ")
        let help = "`versionsctl help \(command)` explains the options"
        return Diagnostic(
            nil, "unknown option \(shown)", hint: names.isEmpty ? help : "did you mean \(names)? \(help)", usage: usage)
    }
}
