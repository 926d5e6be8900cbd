// How much two contents differ, in a few words.

import ControlProtocol
import Glibc
import VersionsClient

/// Lines that came and went.
struct LineCounts: Hashable {
    var added: Int
    var removed: Int
}

/// Counts what `diff` finds.
enum Difference {
    /// `3 lines added, 1 removed`, or `binary files differ`.
    static func between(_ old: VersionInfo, _ new: VersionInfo) throws -> String {
        let sides = (DiffSide(old, as: old.path), DiffSide(new, as: new.path))
        return try output(sides.0, sides.1).map { describe($0) } ?? "binary files differ"
    }

    /// nil if they are not text.
    static func counts(_ old: DiffSide, _ new: DiffSide) throws -> LineCounts? {
        try output(old, new).flatMap { counts($0) }
    }

    /// What diff prints without context; nil if it cannot compare them.
    private static func output(_ old: DiffSide, _ new: DiffSide) throws -> [UInt8]? {
        try Differ.withWhole(old, new) { old, new in
            try Files.withTemporary { output in
                let status = try Subprocess.run(
                    "diff", [Path("-U0"), Path("--"), old.file, new.file], standard: [1: output.descriptor])
                return status > 1 ? nil : try Files.content(output.path)
            }
        }
    }

    /// Reads a unified diff without context.
    static func describe(_ diff: [UInt8]) -> String {
        guard !diff.isEmpty else { return "equal content" }
        guard let counts = counts(diff) else { return "binary files differ" }
        return "\(Words.count(counts.added, "line")) added, \(counts.removed) removed"
    }

    private static func counts(_ diff: [UInt8]) -> LineCounts? {
        let lines = diff.split(separator: 10)
        guard !lines.isEmpty else { return LineCounts(added: 0, removed: 0) }
        guard lines.count > 2 else { return nil }
        let changes = lines.dropFirst(2)
        return LineCounts(added: changes.count { $0.first == 43 }, removed: changes.count { $0.first == 45 })
    }
}
