// Bringing back what was deleted.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

struct UndeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undelete", abstract: "Bring back a deleted file or directory.",
        discussion: """
            A directory comes back with its files. For an existing directory, the files that were deleted from it last \
            come back. After an interruption, the same command brings back the rest.
            """)
    @Argument(
        help: ArgumentHelp("The paths of the deleted files or directories, or their ids.", valueName: "path|id"),
        completion: .custom(Completion.deleted))
    var paths: [TypedPath]
    @Option(help: ArgumentHelp("Undelete to this path instead.", valueName: "path")) var to: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard to == nil || paths.count == 1 else { throw ValidationError("--to takes one path") }
    }

    func run() async throws {
        let names = NamesInTurn(paths, "Undeleted", "undeleting", json: json.json)
        try await names.run { name, other, line in
            var session = try await Session.open(name, container, followingLastLink: false, reusing: other)
            let inside = try to.map { to in
                guard let inside = try session.inside(to) else {
                    throw ControlError(
                        .invalidValue, "lies outside the container", path: to.path,
                        advice: "undelete to a path in the container, and move the file from there")
                }
                return inside
            }
            let restored: Restored
            do throws(ControlError) {
                restored = try await undelete(name, &session, to: inside, line)
            } catch {
                throw Self.explained(error, name)
            }
            let shown = session.shown(restored.document, asked: to)
            return NamesInTurn.Done(restored, as: shown, session, failure: failure(restored, as: shown, session))
        }
    }

    /// Of a name that is nowhere, "here" says nothing.
    private static func explained(_ error: ControlError, _ name: TypedPath) -> ControlError {
        guard error.code == .nothingToDo, !Files.exists(name.path) else { return error }
        var error = error
        error.message = "nothing deleted has this name"
        if error.advice?.hasPrefix("did you mean") != true {
            error.advice = "`versionsctl deleted` lists names and ids; an id needs four digits at least"
        }
        return error
    }

    /// What did not come back. The rest has, and asking again will not mind it.
    private func failure(_ restored: Restored, as shown: Path, _ session: Session) -> ControlError? {
        guard let first = restored.problems.first else { return nil }
        return ControlError(
            .failed, "\(Words.count(restored.remaining, "entry")) did not come back, the first "
                + "\(Style.printable(session.shown(first.path))): \(first.problem)",
            path: shown, advice: "`versionsctl undelete \(Style.printable(shown))` brings back the rest")
    }

    /// A name may look like an id: what was deleted under the name comes before what has the id.
    private func undelete(
        _ path: TypedPath, _ session: inout Session, to inside: Path?, _ line: ProgressLine?
    ) async throws(ControlError) -> Restored {
        if var named = session.named(path) {
            do {
                let restored = try await named.call(UndeleteRequest(named.target, to: inside), on: line)
                swap(&session, &named)
                return restored
            } catch {
                guard error.code == .notFound || error.code == .nothingToDo else { throw error }
            }
        }
        return try await session.call(UndeleteRequest(session.target, to: inside), on: line)
    }
}
