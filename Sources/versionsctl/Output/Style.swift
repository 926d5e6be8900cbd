// How text looks: colors on a terminal only, control characters and bytes that are no text never.

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

    /// A name for people: control characters and bytes that are no UTF-8 are shown as `\x1b` and `\xff`, for a name
    /// must not steer the terminal, nor look like another one.
    static func printable(_ path: Path) -> String {
        var text = ""
        var parser = UTF8.ForwardParser()
        var (bytes, place) = (path.bytes.makeIterator(), 0)
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let encoded):
                let scalar = UTF8.decode(encoded)
                text += isControl(scalar) ? encoded.map(escape).joined() : String(scalar)
                place += encoded.count
            case .error(let length):
                text += path.bytes[place..<(place + length)].map(escape).joined()
                place += length
            case .emptyInput:
                return text
            }
        }
    }

    static func printable(_ text: String) -> String {
        // Nearly all texts are like that.
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return printable(Path(text))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }

    private static func escape(_ byte: UInt8) -> String {
        switch byte {
        case 9: return "\\t"
        case 10: return "\\n"
        case 13: return "\\r"
        default: return (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
        }
    }
}
