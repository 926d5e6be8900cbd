// Options that name a version, or a moment of a directory.

import ArgumentParser
import ControlProtocol

extension VersionName: ExpressibleByArgument {
    public init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }

    /// What `--version` takes.
    static let forms = "an id, previous, ~2, ~3 ..."
}

/// A version named by a count, a time or a program.
struct VersionOptions: ParsableArguments {
    /// For the discussion of each command that has these options.
    static let explanation = """
        VERSION is an id or its first digits, previous or ~1 for the version before the current one, ~2 for the one \
        before that, and so on: the order is that of versionsctl history, in which conflict versions are not counted. \
        A deleted file has no current version: ~1 is the one that it had last, marked so in its history. \
        Write --version=~2, for a shell may take ~2 alone for a directory. --before takes a program's name, or the \
        number of its process: it means the version before the last run of that program that saved the file.
        """

    @Option(
        help: ArgumentHelp("Which version: \(VersionName.forms)", valueName: "version"),
        completion: .custom(Completion.versions))
    var version: VersionName?
    @OptionGroup var moment: MomentOptions

    /// For the commands' own `validate`: of a group that is wrong the parser would take `--version` for the program's.
    func requireOne() throws {
        guard [version != nil, moment.at != nil, moment.before != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Give one of --version, --at and --before.")
        }
    }

    /// nil if nothing was given.
    var name: VersionName? { version ?? moment.name }
}

/// A moment, of a file or a directory.
struct MomentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("As of this TIME: \(TypedTime.examples).", valueName: "time"), transform: TypedTime.parse)
    var at: TypedTime?
    @Option(
        help: ArgumentHelp("As before this program ran last.", valueName: "program|pid"),
        completion: .custom(Completion.programs), transform: TypedProgram.parse)
    var before: String?

    var name: VersionName? { at.map { .at($0.moment) } ?? before.map { .before($0) } }
}
