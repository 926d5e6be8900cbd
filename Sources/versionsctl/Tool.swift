// The commands, and what becomes of their errors: two lines, and an exit status (DESIGN 3.3).

import ArgumentParser
import ControlProtocol
import Glibc

/// `versionsctl`.
struct Tool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versionsctl",
        abstract: "Lists, compares, resolves and restores versions kept by VersionsFS.",
        discussion: """
            The container is found through the path, else through the current directory. ID is the id of a version or \
            an item, or its first digits. TIME is \(TypedTime.forms). `versionsctl --version` prints the program's \
            version.
            """,
        groupedSubcommands: [
            CommandGroup(name: "Containers:", subcommands: [
                MountCommand.self, UnmountCommand.self, ListCommand.self, StatusCommand.self, LogsCommand.self,
                ForgetCommand.self, CheckCommand.self, ConfigCommand.self, SpaceCommand.self,
            ]),
            CommandGroup(name: "Versions:", subcommands: [
                LogCommand.self, HistoryCommand.self, ShowCommand.self, DiffCommand.self, BlameCommand.self,
                RestoreCommand.self, PinCommand.self, UnpinCommand.self, ThinCommand.self, PurgeCommand.self,
            ]),
            CommandGroup(name: "Conflicts:", subcommands: [
                ConflictsCommand.self, ResolveCommand.self, SimulateCommand.self,
            ]),
            CommandGroup(name: "Deleted files:", subcommands: [DeletedCommand.self, UndeleteCommand.self]),
            CommandGroup(name: "Activity:", subcommands: [
                WatchCommand.self, QueryCommand.self, ClaimsCommand.self, PresentersCommand.self,
                CoordinateCommand.self,
            ]),
            CommandGroup(name: "The shell:", subcommands: [CompletionCommand.self, ManCommand.self]),
        ])

    /// Runs a command line; gives the exit status.
    static func run(_ words: [String]) async -> Int32 {
        let arguments = DashedWords.spread(words)
        Printer.prepare(for: arguments)
        if let word = DashedWords.unknown(arguments) {
            Printer.error(DashedWords.diagnostic(word, arguments))
            return 64
        }
        if let unknown = unknownHelp(arguments) {
            Printer.error(unknown)
            return 64
        }
        // Not the parser's own: it would list it beside `--version ID` in the help of every command.
        if arguments == ["--version"] {
            try? Files.write(Array((toolVersion + "\n").utf8), to: 1, path: nil)
            return 0
        }
        do {
            // The pager has the terminal until it ends: what went wrong is said after that.
            defer { Pager.finish() }
            var command = try await asyncParseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            return 0
        } catch let error as ControlError where error.errno == EPIPE && Pager.isLeft {
            return 0
        } catch let error as ControlError {
            Printer.endProgress()
            Printer.error(Diagnostic(error))
            return failureStatus(arguments)
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            return say(error, arguments)
        }
    }

    /// What the parser has to say: a help that was asked for, or what is wrong.
    private static func say(_ error: any Error, _ arguments: [String]) -> Int32 {
        let status = exitCode(for: error)
        let text = fullMessage(for: error)
        if status == .validationFailure {
            if let unknown = unknownOption(arguments, message(for: error)) {
                Printer.error(unknown)
                return 64
            }
            let (known, listed) = commandNames
            Printer.error(
                UsageLine.of(printable(message(for: error)), text, arguments, known: known, commands: listed))
            return 64
        }
        let bytes = text.isEmpty ? [] : ArgumentBytes.bytes(UsageLine.wrapped(text, columns: columns)) + [10]
        try? Files.write(bytes, to: status.isSuccess ? 1 : 2, path: nil)
        return status.isSuccess ? 0 : 1
    }

    /// The names of all commands, and of those that the help lists.
    private static var commandNames: (known: [String], listed: [String]) {
        let all = configuration.groupedSubcommands.flatMap(\.subcommands).map { $0.configuration }
        return (["help"] + all.compactMap(\.commandName), all.filter(\.shouldDisplay).compactMap(\.commandName))
    }

    /// What is said of `help WORD` where no command has that name: the parser prints the general help.
    private static func unknownHelp(_ arguments: [String]) -> Diagnostic? {
        let (known, listed) = commandNames
        guard arguments.first == "help", let word = arguments.dropFirst().first, !word.hasPrefix("-"),
            !known.contains(word)
        else { return nil }
        return UsageLine.unknown(command: word, commands: listed)
    }

    /// As the parser wraps help: the terminal's, else 80.
    private static var columns: Int { Style.standardOutput().width ?? TerminalWidth.named }

    /// What is said of an option that a command does not have, where the parser has something to say of that.
    private static func unknownOption(_ arguments: [String], _ message: String) -> Diagnostic? {
        let starts = ["missing expected argument", "unknown option"]
        guard starts.contains(where: { message.lowercased().hasPrefix($0) }), let command = command(arguments),
            command.configuration.subcommands.isEmpty,
            let unknown = UnknownOption(arguments, help: helpMessage(for: command))
        else { return nil }
        return unknown.diagnostic(command: arguments.first ?? "", usage: usage(arguments))
    }

    private static func command(_ arguments: [String]) -> (any ParsableCommand.Type)? {
        let commands = configuration.groupedSubcommands.flatMap(\.subcommands)
        return commands.first { $0.configuration.commandName == arguments.first }
    }

    /// How the words of a command go.
    static func usage(_ arguments: [String]) -> String {
        guard let command = command(arguments) else { return UsageLine.general }
        let text = usageString(for: command)
        return text.split(separator: "\n").first.map { String($0.trimmingPrefix("Usage: ")) } ?? UsageLine.general
    }

    private static func printable(_ text: String) -> String {
        Style.printable(Path(bytes: ArgumentBytes.bytes(text)))
    }

    /// `check` and `conflicts --exit-code` say 1 for what they found, so 2 for failing.
    private static func failureStatus(_ arguments: [String]) -> Int32 {
        let command = arguments.first { !$0.hasPrefix("-") }
        return command == "check" || (command == "conflicts" && arguments.contains("--exit-code")) ? 2 : 1
    }
}
