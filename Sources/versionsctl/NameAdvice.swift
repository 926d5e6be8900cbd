// What may have been meant by a name that is not there: its new name, a name like it in its directory, or a deleted
// one.

import ControlProtocol
import VersionsClient

/// Hints about names.
struct NameAdvice {
    var session: Session

    /// An error that a path is not there, with a better hint if there is one.
    func advised(_ error: ControlError) async -> ControlError {
        var error = error
        if let renamed = error.renamed {
            error.advice = "renamed to \(Style.printable(session.shown(renamed)))"
            return error
        }
        guard let typed = session.typed, session.targetPath != nil else { return error }
        switch error.code {
        case .notFound where error.advice == nil && !Files.exists(typed):
            let likely = neighbors(of: typed)
            let gone = likely.isEmpty ? await deleted(like: typed) : []
            error.advice = Self.question(likely) ?? Self.question(gone, note: " (deleted)")
        case .nothingToDo where !Files.exists(typed):
            error.advice = Self.question(await deleted(like: typed)) ?? error.advice
        default: break
        }
        return error
    }

    /// `did you mean 'a' or 'b'?`; nil for none.
    static func question(_ names: [Path], note: String = "") -> String? {
        guard !names.isEmpty else { return nil }
        return "did you mean " + names.map { "'\(Style.printable($0))'\(note)" }.joined(separator: " or ") + "?"
    }

    /// Names like this one in its directory, as they would be typed.
    func neighbors(of typed: Path) -> [Path] {
        let (directory, name) = Self.split(typed)
        let names = Files.names(in: directory.bytes.isEmpty ? Path(".") : directory)
        return Self.paths(Likeness.nearest(to: name, among: names.map(\.description)), among: names, in: directory)
    }

    /// The same among what was deleted from there.
    private func deleted(like typed: Path) async -> [Path] {
        let (directory, name) = Self.split(typed)
        let place = Self.parent(of: session.targetPath ?? Path(""))
        guard let entries = try? await session.client.call(DeletedRequest(.path(place))) else { return [] }
        var names: [Path] = []
        for entry in entries where Self.parent(of: entry.path) == place {
            let last = entry.path.lastComponent
            if !names.contains(last) { names.append(last) }
        }
        return Self.paths(Likeness.nearest(to: name, among: names.map(\.description)), among: names, in: directory)
    }

    private static func paths(_ likely: [String], among names: [Path], in directory: Path) -> [Path] {
        likely.compactMap { text in names.first { $0.description == text } }.map { name in
            directory.bytes.isEmpty ? name : Path(bytes: directory.bytes + name.bytes)
        }
    }

    private static func parent(of path: Path) -> Path {
        Path(bytes: path.bytes.prefix(path.bytes.lastIndex(of: 47) ?? 0))
    }

    /// The directory with its slash, and the name behind it.
    private static func split(_ typed: Path) -> (directory: Path, name: String) {
        let bytes = typed.bytes.last == 47 ? Array(typed.bytes.dropLast()) : Array(typed.bytes)
        let start = bytes.lastIndex(of: 47).map { $0 + 1 } ?? 0
        return (Path(bytes: bytes[..<start]), Path(bytes: bytes[start...]).description)
    }
}
