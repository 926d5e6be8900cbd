// Comparing versions with the user's own tools.

import ArgumentParser
import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compare versions.",
        discussion: """
            Without --version: the newest unresolved loser, else the version before, with the current one. With one: \
            that one with the current one. With two: the first with the second. VERSIONS_DIFF names another program \
            than diff -u.
            """)
    @Argument(help: "The document.") var file: TypedPath
    @Option(help: ArgumentHelp("Which version.", valueName: "id")) var version: [String] = []
    @OptionGroup var json: JSONOption
    @OptionGroup var container: ContainerOption

    func validate() throws {
        guard version.count <= 2 else { throw ValidationError("Give --version at most twice.") }
    }

    func run() async throws {
        let session = try await Session.open(file, container)
        let (old, new) = try await pair(session)
        if json.json { return try Printer.json([old, new]) }
        let style = Style.standardOutput()
        try Differ(old: old, new: new, name: session.shown(new.path), style: style).run()
    }

    private func pair(_ session: Session) async throws -> (VersionInfo, VersionInfo) {
        let second = try await session.call(
            ShowRequest(session.target, version: version.count == 2 ? version[1] : nil, content: true))
        if let first = version.first {
            return (try await session.call(ShowRequest(session.target, version: first, content: true)), second)
        }
        let others = try await session.call(HistoryRequest(session.target)).versions.filter {
            $0.id != second.id && !$0.lost
        }
        let chosen =
            others.first { $0.kind == .conflict } ?? others.first { second.parents.contains($0.id) } ?? others.first
        guard let chosen else {
            throw ControlError(.nothingToDo, "there is no other version to compare with", path: file.path,
                advice: "save it once more, or look at versionsctl history")
        }
        return (chosen, second)
    }
}

/// Runs the user's diff, through the user's pager on a terminal.
struct Differ {
    var old: VersionInfo
    var new: VersionInfo
    var name: Path
    var style: Style

    func run() throws {
        var pager: (process: pid_t, input: CInt)?
        if isatty(1) == 1 { pager = try startPager() }
        let output = pager?.input ?? 1
        let status: Int32
        if let program = getenv("VERSIONS_DIFF").map({ String(cString: $0) }), !program.isEmpty {
            status = try Subprocess.run(
                "sh", [Path("-c"), Path("\(program) \"$@\""), Path("versionsctl"), old.file, new.file],
                standard: [1: output])
        } else {
            let labels = [label(old), label(new)].flatMap { [Path("--label"), $0] }
            let colour = [Path(style.isColoured ? "--color=always" : "--color=never")]
            status = try Subprocess.run(
                "diff", [Path("-u")] + colour + labels + [Path("--"), old.file, new.file], standard: [1: output])
        }
        if let pager {
            close(pager.input)
            _ = Subprocess.wait(pager.process)
        }
        // diff(1): 0 equal, 1 different, more for trouble. Both are an answer here.
        guard status <= 1 || status == 128 + SIGPIPE else {
            // What was found has said itself what it failed of.
            let isMissing = status == 126 || status == 127
            throw ControlError(.failed, "the comparison failed with status \(status)", path: name,
                advice: isMissing ? "install diff, or name another program in VERSIONS_DIFF" : nil)
        }
    }

    private func label(_ version: VersionInfo) -> Path {
        let tail = "\t\(Words.exact(version.saved)) \(version.id.short) \(version.kind.rawValue)"
        return Path(bytes: name.bytes + Array(tail.utf8))
    }

    private func startPager() throws(ControlError) -> (pid_t, CInt)? {
        let program = getenv("PAGER").map { String(cString: $0) } ?? "less"
        guard !program.isEmpty, program != "cat" else { return nil }
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0, ends.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
            throw ControlError(system: "no pipe can be made", path: nil)
        }
        defer { close(ends[0]) }
        // As git does it: short output is not paged, colours are shown, the screen stays.
        let environment = getenv("LESS") == nil ? [("LESS", Path("FRX"))] : []
        let process = try Subprocess.start(
            "sh", [Path("-c"), Path(program)], environment: environment, standard: [0: ends[0]])
        return (process, ends[1])
    }
}
