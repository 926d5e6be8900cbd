// The width of lines on standard error.

import Glibc

/// The width of the output for messages.
public enum TerminalWidth {
    /// The terminal's columns; without a terminal the value of COLUMNS, else 80.
    public static func ofStandardError() -> Int {
        var size = winsize()
        if ioctl(2, UInt(TIOCGWINSZ), &size) == 0 { return size.ws_col > 0 ? Int(size.ws_col) : 80 }
        return named
    }

    /// The value of COLUMNS, else 80.
    public static var named: Int {
        let value = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
        return value.map { max(20, $0) } ?? 80
    }
}
