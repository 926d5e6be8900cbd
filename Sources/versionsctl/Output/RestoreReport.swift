// What restore and undelete say of what came back.

import ControlProtocol

/// What restore and undelete say.
enum RestoreReport {
    static func print(_ restored: Restored, as shown: Path, _ verb: String, json: Bool) throws {
        if json { return try Printer.json(restored) }
        if restored.entries == 0, restored.displaced == 0 {
            return try Printer.text("Nothing to do: \(Style.printable(shown)) is unchanged.\n")
        }
        let entries = restored.entries == 1 ? "" : " (\(count(restored.entries, restored.directories)))"
        let displaced = restored.displaced == 0
            ? "" : "; \(Words.count(restored.displaced, "newer name")) moved to the deleted area"
        let text = "\(verb) \(Style.printable(shown))\(version(restored))\(entries)\(displaced)"
        // A full stop behind `.` would be another directory.
        try Printer.text(text.hasSuffix(".") ? text + "\n" : text + ".\n")
    }

    /// What came back; files and directories apart where that is known.
    static func count(_ entries: Int, _ directories: Int?) -> String {
        directories.map { Words.parts(entries: entries, directories: $0) } ?? Words.count(entries, "entry")
    }

    /// Which version it is, where it was not named by its id.
    private static func version(_ restored: Restored) -> String {
        guard let version = restored.version else { return "" }
        let program = version.program.isEmpty ? "" : " by \(Style.printable(version.program))"
        return " as saved at \(Words.exact(version.saved))\(program)"
    }
}
