// How text looks: colors on a terminal only, control characters never.

import ControlProtocol
import Glibc

/// Colors or none.
struct Style: Sendable {
    var isColored: Bool
    /// The terminal's width in columns; nil where it is none, and nothing is ever cut.
    var width: Int?

    static let plain = Style(isColored: false)

    /// Colored if standard output is a terminal and NO_COLOR is not set (no-color.org).
    static func standardOutput() -> Style {
        let noColor = getenv("NO_COLOR").map { strlen($0) > 0 } ?? false
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        let isTerminal = isatty(Pager.terminal) == 1
        return Style(isColored: isTerminal && !noColor && !isDumb, width: isTerminal ? columns() : nil)
    }

    /// What the terminal says; nil if it does not know either.
    private static func columns() -> Int? {
        var size = winsize()
        guard ioctl(Pager.terminal, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    enum Color: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
        case dim = "2"
        case bold = "1"
    }

    func paint(_ text: String, _ color: Color?) -> String {
        guard isColored, let color, !text.isEmpty else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// A name for people: control characters are shown as `\x1b`, for a name must not steer the terminal.
    static func printable(_ path: Path) -> String { printable(path.description) }

    static func printable(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            guard scalar.properties.generalCategory == .control else { return String(scalar) }
            let digits = String(scalar.value, radix: 16)
            return "\\x" + String(repeating: "0", count: max(0, 2 - digits.count)) + digits
        }.joined()
    }
}
