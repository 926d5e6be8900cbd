// Bringing back versions of files, and directories as of a time.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring back a version, or a directory as of a time.",
        discussion: """
            Of a file alone it brings back the version before the current one; of a deleted file the version that it \
            had last. Restoring is a save: nothing is lost, and a second restore undoes the first.

            A directory takes --at or --before. Its names and contents become those of then, and newer names go to the \
            deleted area. --before means the moment before the first change in it by the last run of that program: \
            later changes by others are undone, too.

            \(VersionOptions.explanation)
            """)
    @Argument(help: ArgumentHelp("The files, or the directories.", valueName: "path")) var paths: [TypedPath]
    @OptionGroup var version: VersionOptions
    @Option(help: ArgumentHelp("Restore to this path instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        try version.requireOne()
        guard to == nil || paths.count == 1 else { throw ValidationError("--to takes one path") }
    }

    func run() async throws {
        let names = NamesInTurn(paths, "Restored", "restoring", json: json.json)
        try await names.run { name, other, line in
            let session = try await Session.open(name, container, reusing: other)
            let (found, path) = try await restore(name, session, line)
            var restored = found
            if !json.json, version.version?.id != nil { restored.version = nil }
            return NamesInTurn.Done(restored, as: path, session, told: problems(restored, session))
        }
    }

    private func restore(
        _ path: TypedPath, _ session: Session, _ line: ProgressLine?
    ) async throws -> (Restored, Path) {
        if let to, Files.exists(to.path) {
            throw ControlError(.exists, "exists", path: to.path, advice: "choose another name")
        }
        if session.targetPath != nil, Files.isDirectory(path.path) {
            return try await restoreDirectory(path, session, line)
        }
        do {
            return try await restoreFile(session, line)
        } catch let error as ControlError where error.code == .notFound && !Files.exists(path.path) {
            // It may have been a directory.
            guard version.moment.name != nil else { throw await deleted(path, session) ?? error }
            do {
                return try await restoreDirectory(path, session, line)
            } catch let other as ControlError {
                throw other.code == .notFound ? error : other
            }
        }
    }

    /// The error for a deleted directory, whose state without a time is that of its deletion; nil if it is none.
    private func deleted(_ path: TypedPath, _ session: Session) async -> ControlError? {
        guard let target = session.targetPath,
            let entries = try? await session.client.call(DeletedRequest(session.target)),
            entries.contains(where: { $0.path == target && $0.type == .directory })
        else { return nil }
        return ControlError(
            .invalidValue, "is a deleted directory", path: path.path,
            advice: "`versionsctl undelete \(Style.printable(path.path))` brings it back")
    }

    private func restoreFile(_ session: Session, _ line: ProgressLine?) async throws -> (Restored, Path) {
        let inside = try to.flatMap { try session.inside($0) }
        if let to, inside == nil {
            // Outside nothing is versioned: a plain copy.
            let name = version.name ?? (session.targetPath == nil ? nil : .previous)
            let info = try await session.call(ShowRequest(session.target, version: name, content: true))
            try Files.copy(info.file, toNew: to.path)
            return (Restored(document: absolutePath(to.path), entries: 1, version: info), to.path)
        }
        let request = RestoreRequest(session.target, version: version.name, to: inside)
        let restored = try await session.call(request, on: line)
        return (restored, session.shown(restored.document, asked: to))
    }

    private func restoreDirectory(
        _ path: TypedPath, _ session: Session, _ line: ProgressLine?
    ) async throws -> (Restored, Path) {
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
        let restored = try await session.call(request, on: line)
        return (restored, session.shown(restored.document, asked: to))
    }

    private func problems(_ restored: Restored, _ session: Session) -> [String] {
        restored.problems.map { exception in
            "\(Style.printable(session.shown(exception.path))): \(exception.problem)\n"
        }
    }
}
