// Asking people, if there are any.

import ControlProtocol
import Glibc

/// Questions on the terminal.
enum Question {
    /// Whether a person can answer.
    static var canAsk: Bool { isatty(0) == 1 && isatty(2) == 1 }

    /// Asks for one line; nil at the end of input.
    static func ask(_ text: String) throws(ControlError) -> String? {
        try Files.write(Array(text.utf8), to: 2, path: nil)
        return readLine()
    }

    /// Yes only for `y` or `yes`.
    static func confirm(_ text: String) throws(ControlError) -> Bool {
        let answer = try ask(text + "\nGo on? [y/N] ")
        return ["y", "yes"].contains(answer?.lowercased())
    }
}
