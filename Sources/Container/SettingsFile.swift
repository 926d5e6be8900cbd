// `config.toml`: what may be set, its defaults, and how values are checked (DESIGN 3.5).

import CLinux
import Glibc
import SystemPackage
import TOMLKit

/// A setting that cannot be used.
public struct SettingsError: Error, Sendable, CustomStringConvertible {
    public var key: String
    public var description: String
}

/// The settings of a container as its file has them. Unknown keys are kept and reported.
public struct SettingsFile {
    /// A setting by its key, its value and its default, both in TOML.
    public struct Entry: Sendable {
        public var key: String
        public var value: String
        public var standard: String
    }

    static let name = "config.toml"

    /// Every setting with its default, in the order of DESIGN 3.5.
    static let standards: [(key: String, value: String)] = [
        ("stale-writes", "\"keep\""), ("replace-wait", "\"2s\""), ("plain-reads", "\"observe\""),
        ("scopes.documents", "[\"/\"]"), ("history.max-file", "\"1GiB\""), ("history.share", "\"10%\""),
        ("deleted.keep", "\"30d\""), ("deleted.share", "\"10%\""), ("ignore.patterns", "[]"),
        (
            "conflicts.quiet",
            #"["*_history", ".lesshst", ".viminfo*", "workspace.xml", "workspace*.json", "*.log", "*.pid", "*.lock"]"#
        ),
        ("actors.boundaries", Boundaries.standard.toml), ("packages.extensions", "[]"),
    ]

    private var table: TOMLTable

    /// Takes the text of a file.
    public init(text: String) throws(SettingsError) {
        do {
            table = try TOMLTable(string: text)
        } catch let error as TOMLParseError {
            throw SettingsError(
                key: "", description: "config.toml, line \(error.source.begin.line): \(error.description)")
        } catch {
            throw SettingsError(key: "", description: "config.toml cannot be read: \(error)")
        }
    }

    /// Reads the file in a state directory; a missing one sets nothing.
    public init(in state: Int32) throws(SettingsError) {
        try self.init(text: try Self.text(in: state))
    }

    /// The text of the file in a state directory; empty if there is none.
    public static func text(in state: Int32) throws(SettingsError) -> String {
        do throws(Errno) {
            let file = try Backing.openRegular(path: name, in: state, flags: O_RDONLY)
            defer { close(file) }
            let size = try Backing.stat(file).size
            guard size <= ThreeWayMerge.maximumSize else { throw .fileTooLarge }
            return String(decoding: try ContentText.read(file, size: size), as: UTF8.self)
        } catch .noSuchFileOrDirectory { return "" } catch {
            throw SettingsError(key: "", description: "config.toml cannot be read")
        }
    }

    /// All settings with what is in force.
    public var entries: [Entry] {
        Self.standards.map { Entry(key: $0.key, value: text(of: $0.key) ?? $0.value, standard: $0.value) }
    }

    /// What is in the file and is no setting: it has no effect.
    public var unknown: [String] {
        table.keys.flatMap { key in
            table[key]?.table.map { inner in inner.keys.map { "\(key).\($0)" } } ?? [key]
        }.filter { key in !Self.standards.contains { $0.key == key } }.sorted()
    }

    /// Sets one setting; `value` is TOML, or for a text the bare text.
    public mutating func set(_ key: String, to value: String) throws(SettingsError) {
        guard Self.standards.contains(where: { $0.key == key }) else {
            throw SettingsError(key: key, description: "no setting \(key)")
        }
        // A table is a reference: a value that cannot be used must not stay in it.
        var copy = try SettingsFile(text: table.convert(to: .toml))
        if (try? copy.insert(key, value)) == nil { try copy.insert(key, Self.quoted(value)) }
        _ = try copy.settings()
        self = copy
    }

    /// Writes the file, replacing the one before in one step.
    public func write(in state: Int32) throws(SettingsError) {
        let text = Array((table.convert(to: .toml) + "\n").utf8)
        do throws(Errno) {
            // A file of that name is from an attempt that was cut short, or from another writer of this directory.
            try? Backing.unlink(Array((Self.name + ".new").utf8), in: state)
            let file = try Backing.openRegular(
                path: Self.name + ".new", in: state, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
            defer { close(file) }
            try ContentText.replace(file, with: text)
            try Backing.check { fsync(file) }
            try Backing.rename(Array((Self.name + ".new").utf8), in: state, to: Array(Self.name.utf8), in: state)
        } catch {
            throw SettingsError(key: "", description: "config.toml cannot be written: \(error)")
        }
    }

    /// The settings as the code uses them.
    public func settings() throws(SettingsError) -> Settings {
        var result = Settings()
        result.staleWrites = try choice("stale-writes") ?? result.staleWrites
        result.replaceWaitNanoseconds =
            try duration("replace-wait", atMost: Self.longestWait) ?? result.replaceWaitNanoseconds
        result.plainReads = try choice("plain-reads") ?? result.plainReads
        result.documentScopes = try texts("scopes.documents", "paths from the root such as \"/\" or \"/Letters\"") {
            $0.hasPrefix("/") && !$0.split(separator: "/").contains { $0 == "." || $0 == ".." }
        } ?? result.documentScopes
        result.maxFile = try size("history.max-file") ?? result.maxFile
        result.historyShare = try share("history.share") ?? result.historyShare
        result.keepDeletedNanoseconds = try duration("deleted.keep") ?? result.keepDeletedNanoseconds
        result.deletedShare = try share("deleted.share") ?? result.deletedShare
        result.ignorePatterns = try texts("ignore.patterns", Self.patterns) ?? []
        result.quietPatterns = try texts("conflicts.quiet", Self.patterns)
        result.actorBoundaries = try texts("actors.boundaries", "names of programs such as \"tmux\"") {
            !$0.contains("/")
        }
        result.packageExtensions = try texts("packages.extensions", "endings such as \"rtfd\"") {
            !$0.contains("/") && $0 != "."
        }?.map { ($0.hasPrefix(".") ? String($0.dropFirst()) : $0).lowercased() } ?? []
        return result
    }

    // MARK: Values

    private func value(_ key: String) -> (any TOMLValueConvertible)? {
        let parts = key.split(separator: ".").map(String.init)
        guard parts.count == 2 else { return table[key] }
        return table[parts[0]]?.table?[parts[1]]
    }

    private func text(of key: String) -> String? {
        guard let value = value(key) else { return nil }
        if let text = value.string { return Self.quoted(text) }
        if let array = value.array {
            return "[" + array.map { $0.string.map(Self.quoted) ?? "\($0)" }.joined(separator: ", ") + "]"
        }
        return value.int.map(String.init) ?? value.bool.map(String.init) ?? "\(value)"
    }

    private mutating func insert(_ key: String, _ toml: String) throws(SettingsError) {
        let parts = key.split(separator: ".").map(String.init)
        guard let parsed = try? TOMLTable(string: "value = \(toml)"), let value = parsed["value"] else {
            throw SettingsError(key: key, description: "\(toml) is not a value")
        }
        guard parts.count == 2 else {
            table[key] = value
            return
        }
        let inner = table[parts[0]]?.table ?? TOMLTable()
        // `insert` leaves a value that is there as it is.
        inner[parts[1]] = value
        table[parts[0]] = inner
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }

    private func word(_ key: String) throws(SettingsError) -> String? {
        guard let value = value(key) else { return nil }
        guard let text = value.string else { throw SettingsError(key: key, description: "\(key) is a text in quotes") }
        return text
    }

    private func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String
    ) throws(SettingsError) -> Choice? where Choice.RawValue == String {
        guard let text = try word(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            var words = Choice.allCases.map { "\"\($0.rawValue)\"" }
            let last = words.popLast() ?? ""
            throw SettingsError(
                key: key, description: "\(key) is \(words.joined(separator: ", ")) or \(last), not \"\(text)\"")
        }
        return choice
    }

    private func texts(
        _ key: String, _ what: String, where isUsable: (String) -> Bool = { _ in true }
    ) throws(SettingsError) -> [String]? {
        guard let value = value(key) else { return nil }
        let list = "\(key) is a list of texts, \(what)"
        guard let array = value.array else { throw SettingsError(key: key, description: list) }
        let texts = array.compactMap(\.string)
        guard texts.count == array.count else { throw SettingsError(key: key, description: list) }
        if let wrong = texts.first(where: { $0.isEmpty || !isUsable($0) }) {
            throw SettingsError(key: key, description: "\(list): not \"\(wrong)\"")
        }
        return texts
    }

    private static let patterns = "patterns such as \"*.log\""
    /// Longer than this no program waits for a file to be opened.
    private static let longestWait: (nanoseconds: Int64, text: String) = (600_000_000_000, "10m")

    private func duration(
        _ key: String, atMost limit: (nanoseconds: Int64, text: String)? = nil
    ) throws(SettingsError) -> Int64? {
        let time = try quantity(
            key, [("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9), ("d", 86_400e9), ("w", 604_800e9)],
            "a time such as \"2s\" or \"30d\""
        ).map { Int64($0) }
        if let time, let limit, time > limit.nanoseconds {
            throw SettingsError(
                key: key, description: "\(key) is at most \"\(limit.text)\", not \"\(try word(key) ?? "")\"")
        }
        return time
    }

    private func size(_ key: String) throws(SettingsError) -> UInt64? {
        try quantity(
            key, Self.sizeUnits, "a size such as \"1GiB\""
        ).map { UInt64($0) }
    }

    /// A part of the file system, or a size.
    private func share(_ key: String) throws(SettingsError) -> Settings.Share? {
        guard let text = try word(key) else { return nil }
        guard text.hasSuffix("%") else {
            let bytes = try quantity(key, Self.sizeUnits, "a share such as \"10%\" or a size such as \"20GiB\"")
            return bytes.map { .bytes(UInt64($0)) }
        }
        let value = try quantity(key, [("%", 1)], "a share such as \"10%\" or a size such as \"20GiB\"")
        guard let value, value <= 100 else {
            throw SettingsError(key: key, description: "\(key) is at most 100%")
        }
        return .percent(value)
    }

    private static let sizeUnits: [(String, Double)] = [
        ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776), ("B", 1),
    ]

    /// A number with one of the units behind it, below what 2^62 units of one would be.
    private func quantity(
        _ key: String, _ units: [(String, Double)], _ what: String
    ) throws(SettingsError) -> Double? {
        guard let text = try word(key) else { return nil }
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number >= 0, number * factor < 4e18 else { continue }
            return number * factor
        }
        throw SettingsError(key: key, description: "\(key) is \(what), not \"\(text)\"")
    }
}
