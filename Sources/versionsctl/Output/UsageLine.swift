// What is said of words that are no command: one line, as of all that goes wrong.

import ArgumentParser
import ControlProtocol

/// `versionsctl: what is wrong with the words: how they go`, of what the parser says in three or four lines.
enum UsageLine {
    /// - Parameters:
    ///   - message: what is wrong, without how the words go.
    ///   - whole: all that the parser has to say, with a line `Usage: …`.
    static func of(_ message: String, _ whole: String, commands: [String]) -> String {
        var what = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        if let first = what.first { what = first.lowercased() + what.dropFirst() }
        let usage = whole.split(whereSeparator: \.isNewline).first { $0.hasPrefix(label) }?.dropFirst(label.count)
        guard let usage else { return what }
        guard usage == "versionsctl <subcommand>" else { return "\(what): \(usage)" }
        let unknown = "unexpected argument '"
        if what.hasPrefix(unknown) {
            let word = what.dropFirst(unknown.count).prefix { $0 != "'" }
            what = "there is no command '\(word)'"
            let likely = commands.filter { !word.isEmpty && $0.hasPrefix(word) }
            if !likely.isEmpty { what += ", did you mean \(likely.joined(separator: " or "))?" }
        }
        return "\(what): versionsctl --help lists the commands"
    }

    private static let label = "Usage: "
}
