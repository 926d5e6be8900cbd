// Text for a terminal, wrapped at words. Paths and commands stay in one piece.

/// Wraps text at words.
public enum WrappedText {
    /// A text after its label, in lines of at most this many columns; later lines are indented by the label's width.
    /// Text in quotes or backticks is one word, and a word longer than a line is not split.
    public static func lines(_ text: String, label: String, columns: Int) -> String {
        lines(words(text), label: label, columns: columns)
    }

    /// The same for the form of a command: what stands in brackets stays in one piece.
    public static func lines(usage: String, label: String, columns: Int) -> String {
        var (words, depth): ([String], Int) = ([], 0)
        for word in usage.split(separator: " ").map(String.init) {
            if depth > 0, let last = words.popLast() { words.append(last + " " + word) } else { words.append(word) }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return lines(words, label: label, columns: columns)
    }

    static func lines(_ words: [String], label: String, columns: Int) -> String {
        let indent = width(label)
        var lines = [label]
        var used = indent
        for word in words {
            let needed = width(word)
            if used == indent {
                lines[lines.count - 1] += word
                used += needed
            } else if used + 1 + needed <= columns {
                lines[lines.count - 1] += " " + word
                used += 1 + needed
            } else {
                lines.append(String(repeating: " ", count: indent) + word)
                used = indent + needed
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The parts of a text that stay in one piece.
    static func words(_ text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        let characters = Array(text)
        for (index, character) in characters.enumerated() {
            if let open = quote {
                if character == open { quote = nil }
            } else if "'\"`".contains(character), word.isEmpty || "([".contains(word.last ?? "x"),
                characters[(index + 1)...].contains(character)
            {
                quote = character
            } else if character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            word.append(character)
        }
        return word.isEmpty ? words : words + [word]
    }

    /// Characters as a terminal counts them, approximately: wide ones count two.
    public static func width(_ text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            let isWide = (0x1100...0x115F).contains(scalar.value) || (0x2E80...0xA4CF).contains(scalar.value)
                || (0xAC00...0xD7A3).contains(scalar.value) || (0xF900...0xFAFF).contains(scalar.value)
                || (0xFF00...0xFF60).contains(scalar.value) || (0x1F300...0x1FAFF).contains(scalar.value)
            return sum + (isWide ? 2 : 1)
        }
    }
}
