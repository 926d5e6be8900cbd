// Commands that bring back: restore and undelete.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Bring back a document's version, or a directory as of a time.")
    @Argument(help: "The document, or the directory.") var path: TypedPath
    @Option(help: ArgumentHelp("The version to bring back.", valueName: "id")) var version: String?
    @Option(
        help: ArgumentHelp("Bring the directory back as of this TIME: \(TypedTime.examples).", valueName: "time"),
        transform: TypedTime.parse)
    var at: TypedTime?
    @Option(help: ArgumentHelp("Put it here instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard (version == nil) != (at == nil) else { throw ValidationError("Give either --version ID or --at TIME.") }
    }

    func run() async throws {
        let session = try await Session.open(path, container)
        if let to, Files.exists(to.path) {
            throw ControlError(.exists, "exists", path: to.path, advice: "choose another name")
        }
        let inside = try to.flatMap { try session.inside($0) }
        if let at {
            guard session.targetPath == nil || !Files.exists(path.path) || Files.isDirectory(path.path) else {
                throw ControlError(
                    .invalidValue, "not a directory", path: path.path,
                    advice: "versionsctl history lists its versions, and restore --version brings one back")
            }
            if let to, inside == nil {
                throw ControlError(
                    .invalidValue, "lies outside the container", path: to.path,
                    advice: "restore to a path inside it and move that")
            }
            let request = RestoreDirectoryRequest(session.target, at: at.moment, to: inside)
            return try report(try await session.call(request, progress: "restoring"), session)
        }
        guard let version else { return }
        if let to, inside == nil {
            // Outside nothing is versioned: a plain copy.
            let info = try await session.call(ShowRequest(session.target, version: version))
            try Files.copy(info.file, toNew: to.path)
            let restored = Restored(document: absolutePath(to.path), entries: 1)
            return try RestoreReport.print(restored, as: to.path, "Restored", json: json.json)
        }
        try report(try await session.call(RestoreRequest(session.target, version: version, to: inside)), session)
    }

    private func report(_ restored: Restored, _ session: Session) throws {
        let shown = session.shown(restored.document, asked: to)
        try RestoreReport.print(restored, as: shown, "Restored", json: json.json)
        guard !json.json else { return }
        for exception in restored.problems {
            try Printer.text("\(Style.printable(session.shown(exception.path))): \(exception.problem)\n")
        }
    }
}

struct UndeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete", abstract: "Bring back what was deleted; a directory with all that went with it.",
        discussion: """
            Of a directory that is there it brings back what was deleted from it last. What was cut short goes on when \
            it is asked for again.
            """)
    @Argument(help: ArgumentHelp("What was deleted, or its id.", valueName: "path|id")) var path: TypedPath
    @Option(help: ArgumentHelp("Put it here instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        var session = try await Session.open(path, container, followingLastLink: false)
        let inside = try to.map { to in
            guard let inside = try session.inside(to) else {
                throw ControlError(
                    .invalidValue, "lies outside the container", path: to.path,
                    advice: "undelete to a path inside it and move that")
            }
            return inside
        }
        let restored = try await undelete(&session, to: inside)
        let shown = session.shown(restored.document, asked: to)
        try RestoreReport.print(restored, as: shown, "Undeleted", json: json.json)
        guard let first = restored.problems.first else { return }
        // The rest has come back, and asking again will not mind it.
        throw ControlError(
            .failed, "\(Words.count(restored.remaining, "entry")) did not come back, the first "
                + "\(Style.printable(session.shown(first.path))): \(first.problem)",
            path: shown, advice: "when that is mended, versionsctl undelete \(Style.printable(shown)) goes on")
    }
}

extension UndeleteCommand {
    /// A name may look like an id: where nothing has that, what was deleted under the name comes back.
    private func undelete(_ session: inout Session, to inside: Path?) async throws(ControlError) -> Restored {
        do {
            return try await session.call(UndeleteRequest(session.target, to: inside), progress: "undeleting")
        } catch {
            guard error.code == .notFound, var named = session.named(path) else { throw error }
            let request = UndeleteRequest(named.target, to: inside)
            guard let restored = try? await named.call(request, progress: "undeleting") else { throw error }
            swap(&session, &named)
            return restored
        }
    }
}

/// What restore and undelete say.
enum RestoreReport {
    static func print(_ restored: Restored, as shown: Path, _ verb: String, json: Bool) throws {
        if json { return try Printer.json(restored) }
        if restored.entries == 0, restored.displaced == 0 {
            return try Printer.text("\(Style.printable(shown)) is that already: nothing was changed.\n")
        }
        let entries = restored.entries == 1 ? "" : " (\(Words.count(restored.entries, "entry")))"
        let displaced = restored.displaced == 0
            ? "" : "; \(Words.count(restored.displaced, "newer name")) went to the deleted area"
        let text = "\(verb) \(Style.printable(shown))\(entries)\(displaced)"
        // A full stop behind `.` would be another directory.
        try Printer.text(text.hasSuffix(".") ? text + "\n" : text + ".\n")
    }
}
