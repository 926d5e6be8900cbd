// How wide lines on standard error may be.

import Glibc

/// The width of what messages are printed on.
public enum TerminalWidth {
    /// The terminal's columns; where there is none those that COLUMNS names, else 80.
    public static func ofStandardError() -> Int {
        var size = winsize()
        if ioctl(2, UInt(TIOCGWINSZ), &size) == 0 { return size.ws_col > 0 ? Int(size.ws_col) : 80 }
        let named = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
        return named.map { max(20, $0) } ?? 80
    }
}
