// Commands of coordination: who presents what, and running a command under a claim.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionsClient

struct PresentersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presenters",
        abstract: "List the programs that show or edit files and are asked before other programs access them.")
    @Argument(help: "A path in the container.") var path: TypedPath?
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func run() async throws {
        let session = try await Session.open(path, container)
        let presenters = try await session.call(PresentersRequest())
        if json.json { return try Printer.json(presenters) }
        try Printer.text(statusText().presenters(presenters, shown: session.display.shown))
    }
}

struct CoordinateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coordinate", abstract: "Run a command that has files to itself.",
        discussion: """
            Waits for the claims of other programs on the files, asks programs that show the files to save or close \
            them, and runs the command. The claim ends with the command. The exit status is the command's, 125 without \
            a claim, 126 if the command cannot be run, and 127 if it is not found.
            """,
        subcommands: [CoordinateReadCommand.self, CoordinateWriteCommand.self])
}

struct CoordinateReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Run a command that reads files.",
        usage: "versionsctl coordinate read [OPTIONS] PATH... -- COMMAND [ARGUMENT...]")
    @Flag(help: "Do not ask programs that show the files to save first.") var withoutChanges = false
    @Flag(help: "The command reads attributes only.") var metadataOnly = false
    @OptionGroup var container: ContainerOption
    @OptionGroup var run: CommandUnderClaim

    func validate() throws { try run.requireNoOptions(["--without-changes", "--metadata-only", "--container"]) }

    func run() async throws {
        let options = [(withoutChanges, "withoutChanges"), (metadataOnly, "immediatelyAvailableMetadataOnly")]
        try await run.execute(.reading, options.filter(\.0).map(\.1), container)
    }
}

struct CoordinateWriteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Run a command that writes, moves or deletes files.",
        usage: "versionsctl coordinate write [OPTION] PATH... -- COMMAND [ARGUMENT...]")

    enum Purpose: String, EnumerableFlag {
        case forDeleting, forMoving, forMerging, forReplacing, metadataOnly

        static func help(for value: Purpose) -> ArgumentHelp? {
            switch value {
            case .forDeleting: "The command deletes the files."
            case .forMoving: "The command moves the files."
            case .forMerging: "Programs that show the files save first."
            case .forReplacing: "The command replaces the files."
            case .metadataOnly: "The command changes attributes only."
            }
        }

        /// As it is typed.
        var option: String {
            "--" + rawValue.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
        }
    }

    @Flag(exclusivity: .exclusive) var purpose: Purpose?
    @OptionGroup var container: ContainerOption
    @OptionGroup var run: CommandUnderClaim

    func validate() throws { try run.requireNoOptions(Purpose.allCases.map(\.option) + ["--container"]) }

    func run() async throws {
        let option = purpose.map { $0 == .metadataOnly ? "contentIndependentMetadataOnly" : $0.rawValue }
        try await run.execute(.writing, option.map { [$0] } ?? [], container)
    }
}

/// The files of a claim, and the command that is run under it.
struct CommandUnderClaim: ParsableArguments {
    /// A word, byte for byte.
    struct Word: ExpressibleByArgument {
        var path: Path
        init?(argument: String) { path = Path(bytes: ArgumentBytes.bytes(argument)) }
    }

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp(
            "Files and directories of one container, existing or not; then -- and the command.",
            valueName: "path"))
    var words: [Word] = []

    /// What tells commands that run under a claim which one, so that they do not wait for it.
    private static let purposeVariable = "VERSIONS_PURPOSE"
    private static let terminator = Path("--")

    private var paths: [TypedPath] { words.prefix { $0.path != Self.terminator }.map { TypedPath($0.path) } }
    private var command: [Path] { words.drop { $0.path != Self.terminator }.dropFirst().map(\.path) }

    func validate() throws {
        guard !paths.isEmpty else { throw ValidationError("missing files and command") }
        guard !command.isEmpty else { throw ValidationError("missing command after --") }
    }

    /// What looks like an option has come here because the parser does not know it, or because it stands behind a file.
    /// - Parameter known: the command's own options.
    func requireNoOptions(_ known: [String]) throws {
        guard let index = paths.firstIndex(where: { $0.path.bytes.first == 45 }) else { return }
        let word = paths[index].path
        let name = Path(bytes: Array(word.bytes.prefix { $0 != 61 })).description
        guard index > 0, known.contains(name) else { throw ValidationError("unknown option \(Style.printable(word))") }
        throw ValidationError("options come before the files: \(Style.printable(word))")
    }

    func execute(_ mode: AccessRequest.Mode, _ options: [String], _ container: ContainerOption) async throws {
        let (session, claim): (Session, ClaimRequest.Reply)
        do throws(ControlError) {
            session = try await Session.open(paths.first, container)
            claim = try await self.claim(mode, options, session)
        } catch {
            Printer.endProgress()
            Printer.error(Diagnostic(error))
            throw ExitCode(125)
        }
        let display = session.display
        session.client.watchClaims { notice in
            switch notice {
            case .disturbed(let notice):
                let path = Style.printable(display.shown(notice.path))
                Printer.note("A program that does not wait for claims has \(notice.disturbance) \(path).")
            case .revoked:
                Printer.note("The claim was revoked: this process did not answer while others waited. Was it stopped?")
            }
        }
        let status = runCommand(claim.purpose)
        session.client.release(claim.claim)
        throw ExitCode(status)
    }

    private func claim(
        _ mode: AccessRequest.Mode, _ options: [String], _ session: Session
    ) async throws(ControlError) -> ClaimRequest.Reply {
        var accesses: [AccessRequest] = []
        for path in paths {
            guard let inside = try session.inside(path) else {
                throw ControlError(.noContainer, "not in the container \(session.place.root)", path: path.path)
            }
            accesses.append(AccessRequest(mode, inside, options: options))
        }
        let purpose = getenv(Self.purposeVariable).map { String(cString: $0) }
        do {
            return try await session.client.claim(accesses, purpose: purpose) { notice in
                let how = notice.isHolder ? "has a claim" : "shows the file and has not answered"
                Printer.note("Waiting: \(notice.program) (\(notice.pid)) \(how).")
            }
        } catch {
            var error = error
            error.path = error.path.map { session.shown($0) } ?? paths.first?.path
            throw error
        }
    }

    /// The command's exit status.
    private func runCommand(_ purpose: String) -> Int32 {
        do {
            return try SupervisedCommand.run(
                command[0].description, Array(command.dropFirst()),
                environment: [(Self.purposeVariable, Path(purpose))])
        } catch {
            Printer.error(Diagnostic(error))
            return error.errno == ENOENT ? 127 : 126
        }
    }
}
