// Merging losers into a document, three ways: with git or diff3, or with a tool of the user's.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// Merges each loser in turn and saves the result in the document.
struct ThreeWayMerge {
    var document: ConflictedDocument
    /// As git's mergetools: LOCAL BASE REMOTE MERGED as arguments and in the environment; a text with `$` in it is a
    /// command for the shell.
    var tool: String?
    /// The document as it was typed.
    var name: Path

    /// - Throws: `failed` if edits overlap and there is no tool, or the tool gives up; then nothing is written.
    func run(_ session: Session) async throws {
        try await Files.withTemporaryDirectory { directory in
            let (local, base, remote) = (file("LOCAL", directory), file("BASE", directory), file("REMOTE", directory))
            let merged = file("MERGED", directory)
            try Files.copy(document.current.file, toNew: merged)
            let known = try await session.call(HistoryRequest(session.target)).versions
            var taken = [document.current.id]
            for loser in document.versions {
                let ancestor = Self.base(of: taken, and: loser.id, in: known)
                try Files.copy(merged, toNew: local)
                try Files.copy(ancestor?.file ?? Path("/dev/null"), toNew: base)
                try Files.copy(loser.file, toNew: remote)
                guard tool != nil || ancestor != nil else { throw withoutBase(loser) }
                try merge(local: local, base: base, remote: remote, merged: merged, loser: loser)
                for used in [local, base, remote] { used.withCString { _ = unlink($0) } }
                taken.append(loser.id)
            }
            let now = try await session.call(ShowRequest(session.target, version: nil))
            guard now.id == document.current.id else {
                throw ControlError(.busy, "the file was saved during the merge", path: name,
                    advice: "resolve the conflict again")
            }
            try Files.overwrite(now.file, with: merged)
        }
    }

    /// From which version a loser and what has been merged so far parted; nil if that is gone or lost.
    private static func base(of merged: [VersionID], and loser: VersionID, in known: [VersionInfo]) -> VersionInfo? {
        let nodes = known.map { version in
            HistoryNode(
                id: version.id, parents: version.parents, time: HybridTime(wall: version.saved, logical: 0),
                device: version.deviceID, isDeletion: false, isEmpty: version.size == 0)
        }
        return MergeBase.of(merged, and: loser, in: nodes).flatMap { id in known.first { $0.id == id && !$0.lost } }
    }

    private func withoutBase(_ loser: VersionInfo) -> ControlError {
        ControlError(
            .failed,
            "the common version of \(loser.id.short) and the current one is gone, so they cannot be merged "
                + "automatically",
            path: name, advice: "use --merge --tool PROGRAM, or --keep current|\(loser.id.short)|all")
    }

    private func file(_ kind: String, _ directory: Path) -> Path {
        // The document's own extension, so that tools know the language.
        let parts = document.path.lastComponent.bytes.split(separator: 46, omittingEmptySubsequences: false)
        let suffix = parts.count > 1 ? [46] + Array(parts[parts.count - 1].prefix(16)) : []
        return Path(bytes: directory.bytes + [47] + Array(kind.utf8) + suffix)
    }

    private func merge(local: Path, base: Path, remote: Path, merged: Path, loser: VersionInfo) throws {
        if let tool { return try merge(with: tool, local: local, base: base, remote: remote, merged: merged) }
        let overlaps = try mergeText(local: local, base: base, remote: remote, merged: merged)
        guard overlaps else { return }
        throw ControlError(
            .failed, "the edits of \(loser.id.short) and of the current version overlap", path: name,
            advice: "use --merge --tool PROGRAM, or --keep current|\(loser.id.short)|all")
    }

    /// Whether edits overlap.
    private func mergeText(local: Path, base: Path, remote: Path, merged: Path) throws -> Bool {
        let output = merged.withCString { open($0, O_WRONLY | O_TRUNC | O_CLOEXEC) }
        guard output >= 0 else { throw ControlError(system: "cannot be written", path: merged) }
        defer { close(output) }
        let status = try Subprocess.run(
            "git", [Path("merge-file"), Path("-p"), Path("-q"), local, base, remote], standard: [1: output])
        // git: the number of overlaps, 255 for trouble (binary files); 127: there is no git.
        if status == 0 { return false }
        if status < 127 { return true }
        guard ftruncate(output, 0) == 0, lseek(output, 0, SEEK_SET) == 0 else {
            throw ControlError(system: "cannot be written", path: merged)
        }
        let second = try Subprocess.run("diff3", [Path("-m"), Path("-E"), local, base, remote], standard: [1: output])
        guard second <= 1 else {
            throw ControlError(
                .failed, "cannot be merged as text", path: name, advice: "use --merge --tool PROGRAM, or --keep")
        }
        return second == 1
    }

    private func merge(with tool: String, local: Path, base: Path, remote: Path, merged: Path) throws {
        let environment = [("LOCAL", local), ("BASE", base), ("REMOTE", remote), ("MERGED", merged)]
        // Long ago, so that whatever the tool writes shows in the time.
        let before = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        _ = merged.withCString { utimensat(AT_FDCWD, $0, before, 0) }
        let command = tool.contains("$") ? tool : tool + " \"$LOCAL\" \"$BASE\" \"$REMOTE\" \"$MERGED\""
        let status = try Subprocess.run(
            "sh", [Path("-c"), Path(bytes: ArgumentBytes.bytes(command))], environment: environment)
        guard status == 0 else {
            throw ControlError(.failed, "\(tool) ended with status \(status); nothing was changed", path: name,
                advice: "try again, or use --keep current|ID|all")
        }
        // A tool may say 0 and have done nothing, being closed without saving: as git does, people are asked then.
        if Files.modified(merged) == 1 {
            let question = "\(tool) has not written the merged file. Keep the current version?"
            guard Question.canAsk, try Question.confirm(question) else {
                throw ControlError(.failed, "\(tool) has not written the merged file; nothing was changed", path: name,
                    advice: "save the merged file in the tool, or use --keep current|ID|all")
            }
            return
        }
        let content = try Files.content(merged)
        guard !content.isEmpty || document.current.size == 0 else {
            throw ControlError(.failed, "\(tool) left the merged file empty; nothing was changed", path: name,
                advice: "let it write MERGED, or use --keep current|ID|all")
        }
        let mark = Array("<<<<<<< ".utf8)
        guard !content.split(separator: 10).contains(where: { $0.starts(with: mark) }) else {
            throw ControlError(.failed, "conflict markers are left; nothing was changed", path: name,
                advice: "remove them in the tool, or use --keep current|ID|all")
        }
    }
}
