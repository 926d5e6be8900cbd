// Words with one dash before several letters: to the parser a bundle of short options, to people a name or a slip.

import ControlProtocol

/// Looks at the words before they are parsed. The program has no bundles (`-h` and `-o` alone): `-hello` is meant as a
/// file or an unknown option, not as the help that an h in it would ask for.
enum DashedWords {
    /// The words with each number as a word of its own: people write `-n5` and `-U0`, as for git.
    static func spread(_ arguments: [String]) -> [String] {
        guard arguments.first != "---completion" else { return arguments }
        let names = arguments.drop { $0 != "--" }
        return arguments.prefix(arguments.count - names.count).flatMap { word in
            let number = word.utf8.dropFirst(2)
            guard word.hasPrefix("-n") || word.hasPrefix("-U"), !number.isEmpty,
                number.allSatisfy({ (48...57).contains($0) })
            else { return [word] }
            return [String(word.prefix(2)), String(word.dropFirst(2))]
        } + names
    }

    /// The first word that is neither an option nor a name; nil for none. Words behind `--` are names.
    static func unknown(_ arguments: [String]) -> String? {
        // Shells ask the parser for completions in a form of its own.
        guard arguments.first != "---completion" else { return nil }
        return arguments.prefix { $0 != "--" }.first { word in
            // By scalars: what combines with the dash would hide it.
            let scalars = word.unicodeScalars
            guard scalars.first == "-", let second = scalars.dropFirst().first, second != "-" else { return false }
            return word != "-help" && scalars.dropFirst().prefix { $0 != "=" }.count > 1
        }
    }

    /// What is said of it.
    static func diagnostic(_ word: String, _ arguments: [String]) -> Diagnostic {
        // There -- stands between the files and the command.
        let advice = arguments.first == "coordinate"
            ? "write ./ before a name that begins with a dash, and -- before the command"
            : "write -- before names that begin with a dash"
        let shown = Style.printable(Path(bytes: ArgumentBytes.bytes(word)))
        return Diagnostic(nil, "unknown option \(shown)", hint: advice, usage: Tool.usage(arguments))
    }
}
