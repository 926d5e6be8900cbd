// Where output goes: text or JSON on standard output, notes and progress on standard error.

import ControlProtocol
import FoundationEssentials
import Glibc
import VersionsClient

/// Standard output and error.
enum Printer {
    static func text(_ text: String) throws(ControlError) {
        try Files.write(Array(text.utf8), to: 1, path: nil)
    }

    /// One document, over several lines.
    static func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        try Files.write(Array(try encoder.encode(value)) + [10], to: 1, path: nil)
    }

    /// One object on one line, out at once.
    static func jsonLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try Files.write(Array(try encoder.encode(value)) + [10], to: 1, path: nil)
    }

    /// Ends the program where what it goes on telling cannot be written: without a word if nobody reads it any more, as
    /// a program that the signal for that ends.
    static func stop(_ error: any Error) -> Never {
        guard let error = error as? ControlError, error.errno != EPIPE else { exit(128 + SIGPIPE) }
        note(String(line(error).dropFirst("versionsctl: ".count)))
        exit(1)
    }

    /// `versionsctl: …` on standard error.
    static func note(_ text: String) {
        try? Files.write(Array("versionsctl: \(text)\n".utf8), to: 2, path: nil)
    }

    /// `versionsctl: PATH: what went wrong: what to do`.
    static func line(_ error: ControlError) -> String {
        (["versionsctl"] + [error.path.map { Style.printable($0) }, error.message, error.whatToDo].compactMap { $0 })
            .map { $0.replacing("\n", with: " ") }.joined(separator: ": ")
    }

    /// Shows how far a long call is, on one line that is overwritten; nothing if standard error is no terminal.
    static func progress(_ what: String) -> (@Sendable (ProgressNotification) -> Void)? {
        guard isatty(2) == 1 else { return nil }
        return { progress in
            let done = progress.unit == "bytes" ? Words.size(progress.done) : "\(progress.done) \(progress.unit)"
            let share = progress.total.map { $0 > 0 ? " (\(min(100, progress.done / max(1, $0 / 100))) %)" : "" } ?? ""
            try? Files.write(Array("\r\u{1B}[K\(what): \(done)\(share)".utf8), to: 2, path: nil)
        }
    }

    /// Clears the line of ``progress(_:)``.
    static func endProgress() {
        if isatty(2) == 1 { try? Files.write(Array("\r\u{1B}[K".utf8), to: 2, path: nil) }
    }
}
