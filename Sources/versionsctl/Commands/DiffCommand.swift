// Comparing versions, files and directories with the user's own tools.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compare versions, files, or a directory over time.",
        discussion: """
            diff FILE compares the newest unresolved conflict version, else the version before, with the current one. \
            With --version, --at or --before that version is compared with the current one; with --version twice the \
            first is compared with the second; with OTHER the file is compared with that file. A directory takes --at \
            or --before: each changed file is compared, and names that came or went are listed. VERSIONS_DIFF names \
            another program than diff -u; with -U or --stat, plain diff is used.

            \(VersionOptions.explanation)
            """)
    @Argument(help: "The file, or the directory.") var file: TypedPath
    @Argument(help: "Another file to compare with.") var other: TypedPath?
    @Option(
        help: ArgumentHelp("Which version: \(VersionName.forms)", valueName: "version"),
        completion: .custom(Completion.versions))
    var version: [VersionName] = []
    @OptionGroup var moment: MomentOptions
    @Option(name: [.customShort("U"), .customLong("unified")], help: "Lines of context.") var context: UInt16?
    @Flag(help: "Only count the lines that were added and removed.") var stat = false
    @OptionGroup var pager: PagerOption
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard version.count <= 2 else { throw ValidationError("Give --version at most twice.") }
        guard [!version.isEmpty, moment.at != nil, moment.before != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --version, --at and --before.")
        }
        guard other == nil || version.count < 2 else {
            throw ValidationError("Give --version once with two files.")
        }
    }

    func run() async throws {
        let session = try await Session.open(file, container)
        let output = DiffOutput(context: context.map { Int($0) }, isCounting: stat, isPaged: !pager.isUnpaged)
        if other == nil, session.targetPath != nil, isDirectory(session) {
            return try await compareDirectory(session, output)
        }
        let (old, new) = try await pair(session)
        if json.json { return try Printer.json([old.info, new.info].compactMap { $0 }) }
        try Differ(output: output, style: .standardOutput()).run([DiffPair(old: old.side, new: new.side)])
    }

    // MARK: Two versions or files

    private typealias Found = (info: VersionInfo?, side: DiffSide)

    private func pair(_ session: Session) async throws -> (Found, Found) {
        if let other {
            let name = version.first ?? moment.name
            return (try await found(name, session), try await otherFile(other))
        }
        let name = version.first ?? moment.name
        let second = try await found(version.count == 2 ? version[1] : nil, session)
        if let name { return (try await found(name, session), second) }
        let others = try await session.call(HistoryRequest(session.target)).versions.filter {
            $0.id != second.info?.id && !$0.lost
        }
        let chosen = others.first { $0.kind == .conflict }
            ?? others.first { second.info?.parents.contains($0.id) ?? false } ?? others.first
        guard let chosen else {
            throw ControlError(.nothingToDo, "no other version to compare with", path: file.path,
                advice: "`versionsctl history` lists the versions of a file")
        }
        return ((chosen, DiffSide(chosen, as: session.shown(chosen.path))), second)
    }

    private func found(_ name: VersionName?, _ session: Session) async throws -> Found {
        let info = try await session.call(ShowRequest(session.target, version: name, content: true))
        return (info, DiffSide(info, as: session.shown(info.path)))
    }

    /// A file of a container, or any other.
    private func otherFile(_ other: TypedPath) async throws -> Found {
        do {
            return try await found(nil, try await Session.open(other, container))
        } catch let error as ControlError where Files.exists(other.path) {
            // Of what has no versions the file itself is compared.
            guard [.noContainer, .notFound, .notMounted].contains(error.code) else { throw error }
            if Files.isDirectory(other.path) {
                throw ControlError(.invalidValue, "is a directory", path: other.path, advice: "give two files")
            }
            return (nil, DiffSide(file: other.path, label: other.path))
        }
    }

    // MARK: A directory

    private func isDirectory(_ session: Session) -> Bool {
        Files.isDirectory(file.path) || !Files.exists(file.path) && moment.name != nil && file.path.bytes.last == 47
    }

    private func compareDirectory(_ session: Session, _ output: DiffOutput) async throws {
        guard moment.name != nil else {
            throw ControlError(
                .invalidValue, "is a directory", path: file.path,
                advice: "give a time with --at, or a program with --before")
        }
        let request = CompareDirectoryRequest(session.target, at: moment.at?.moment, before: moment.before)
        let comparison = try await session.call(request, progress: "comparing")
        if json.json { return try Printer.json(comparison) }
        let pairs = comparison.entries.map { DiffPair($0, at: comparison.at, as: session.shown($0.path)) }
        if pairs.isEmpty {
            return try Printer.text("Nothing differs from \(Words.exact(comparison.at)).\n")
        }
        try Differ(output: output, style: .standardOutput()).run(pairs)
    }
}
