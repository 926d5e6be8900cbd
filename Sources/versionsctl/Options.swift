// Options and arguments that many commands share.

import ArgumentParser
import ControlProtocol
import VersionModel

/// A path as typed, byte for byte.
struct TypedPath: ExpressibleByArgument, Hashable, Sendable {
    var path: Path

    init?(argument: String) {
        let bytes = ArgumentBytes.bytes(argument)
        guard !bytes.isEmpty else { return nil }
        path = Path(bytes: bytes)
    }

    init(_ path: Path) { self.path = path }

    static var defaultCompletionKind: CompletionKind { .file() }
}

/// A moment as typed: TIME of DESIGN 3.3.
struct TypedTime: Hashable, Sendable {
    /// Some forms, for the help of an option.
    static let examples = "2h, yesterday 17:00 or 2026-11-21 10:33"
    /// All of them.
    static let forms = """
        10m, 5 minutes ago, yesterday, yesterday 17:00, monday, 17:00, 2026-11-21, 2026-11-21 10:33 or RFC 3339
        """

    var moment: Timestamp

    static func parse(_ argument: String) throws -> TypedTime {
        guard let time = TimeText.parse(argument, now: Words.now().nanoseconds) else {
            throw ValidationError("a time is written as \(forms)")
        }
        return TypedTime(moment: Timestamp(nanoseconds: time))
    }
}

/// A program or a process as typed.
enum TypedProgram {
    static func parse(_ argument: String) throws -> String {
        guard !argument.isEmpty else { throw ValidationError("give a program's name, or the number of its process") }
        return argument
    }
}

/// A user, a program or a process as typed.
enum TypedWho {
    static func parse(_ argument: String) throws -> String {
        guard !argument.isEmpty else { throw ValidationError("give a user, a program or the number of a process") }
        return argument
    }
}

/// Which container.
struct ContainerOption: ParsableArguments {
    @Option(help: ArgumentHelp("The container that PATH lies in.", valueName: "path"))
    var container: TypedPath?
}

/// Whether long output goes through a pager.
struct PagerOption: ParsableArguments {
    @Flag(name: .customLong("no-pager"), help: "Print without the pager (PAGER names it).")
    var isUnpaged = false

    /// JSON is for programs and is never paged.
    func start(besides json: JSONOption) {
        if !isUnpaged, !json.json { Pager.use() }
    }
}

/// Whether to print JSON.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false
}
