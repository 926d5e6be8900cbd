// The settings of a container's file, with their mistakes set apart. Mistakes can be shown and corrected, and the other
// settings keep their effect.

import Container
import ControlProtocol
import Glibc
import SystemPackage
import TOMLKit
import VersionModel

/// `config.toml`, checked key by key.
struct CheckedSettings {
    /// A setting that cannot be used.
    struct Mistake: Error {
        var key: String
        /// A clause. It begins with the file's name if the mistake belongs to no single key.
        var text: String

        init(key: String, text: String) {
            self.key = key
            self.text = text
        }

        init(_ error: SettingsError) { self.init(key: error.key, text: error.description) }
    }

    /// The valid settings; an invalid one has its default.
    private(set) var settings = Settings()
    /// The mistakes by key; the key is empty if the whole file cannot be read.
    private(set) var wrong: [Mistake] = []
    private let state: FileDescriptor
    /// The file's text; nil if it cannot be read.
    private var text: String?
    /// The text without its mistakes.
    private var sound = ""

    init(in state: FileDescriptor) {
        self.state = state
        do throws(SettingsError) {
            let text = try SettingsFile.text(in: state.rawValue)
            _ = try SettingsFile(text: text)
            self.text = text
            look(at: text)
        } catch {
            wrong = [Mistake(error)]
        }
    }

    /// All settings, each with its mistake if it has one.
    func entries() throws(Mistake) -> [Setting] {
        guard let text else { throw wrong.first ?? Mistake(key: "", text: "config.toml cannot be read") }
        return try Self.file(text).entries.map { entry in
            Setting(
                key: entry.key, value: entry.value, standard: entry.standard,
                problem: wrong.first { $0.key == entry.key }?.text,
                note: entry.value == entry.standard ? nil : Self.later[entry.key])
        }
    }

    /// Accepted and stored settings that have only part of their effect in this version.
    private static let later = [
        "scopes.documents": "no effect yet except on queries",
        "packages.extensions":
            "no effect yet except on claims and presenters; the files of a package have versions one by one",
    ]

    /// Sets one setting. Mistakes in other settings stay, to be corrected in turn.
    mutating func set(_ key: String, to value: String) throws(Mistake) {
        guard let text else { throw wrong.first ?? Mistake(key: "", text: "config.toml cannot be read") }
        var file = try Self.file(sound)
        do throws(SettingsError) {
            try file.set(key, to: value)
        } catch {
            // A bare word is a text. So is a bare number for a text setting; the mistake is then in the value.
            guard let first = value.utf8.first, first != UInt8(ascii: "\""), first != UInt8(ascii: "[")
            else { throw Mistake(error) }
            try Self.mistaking { () throws(SettingsError) in try file.set(key, to: "\"\(value)\"") }
        }
        guard let set = file.entries.first(where: { $0.key == key }) else {
            throw Mistake(key: key, text: "no setting \(key)")
        }
        let whole = try Self.replacing(key, with: set.value, in: text)
        let new = try Self.file(whole)
        try Self.mistaking { () throws(SettingsError) in try new.write(in: state.rawValue) }
        self.text = whole
        wrong = []
        look(at: whole)
    }

    /// The mistakes with the file's path and a hint, for an unmounted container.
    func complaints(_ directory: FilePath) -> [Diagnostic] {
        wrong.map { error in
            let file = directory.appending(".versionsfs").appending("config.toml")
            if error.key.isEmpty {
                let text = error.text.trimmingPrefix("config.toml").trimmingPrefix(", ").trimmingPrefix(" ")
                return Diagnostic("\(file)", String(text), hint: "correct the file, or remove it for the defaults")
            }
            return Diagnostic(
                "\(file)", error.text,
                hint: "run `versionsctl config --container \(directory) \(error.key) VALUE`")
        }
    }

    /// Unknown settings, as clauses: typing errors, or settings of another version.
    var ignored: [String] {
        guard let text, let file = try? Self.file(text) else { return [] }
        return file.unknown.map { "config.toml: no setting \($0), so the line has no effect" }
    }

    // MARK: Reading

    private static func file(_ text: String) throws(Mistake) -> SettingsFile {
        try mistaking { () throws(SettingsError) in try SettingsFile(text: text) }
    }

    private static func mistaking<Result>(_ body: () throws(SettingsError) -> Result) throws(Mistake) -> Result {
        do { return try body() } catch { throw Mistake(error) }
    }

    private mutating func look(at text: String) {
        sound = text
        // Each round removes one key.
        for _ in 0..<64 {
            do throws(SettingsError) {
                settings = try SettingsFile(text: sound).settings()
                return
            } catch {
                wrong.append(Mistake(error))
                guard !error.key.isEmpty, let without = try? Self.replacing(error.key, with: nil, in: sound),
                    without != sound
                else { break }
                sound = without
            }
        }
        sound = ""
    }

    private static func replacing(_ key: String, with value: String?, in text: String) throws(Mistake) -> String {
        let parts = key.split(separator: ".").map(String.init)
        do {
            let table = try TOMLTable(string: text)
            let parsed = try value.map { try TOMLTable(string: "value = \($0)")["value"] } ?? nil
            let inner = parts.count == 2 ? table[parts[0]]?.table ?? TOMLTable() : table
            guard let name = parts.last else { return text }
            if let parsed { inner[name] = parsed } else { inner.remove(at: name) }
            if parts.count == 2 { table[parts[0]] = inner }
            return table.convert(to: .toml) + "\n"
        } catch {
            throw Mistake(key: key, text: "config.toml cannot be changed: \(error)")
        }
    }
}
