// Commands that bring back: restore and undelete.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring back a file's version, or a directory as of a time.",
        discussion: """
            Of a file alone it brings back the version before the current one; of a deleted file the version that it \
            had last. Restoring is a save: nothing is lost, and a second restore undoes the first.

            A directory takes --at or --before. Its names and contents become those of then, and newer names go to the \
            deleted area. --before means the moment before the first change in it by the last run of that program: \
            later changes by others are undone, too.

            \(VersionOptions.explanation)
            """)
    @Argument(help: "The file, or the directory.") var path: TypedPath
    @OptionGroup var version: VersionOptions
    @Option(help: ArgumentHelp("Restore to this path instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws { try version.requireOne() }

    func run() async throws {
        let session = try await Session.open(path, container)
        if let to, Files.exists(to.path) {
            throw ControlError(.exists, "exists", path: to.path, advice: "choose another name")
        }
        if session.targetPath != nil, Files.isDirectory(path.path) { return try await restoreDirectory(session) }
        do {
            try await restoreFile(session)
        } catch let error as ControlError where error.code == .notFound && !Files.exists(path.path) {
            // It may have been a directory.
            guard version.moment.name != nil else { throw error }
            do {
                try await restoreDirectory(session)
            } catch let other as ControlError {
                throw other.code == .notFound ? error : other
            }
        }
    }

    private func restoreFile(_ session: Session) async throws {
        let inside = try to.flatMap { try session.inside($0) }
        if let to, inside == nil {
            // Outside nothing is versioned: a plain copy.
            let name = version.name ?? (session.targetPath == nil ? nil : .previous)
            let info = try await session.call(ShowRequest(session.target, version: name, content: true))
            try Files.copy(info.file, toNew: to.path)
            return try report(Restored(document: absolutePath(to.path), entries: 1, version: info), as: to.path)
        }
        let request = RestoreRequest(session.target, version: version.name, to: inside)
        let restored = try await session.call(request)
        try report(restored, as: session.shown(restored.document, asked: to))
    }

    private func restoreDirectory(_ session: Session) async throws {
        let moment = version.moment
        guard moment.name != nil else {
            throw ControlError(
                .invalidValue, "is a directory", path: path.path,
                advice: "give a time with --at, or a program with --before")
        }
        let inside = try to.flatMap { try session.inside($0) }
        if let to, inside == nil {
            throw ControlError(
                .invalidValue, "lies outside the container", path: to.path,
                advice: "restore to a path in the container, and move the directory from there")
        }
        let request = RestoreDirectoryRequest(
            session.target, at: moment.at?.moment, before: moment.before, to: inside)
        let restored = try await session.call(request, progress: "restoring")
        try report(restored, as: session.shown(restored.document, asked: to))
        guard !json.json else { return }
        for exception in restored.problems {
            try Printer.text("\(Style.printable(session.shown(exception.path))): \(exception.problem)\n")
        }
    }

    private func report(_ restored: Restored, as shown: Path) throws {
        var restored = restored
        if !json.json, version.version?.id != nil { restored.version = nil }
        try RestoreReport.print(restored, as: shown, "Restored", json: json.json)
    }
}

struct UndeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete", abstract: "Bring back a deleted file or directory.",
        discussion: """
            A directory comes back with its files. For an existing directory, the files that were deleted from it last \
            come back. After an interruption, the same command brings back the rest.
            """)
    @Argument(
        help: ArgumentHelp("The path of the deleted file or directory, or its id.", valueName: "path|id"),
        completion: .custom(Completion.deleted))
    var path: TypedPath
    @Option(help: ArgumentHelp("Restore to this path instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        var session = try await Session.open(path, container, followingLastLink: false)
        let inside = try to.map { to in
            guard let inside = try session.inside(to) else {
                throw ControlError(
                    .invalidValue, "lies outside the container", path: to.path,
                    advice: "undelete to a path in the container, and move the file from there")
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
            path: shown, advice: "`versionsctl undelete \(Style.printable(shown))` brings back the rest")
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
            return try Printer.text("Nothing to do: \(Style.printable(shown)) is unchanged.\n")
        }
        let entries = restored.entries == 1 ? "" : " (\(Words.count(restored.entries, "entry")))"
        let displaced = restored.displaced == 0
            ? "" : "; \(Words.count(restored.displaced, "newer name")) moved to the deleted area"
        let text = "\(verb) \(Style.printable(shown))\(version(restored))\(entries)\(displaced)"
        // A full stop behind `.` would be another directory.
        try Printer.text(text.hasSuffix(".") ? text + "\n" : text + ".\n")
    }

    /// Which version it is, where it was not named by its id.
    private static func version(_ restored: Restored) -> String {
        guard let version = restored.version else { return "" }
        let program = version.program.isEmpty ? "" : " by \(Style.printable(version.program))"
        return " as saved at \(Words.exact(version.saved))\(program)"
    }
}
