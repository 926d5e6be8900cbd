// Removing for good: asks first where a person can answer.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct PurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove for good: a document's other versions, or deleted files.",
        discussion: """
            The current version, the other versions of unresolved conflicts and what they are compared with stay, and \
            so does what is pinned, unless --force takes it too. On a terminal it says what would go, and asks.
            """)
    @Argument(help: "The document; with --deleted what was deleted, there and below, or the id of an entry.")
    var file: TypedPath?
    @Option(
        help: ArgumentHelp("Only this version: \(VersionName.forms)", valueName: "version"),
        completion: .custom(Completion.versions))
    var version: VersionName?
    @Flag(help: "Empty the deleted area, or what of it was deleted at this path.") var deleted = false
    @Option(
        help: ArgumentHelp("Only what was deleted before this TIME: \(TypedTime.examples).", valueName: "time"),
        transform: TypedTime.parse)
    var olderThan: TypedTime?
    @Flag(help: "Only list what the command would remove.") var dryRun = false
    @Flag(help: "Also remove pinned versions, and deleted files with pinned versions.") var force = false
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard deleted || file != nil else { throw ValidationError("missing FILE or --deleted") }
        guard !deleted || version == nil else { throw ValidationError("--version needs FILE") }
        guard deleted || olderThan == nil else { throw ValidationError("--older-than needs --deleted") }
    }

    mutating func run() async throws {
        let session = try await Session.open(file, container, followingLastLink: !deleted)
        if let name = version, name.id == nil {
            // A save before the answer to the question would shift what the name stands for.
            version = .id(try await session.call(ShowRequest(session.target, version: name)).id.hex)
        }
        if dryRun { return try report(try await preview(session), session) }
        if !yes, Question.canAsk {
            let going = try await preview(session)
            // An empty purge needs no answer.
            guard let amount = statusText().amount(going) else { return try report(going, session) }
            let question = "This removes \(amount)\(place(session, going)), for good.\n" + statusText().pinned(going)
            guard try Question.confirm(question.dropLast().description) else { throw ExitCode(1) }
        }
        try report(try await purge(session), session)
    }

    private func purge(_ session: Session) async throws(ControlError) -> Removed {
        let all: Bool? = force ? true : nil
        if deleted {
            let request = PurgeDeletedRequest(entries(session), before: olderThan?.moment, force: all)
            return try await session.call(request, progress: "purging")
        }
        let request = PurgeRequest(session.target, version: version, force: all)
        return try await session.call(request, progress: "purging")
    }

    /// A daemon without previews refuses, and removes nothing.
    private func preview(_ session: Session) async throws(ControlError) -> Removed {
        let all: Bool? = force ? true : nil
        do throws(ControlError) {
            if deleted {
                return try await session.call(
                    PreviewPurgeDeletedRequest(entries(session), before: olderThan?.moment, force: all),
                    progress: "looking")
            }
            return try await session.call(
                PreviewPurgeRequest(session.target, version: version, force: all), progress: "looking")
        } catch {
            guard error.code == .unknownMethod else { throw error }
            throw ControlError(
                .unknownMethod,
                "the daemon is older than versionsctl and cannot say what would go; nothing was removed",
                path: error.path, advice: "unmount the container and mount it again, which starts a new daemon")
        }
    }

    /// The place that deleted files are removed of; nil: all.
    private func entries(_ session: Session) -> Target? { file == nil ? nil : session.target }

    /// What it is that goes. An id says nothing to people: they are told the document's name.
    private func place(_ session: Session, _ going: Removed) -> String {
        guard let file else { return " of the container \(Style.printable(session.place.root))" }
        guard session.targetPath == nil else { return " of \(Style.printable(file.path))" }
        let top = going.deleted?.map(\.path).min { $0.bytes.count < $1.bytes.count }
        guard let path = top ?? going.versions.first?.path else { return " of \(Style.printable(file.path))" }
        return " of \(Style.printable(session.shown(path)))"
    }

    private func report(_ removed: Removed, _ session: Session) throws {
        if json.json { return try Printer.json(removed) }
        if dryRun {
            let text = session.versionText()
            try Printer.text(text.goingVersions(removed.versions) + text.goingEntries(removed.deleted ?? []))
        }
        try Printer.text(statusText().removed(removed, dryRun: dryRun))
    }
}
