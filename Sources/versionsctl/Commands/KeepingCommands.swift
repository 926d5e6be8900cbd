// Commands about what is kept: pin, unpin, thin, purge.

import ArgumentParser
import ControlProtocol
import VersionModel

struct PinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "pin", abstract: "Keep a version from being thinned.")
    @OptionGroup var arguments: PinArguments
    func run() async throws { try await arguments.run(pinned: true) }
}

struct UnpinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpin", abstract: "Let a pinned version be thinned.")
    @OptionGroup var arguments: PinArguments
    func run() async throws { try await arguments.run(pinned: false) }
}

struct PinArguments: ParsableArguments {
    @Argument(help: "The document.") var file: TypedPath
    @Option(help: ArgumentHelp("Which version.", valueName: "id")) var version: String
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
    static let configuration = CommandConfiguration(commandName: "thin", abstract: "Thin history by its schedule now.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @Flag(help: "Only say what would go.") var dryRun = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        let removed = try await session.call(ThinRequest(dryRun: dryRun), progress: "thinning")
        if json.json { return try Printer.json(removed) }
        if dryRun {
            let text = session.versionText()
            for version in removed.versions {
                try Printer.text("\(version.id.short)  \(Words.exact(version.saved))  "
                    + "\(Style.printable(text.shown(version.path)))\n")
            }
        }
        try Printer.text(statusText().removed(removed, dryRun: dryRun))
    }
}

struct PurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove for good: a document's other versions, or deleted files.")
    @Argument(help: "The document.") var file: TypedPath?
    @Option(help: ArgumentHelp("Only this version.", valueName: "id")) var version: String?
    @Flag(help: "Empty the deleted area.") var deleted = false
    @Option(
        help: ArgumentHelp("Only what was deleted before this TIME: \(TypedTime.forms).", valueName: "time"),
        transform: TypedTime.parse)
    var olderThan: TypedTime?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard deleted != (file != nil) else { throw ValidationError("Give either FILE or --deleted.") }
        guard !deleted || version == nil else { throw ValidationError("--version goes with FILE.") }
        guard deleted || olderThan == nil else { throw ValidationError("--older-than goes with --deleted.") }
    }

    func run() async throws {
        let session = try await Session.open(file, container)
        let removed =
            if deleted {
                try await session.call(PurgeDeletedRequest(before: olderThan?.moment), progress: "purging")
            } else {
                try await session.call(PurgeRequest(session.target, version: version), progress: "purging")
            }
        if json.json { return try Printer.json(removed) }
        try Printer.text(statusText().removed(removed))
    }
}
