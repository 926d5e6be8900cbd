// Work on a merge that cannot be taken: it outlives the command.

import ControlProtocol

/// Texts that are put where people find them.
enum KeptText {
    /// An error that also says where the text is.
    static func error(_ error: any Error, keeping text: [UInt8]) -> any Error {
        guard var told = error as? ControlError, let sentence = sentence(keeping: text) else { return error }
        told.advice = [told.advice, sentence].compactMap { $0 }.joined(separator: "; ")
        return told
    }

    /// Runs what fills or takes a merged file; if it fails, the work in that file is kept.
    /// - Parameter original: the content that is no work of the user's.
    static func guarding(_ merged: Path, original: [UInt8], _ body: () async throws -> Void) async throws {
        do { try await body() } catch {
            guard let text = try? Files.content(merged), !text.isEmpty, text != original else { throw error }
            throw Self.error(error, keeping: text)
        }
    }

    /// Says where the text is, when nothing has failed.
    static func note(keeping text: [UInt8]) {
        if let sentence = sentence(keeping: text) { Printer.note("Y\(sentence.dropFirst()).") }
    }

    /// Puts a text into a file that only its user can read, and says where; nil if there is no room for it.
    private static func sentence(keeping text: [UInt8]) -> String? {
        (try? Files.keep(text)).map { "your text is in \(Style.printable($0))" }
    }
}
