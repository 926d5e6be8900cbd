// Commands about a container that also work unmounted: check, config, forget; and simulate.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionsClient

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify the versions and the catalog.",
        discussion: "The exit status is 0 if no fault was found, 1 if one was found, and 2 if the check failed.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @Flag(help: "Repair the faults that can be repaired.") var repair = false
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
    @Argument(
        help: "A setting, such as stale-writes or history.max-file.", completion: .custom(Completion.settings))
    var key: String?
    @Argument(help: "Its new value, in TOML or as plain text.", completion: .custom(Completion.values))
    var value: String?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(nil, container, offline: true)
        if let key { try await requireKnown(key, session) }
        if let key, let value {
            let setting = try await session.call(SetConfigRequest(key: key, value: value))
            if let note = setting.note { Printer.note("\(setting.key): \(note)") }
            if json.json { try Printer.json(setting) }
            return
        }
        let settings = try await session.call(ConfigRequest(key: key))
        if json.json { return try Printer.json(settings) }
        if key != nil, let setting = settings.first { return try Printer.text(setting.value + "\n") }
        try Printer.text(SettingsText(style: .standardOutput()).list(settings))
    }
}

extension ConfigCommand {
    /// Throws with the settings that may have been meant if there is none of this name.
    private func requireKnown(_ key: String, _ session: Session) async throws(ControlError) {
        // Where the settings cannot be read the command itself says why.
        guard let settings = try? await session.client.call(ConfigRequest(key: nil)) else { return }
        let keys = settings.map(\.key)
        guard !keys.contains(key) else { return }
        let last = keys.filter { $0.split(separator: ".").last.map(String.init) == key }
        let likely = (last.isEmpty ? Likeness.nearest(to: key, among: keys) : last).map { "`\($0)`" }
        let list = "`versionsctl config` lists the settings"
        throw ControlError(
            .invalidValue, "no setting \(Style.printable(key))",
            advice: likely.isEmpty ? list : "did you mean \(likely.joined(separator: " or "))? " + list)
    }
}

struct ForgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove the versions and deleted files of an unmounted container; its files stay as they are.")
    @Argument(help: "The container's directory.") var directory: TypedPath
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var json: JSONOption

    func run() async throws {
        let place = try ContainerPlace.find(directory.path)
        guard place.path.bytes.isEmpty else {
            throw ControlError(
                .noContainer, "not a container of its own, but a directory in \(place.root)", path: directory.path,
                advice: "unmount that container, and name the directory to forget")
        }
        guard place.state == .unmounted else {
            let first = place.state == .dead ? "a dead mount covers it" : "mounted"
            throw ControlError(.busy, first, path: directory.path, advice: "run `versionsctl unmount` first")
        }
        let client = try await Daemon.serveOffline(place.root)
        let status = try await client.call(ForgetRequest(confirmed: false))
        if !yes {
            let goes =
                "This removes \(Words.count(status.versions, "version")) of \(Words.count(status.items, "document")), "
                + "\(Words.count(status.conflicts, "unresolved conflict")) and "
                + "\(Words.count(status.deleted.count, "deleted entry")) of \(Style.printable(place.root)) for good, "
                + "\(Words.size(status.space.history + status.space.deleted)) in all. The files stay as they are"
            guard Question.canAsk else {
                throw ControlError(
                    .invalidValue, goes, path: directory.path, advice: "--yes confirms it")
            }
            guard try Question.confirm(goes + ".") else { throw ExitCode(1) }
        }
        let gone = try await client.call(ForgetRequest(confirmed: true), progress: Printer.progress("forgetting"))
        Printer.endProgress()
        LocalTraces.remove(place.root)
        for note in gone.notes { Printer.note(Style.printable(note)) }
        if json.json { return try Printer.json(gone) }
        try Printer.text("\(Style.printable(directory.path)) is an ordinary directory again.\n")
    }
}

struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Make a conflict to try out the commands.", subcommands: [SimulateConflictCommand.self])
}

struct SimulateConflictCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "conflict",
        abstract: "Add a conflicting version to a document.")
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
