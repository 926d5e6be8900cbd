// `versionsctl logs`.

import ArgumentParser
import ControlProtocol
import LocalState
import VersionsClient

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show the log of a container's daemon (changes of files: `log`).",
        discussion: """
            The log is in the journal where journald runs, else in a file that `versionsctl status` names. With \
            --follow the last 10 lines are printed first, unless -n says otherwise.
            """)
    @Argument(help: "A path in the container.") var container: TypedPath?
    @Option(name: [.customShort("n"), .long], help: ArgumentHelp("Only the last lines.", valueName: "count"))
    var lines: Int?
    @Flag(name: [.short, .long], help: "Wait for further lines and print them.") var follow = false
    @OptionGroup var json: JSONOption

    func validate() throws {
        if let lines, lines < 0 { throw ValidationError("-n takes a number of lines") }
    }

    func run() async throws {
        switch try await LogSource.find(container?.path) {
        case .journal(let directory):
            let tool = JournalTool(container: directory, lines: lines, follows: follow)
            if !json.json { try tool.show() }
            var entries: [LogLine] = []
            try tool.read { entry in
                if follow { printFollowed(entry) } else { entries.append(entry) }
            }
            if !follow { try Printer.json(entries) }
        case .file(let path): try show(LogTail(path))
        }
    }

    private func show(_ tail: LogTail) throws {
        let lines = try tail.lines(atMost: lines ?? (follow ? 10 : nil))
        if json.json {
            let entries = lines.compactMap { LogLine($0) }
            if !follow { return try Printer.json(entries) }
            entries.forEach { printFollowed($0) }
        } else {
            try Printer.text(lines.map { Style.printable($0) + "\n" }.joined())
        }
        guard follow else { return }
        try tail.follow { line in
            if !json.json {
                do { try Printer.text(Style.printable(line) + "\n") } catch { Printer.stop(error) }
            } else if let entry = LogLine(line) {
                printFollowed(entry)
            }
        }
    }

    /// Ends without a word once the reader of standard output is gone.
    private func printFollowed(_ entry: LogLine) {
        do { try Printer.jsonLine(entry) } catch { Printer.stop(error) }
    }
}
