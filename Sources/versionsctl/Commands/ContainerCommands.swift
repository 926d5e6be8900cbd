// Commands about a container that also work unmounted: check, config, forget; and simulate.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionsClient

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify every hash and every reference.",
        discussion: "Exits with 0 if all is clean, with 1 if something was found, with 2 if it failed.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @Flag(help: "Mend what can be mended.") var repair = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container, offline: true)
        let report = try await session.call(CheckRequest(repair: repair), progress: "checking")
        if json.json {
            try Printer.json(report)
        } else {
            try Printer.text(statusText().report(report, shown: session.shown))
        }
        if !report.findings.isEmpty { throw ExitCode(1) }
    }
}

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "config", abstract: "Show or set settings.")
    @Argument(help: "Such as stale-writes or history.max-file.") var key: String?
    @Argument(help: "In TOML, or bare text.") var value: String?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(nil, container, offline: true)
        if let key, let value {
            let setting = try await session.call(SetConfigRequest(key: key, value: value))
            if let note = setting.note { Printer.note("\(setting.key): \(note)") }
            if json.json { try Printer.json(setting) }
            return
        }
        let settings = try await session.call(ConfigRequest(key: key))
        if json.json { return try Printer.json(settings) }
        if key != nil, let setting = settings.first { return try Printer.text(setting.value + "\n") }
        let style = Style.standardOutput()
        var table = Table()
        for setting in settings {
            let isSet = setting.value != setting.standard
            // In one column, for one long value would push the notes of all out of sight.
            let note = setting.problem.map { ("# wrong: \(Style.printable($0))", Style.Colour.red) }
                ?? setting.note.map { ("# \(Style.printable($0))", Style.Colour.yellow) }
                ?? (isSet ? "# default: \(setting.standard)" : "", .dim)
            let value = style.paint("= " + Style.printable(setting.value), isSet ? .bold : nil)
            table.add([
                Table.Cell(setting.key),
                Table.Cell(note.0.isEmpty ? value : value + "  " + style.paint(note.0, note.1)),
            ])
        }
        try Printer.text(table.text(style))
    }
}

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove the versions and deleted files of an unmounted container; its files stay as they are.")
    @Argument(help: "The container's directory.") var directory: TypedPath
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        let place = try ContainerPlace.find(directory.path)
        guard place.path.bytes.isEmpty else {
            throw ControlError(
                .noContainer, "not a container's directory, but in \(place.root)", path: directory.path,
                advice: "name the directory that is to be forgotten, unmounted, as all that it lies in")
        }
        guard place.state == .unmounted else {
            let first = place.state == .dead ? "a dead mount lies over it" : "mounted"
            throw ControlError(.busy, first, path: directory.path, advice: "versionsctl unmount it first")
        }
        let client = try await Daemon.serveOffline(place.root)
        let status = try await client.call(ForgetRequest(confirmed: false))
        if !yes {
            let goes =
                "This removes \(Words.count(status.versions, "version")) of \(Words.count(status.items, "document")), "
                + "\(Words.count(status.conflicts, "unresolved conflict")) and "
                + "\(Words.count(status.deleted.count, "deleted entry")) of \(Style.printable(place.root)) for good, "
                + "\(Words.size(status.space.history + status.space.deleted)) in all; the files stay as they are"
            guard Question.canAsk else {
                throw ControlError(
                    .invalidValue, goes, path: directory.path, advice: "add --yes if that is what you want")
            }
            guard try Question.confirm(goes + ".") else { throw ExitCode(1) }
        }
        let gone = try await client.call(ForgetRequest(confirmed: true), progress: Printer.progress("forgetting"))
        Printer.endProgress()
        for note in gone.notes { Printer.note(Style.printable(note)) }
        if json.json { return try Printer.json(gone) }
        try Printer.text("\(Style.printable(directory.path)) is an ordinary directory again.\n")
    }
}

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Try what a conflict is like.", subcommands: [SimulateConflictCommand.self])
}

struct SimulateConflictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "conflict", abstract: "Make a conflict on a document.")
    @Argument(help: "The document.") var file: TypedPath
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(file, container)
        let document = try await session.call(SimulateConflictRequest(session.target))
        if json.json { return try Printer.json(document) }
        try Printer.text(session.versionText().conflicts([document]))
    }
}
