// What the saves of a log have changed, by diff(1): each version beside the one that it came from.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// Compares the versions that a log names.
struct LogDiffs {
    var session: Session
    var style: Style
    /// Whether the differences are wanted themselves, not only their size.
    var wantsText: Bool

    /// What a save has changed.
    /// - Returns: nil for a version whose content, or the content before it, cannot be read any more.
    func difference(of event: LogEntry.Event) async throws -> LogDifference? {
        guard let id = event.version, event.event == .saved || event.event == .created,
            let version = await readable(id)
        else { return nil }
        var old: VersionInfo?
        if let parent = version.parents.first {
            guard let found = await readable(parent) else { return nil }
            old = found
        }
        let name = Style.printable(session.shown(event.path))
        let text = try await run(["-U0"], old, version, name)
        var difference = Self.size(text)
        if wantsText {
            difference.text = try await run(
                ["-u", style.isColored ? "--color=always" : "--color=never"], old, version, name)
        }
        return difference
    }

    private func readable(_ id: VersionID) async -> VersionInfo? {
        try? await session.client.call(ShowRequest(.id(id.hex), version: nil, content: true))
    }

    /// diff(1)'s output; of binary files its one line.
    private func run(
        _ options: [String], _ old: VersionInfo?, _ new: VersionInfo, _ name: String
    ) async throws -> String {
        let names = [old.map { "\(name)\t\($0.id.short)" } ?? "/dev/null", "\(name)\t\(new.id.short)"]
        let labels = names.flatMap { ["--label", $0] }
        return try await Files.withTemporaryDirectory { directory in
            let output = Path(bytes: directory.bytes + Array("/diff".utf8))
            let descriptor = output.withCString { open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
            guard descriptor >= 0 else { throw ControlError(system: "cannot be made", path: output) }
            defer { close(descriptor) }
            let status = try Subprocess.run(
                "diff",
                (options + labels + ["--"]).map { Path($0) } + [old?.file ?? Path("/dev/null"), new.file],
                standard: [1: descriptor])
            guard status <= 1 else {
                throw ControlError(
                    .failed, "the comparison failed with status \(status)", path: Path(name),
                    advice: status >= 126 ? "install diff" : nil)
            }
            return String(decoding: try Files.content(output), as: UTF8.self)
        }
    }

    /// Counts the lines of a unified diff without context.
    static func size(_ text: String) -> LogDifference {
        let lines = text.utf8.split(separator: 10)
        guard let first = lines.first else { return LogDifference(added: 0, removed: 0) }
        guard first.starts(with: "--- ".utf8), lines.count > 2 else { return LogDifference() }
        let changed = lines.dropFirst(2)
        return LogDifference(added: changed.count { $0.first == 43 }, removed: changed.count { $0.first == 45 })
    }
}
