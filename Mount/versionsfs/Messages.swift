// The daemon's messages before it has a log, on standard error in the form of versionsctl.

import ControlProtocol
import FoundationEssentials
import Glibc

/// Prints an error with its hint.
func complain(_ diagnostic: Diagnostic) {
    if printsJSON, let line = try? messageEncoder.encode(diagnostic) { return say(Array(line)) }
    say(Array(diagnostic.text(columns: TerminalWidth.ofStandardError()).utf8))
}

/// Prints a note that is no failure.
func note(_ text: String) {
    if printsJSON, let line = try? messageEncoder.encode(["note": text]) { return say(Array(line)) }
    say(Array(WrappedText.lines(text, label: "note: ", columns: TerminalWidth.ofStandardError()).utf8))
}

/// `versionsctl mount --json` asks for it.
private var printsJSON: Bool { getenv("VERSIONSFS_MESSAGES").map { String(cString: $0) == "json" } ?? false }

private var messageEncoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
}

private func say(_ text: [UInt8]) {
    let lines = text + [10]
    _ = write(2, lines, lines.count)
}
