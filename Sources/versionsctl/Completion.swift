// What a shell offers where a word is completed: deleted names, versions, settings and their values.

import ArgumentParser
import ControlProtocol
import VersionModel
import VersionsClient

/// Candidates for a word; none where no container answers.
enum Completion {
    /// More would fill the terminal, and say nothing.
    private static let limit = 500

    /// Deleted files and directories, as they would be typed.
    @Sendable static func deleted(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        let typed = unquoted(prefix)
        let directory = typed.lastIndex(of: "/").map { String(typed[...$0]) }
        guard let session = await session(directory.flatMap { TypedPath(argument: $0) }, words),
            let entries = try? await session.client.call(DeletedRequest(session.target))
        else { return [] }
        var seen: Set<String> = []
        let names = entries.map { entry in
            session.shown(entry.path).description + (entry.type == .directory ? "/" : "")
        }
        return offered(names.filter { seen.insert($0).inserted }, typed)
    }

    /// Versions of the file on the command line: `previous`, `~1` and so on, and ids.
    @Sendable static func versions(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        guard let file = file(words, besides: index).flatMap({ TypedPath(argument: $0) }),
            let session = await session(file, words),
            let versions = try? await session.client.call(HistoryRequest(session.target)).versions
        else { return [] }
        let older = versions.count { $0.kind != .current }
        let steps = older == 0 ? [] : ["previous"] + (1...min(9, older)).map { "~\($0)" }
        return offered(steps + versions.map(\.id.short), unquoted(prefix))
    }

    /// Programs that saved the file on the command line, the last one first; for a directory those that changed
    /// something in it.
    @Sendable static func programs(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        let file = file(words, besides: index).flatMap { TypedPath(argument: $0) }
        guard let session = await session(file, words) else { return [] }
        var names: [String] = []
        if let versions = try? await session.client.call(HistoryRequest(session.target)).versions {
            names = versions.map(\.program)
        } else if let events = try? await session.client.call(LogRequest(session.target)).events {
            names = events.sorted { $1.time < $0.time }.map(\.program)
        }
        var seen: Set<String> = [""]
        return offered(names.filter { seen.insert($0).inserted }, unquoted(prefix))
    }

    /// Keys of settings.
    @Sendable static func settings(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        offered(await allSettings(words).map(\.key), unquoted(prefix))
    }

    /// Values of a setting: the words that it takes, its present value and its default.
    @Sendable static func values(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        let settings = await allSettings(words)
        guard let setting = settings.first(where: { words.contains($0.key) }) else { return [] }
        let known = [
            "stale-writes": ["keep", "merge", "refuse"], "plain-reads": ["whole", "observe", "wait"],
        ][setting.key]
        let present = [setting.value, setting.standard].map { value in
            value.hasPrefix("\"") && value.hasSuffix("\"") && value.count > 1
                ? String(value.dropFirst().dropLast()) : value
        }
        var seen: Set<String> = []
        return offered((known ?? present).filter { seen.insert($0).inserted }, unquoted(prefix))
    }

    // MARK: -

    private static func allSettings(_ words: [String]) async -> [Setting] {
        guard let session = await session(nil, words) else { return [] }
        return (try? await session.client.call(ConfigRequest(key: nil))) ?? []
    }

    private static func session(_ typed: TypedPath?, _ words: [String]) async -> Session? {
        let place = words.firstIndex(of: "--container").flatMap { words.dropFirst($0 + 1).first }.map(unquoted)
        guard let option = try? ContainerOption.parse(place.map { ["--container", $0] } ?? []) else { return nil }
        return try? await Session.open(typed, option, followingLastLink: false, offline: true)
    }

    /// The first word behind the command that is no option and no option's value.
    private static func file(_ words: [String], besides index: Int) -> String? {
        let withValue: Set<String> = [
            "--version", "--at", "--before", "--to", "--container", "--since", "--until", "--by", "-n", "--max-count",
            "--sort",
        ]
        for (place, word) in words.enumerated().dropFirst(2) {
            guard place != index, !word.isEmpty, !word.hasPrefix("-"), !withValue.contains(words[place - 1]) else {
                continue
            }
            return unquoted(word)
        }
        return nil
    }

    private static func offered(_ candidates: [String], _ prefix: String) -> [String] {
        let fitting = candidates.filter { $0.hasPrefix(prefix) && !$0.contains(where: \.isNewline) }.prefix(limit)
        // To zsh what follows a colon describes the word before it.
        guard CompletionShell.requesting == .zsh else { return Array(fitting) }
        return fitting.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
    }

    /// A word without the quotes and backslashes of the shell.
    private static func unquoted(_ word: String) -> String {
        var result = ""
        var isEscaped = false
        for character in word {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else if isEscaped || !"'\"".contains(character) {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }
}
