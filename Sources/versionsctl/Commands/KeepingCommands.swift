// Commands about kept versions: pin, unpin, thin.

import ArgumentParser
import ControlProtocol
import VersionModel

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pin",
        abstract: "Keep a version until it is unpinned.")
    @OptionGroup var arguments: PinArguments
    func run() async throws { try await arguments.run(pinned: true) }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpin",
        abstract: "Release a pinned version for thinning.")
    @OptionGroup var arguments: PinArguments
    func run() async throws { try await arguments.run(pinned: false) }
}

struct PinArguments: ParsableArguments {
    @Argument(help: "The document.") var file: TypedPath
    @Option(
        help: ArgumentHelp("Which version: \(VersionName.forms)", valueName: "version"),
        completion: .custom(Completion.versions))
    var version: VersionName
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run(pinned: Bool) async throws {
        let session = try await Session.open(file, container)
        let info = try await session.call(PinRequest(session.target, version: version, pinned: pinned))
        if json.json { return try Printer.json(info) }
        try Printer.text("\(pinned ? "Pinned" : "Unpinned") \(info.id.short).\n")
    }
}

struct ThinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "thin",
        abstract: "Remove old versions by the schedule now.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @Flag(help: "Only list what the command would remove.") var dryRun = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        let removed = try await session.call(ThinRequest(dryRun: dryRun), progress: "thinning")
        if json.json { return try Printer.json(removed) }
        if dryRun {
            try Printer.text(session.versionText().goingVersions(removed.versions))
        }
        try Printer.text(statusText().removed(removed, dryRun: dryRun))
    }
}
