// How much two versions differ, in a few words.

import ControlProtocol
import Glibc
import VersionsClient

/// Counts what `diff` finds.
enum Difference {
    /// `3 lines added, 1 removed`, or `binary files differ`.
    static func between(_ old: VersionInfo, _ new: VersionInfo) async throws -> String {
        try await Files.withTemporaryDirectory { directory in
            let output = Path(bytes: directory.bytes + Array("/diff".utf8))
            let descriptor = output.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
            guard descriptor >= 0 else { throw ControlError(system: "cannot be made", path: output) }
            defer { close(descriptor) }
            let status = try Subprocess.run(
                "diff", [Path("-U0"), Path("--"), old.file, new.file], standard: [1: descriptor])
            guard status <= 1 else { return "binary files differ" }
            return describe(try Files.content(output))
        }
    }

    /// Reads a unified diff without context.
    static func describe(_ diff: [UInt8]) -> String {
        let lines = diff.split(separator: 10)
        guard !lines.isEmpty else { return "equal content" }
        guard lines.count > 2 else { return "binary files differ" }
        let added = lines.dropFirst(2).count { $0.first == 43 }
        let removed = lines.dropFirst(2).count { $0.first == 45 }
        return "\(Words.count(added, "line")) added, \(removed) removed"
    }
}
