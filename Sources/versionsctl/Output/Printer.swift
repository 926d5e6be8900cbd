// Where output goes: text or JSON on standard output, notes and progress on standard error.

import ControlProtocol
import FoundationEssentials
import Glibc
import Synchronization
import VersionsClient

/// Standard output and error.
enum Printer {
    /// Whether errors and notes are JSON, too.
    private static let printsJSON = Atomic(false)

    /// Looks for `--json` among the words, before the parser does: its own errors are to be JSON, too.
    static func prepare(for arguments: [String]) {
        let isAsked = arguments.prefix { $0 != "--" }.contains("--json")
        printsJSON.store(isAsked, ordering: .sequentiallyConsistent)
    }

    /// Whether `--json` was asked for.
    static var isJSON: Bool { printsJSON.load(ordering: .sequentiallyConsistent) }

    static func text(_ text: String) throws(ControlError) {
        try Pager.write(Array(text.utf8))
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

    /// Ends the program where its output cannot be written any more: without a word if the reader has gone, as SIGPIPE
    /// ends other programs.
    static func stop(_ error: any Error) -> Never {
        guard let error = error as? ControlError, error.errno != EPIPE else { exit(128 + SIGPIPE) }
        self.error(Diagnostic(error))
        exit(1)
    }

    /// `note: …` on standard error, for what went otherwise than expected and is no failure.
    static func note(_ text: String) {
        guard !isJSON else { return errorLine(["note": text]) }
        let lines = WrappedText.lines(text, label: "note: ", columns: TerminalWidth.ofStandardError())
        try? Files.write(Array((lines + "\n").utf8), to: 2, path: nil)
    }

    /// `error: …` and `hint: …` on standard error.
    static func error(_ diagnostic: Diagnostic) {
        guard !isJSON else { return errorLine(diagnostic) }
        let text = diagnostic.text(columns: TerminalWidth.ofStandardError())
        try? Files.write(Array((text + "\n").utf8), to: 2, path: nil)
    }

    private static func errorLine(_ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(value) else { return }
        try? Files.write(Array(line) + [10], to: 2, path: nil)
    }

    /// Shows how far a long call is, on one line that is overwritten; nothing if standard error is no terminal.
    static func progress(_ what: String) -> (@Sendable (ProgressNotification) -> Void)? {
        ProgressLine(what)?.listener
    }

    /// Clears the line of ``progress(_:)``.
    static func endProgress() { ProgressLine.clear() }
}
