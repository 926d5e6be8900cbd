// Merging losers into a document, three ways: with git or diff3, or with a tool of the user's.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// Merges each loser in turn and saves the result in the document.
struct ThreeWayMerge {
    var document: ConflictedDocument
    /// nil: only what does not overlap is merged.
    var tool: MergeTool?
    /// The document as it was typed.
    var name: Path

    /// - Throws: `failed` if edits overlap and there is no tool, or the tool gives up; then nothing is written.
    func run(_ session: Session) async throws {
        try await Files.withTemporaryDirectory { directory in
            let files = MergeFiles(for: document.path, in: directory)
            try Files.copy(document.current.file, toNew: files.merged)
            // What is merged automatically can be merged again.
            guard tool != nil else { return try await mergeAll(files, session) }
            let original = try Files.content(files.merged)
            try await KeptText.guarding(files.merged, original: original) { try await mergeAll(files, session) }
        }
    }

    private func mergeAll(_ files: MergeFiles, _ session: Session) async throws {
        let known = try await session.call(HistoryRequest(session.target)).versions
        var taken = [document.current.id]
        for loser in document.versions {
            let ancestor = Self.base(of: taken, and: loser.id, in: known)
            try Files.copy(files.merged, toNew: files.local)
            try Self.copy(ancestor, to: files.base)
            try Self.copy(loser, to: files.remote)
            guard tool != nil || ancestor != nil else { throw withoutBase(loser) }
            try merge(files, loser)
            for used in [files.local, files.base, files.remote] { used.withCString { _ = unlink($0) } }
            taken.append(loser.id)
        }
        do {
            try await MergedContent.save(files.merged, over: document.current, session)
        } catch is MergedContent.SavedMeanwhile {
            throw ControlError(.busy, "the file was saved during the merge", path: name,
                advice: "resolve the conflict again")
        }
    }

    /// A version's content; none at all for nil.
    static func copy(_ version: VersionInfo?, to file: Path) throws {
        guard let version else { return try Files.copy(Path("/dev/null"), toNew: file) }
        try Files.copy(version.file, toNew: file, upTo: version.kind == .current ? .max : version.size)
    }

    /// From which version a loser and what has been merged so far parted; nil if that is gone or lost.
    static func base(of merged: [VersionID], and loser: VersionID, in known: [VersionInfo]) -> VersionInfo? {
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

    private func merge(_ files: MergeFiles, _ loser: VersionInfo) throws {
        if let tool { return try tool.run(files, for: name, asks: true) }
        switch try TextMerge.run(files, labels: ["current", "base", loser.id.short]) {
        case .clean: return
        case .overlapping:
            throw ControlError(
                .failed, "the edits of \(loser.id.short) and of the current version overlap", path: name,
                advice: "use --merge --tool PROGRAM, or --keep current|\(loser.id.short)|all")
        case .impossible:
            throw ControlError(
                .failed, "cannot be merged as text", path: name, advice: "use --merge --tool PROGRAM, or --keep")
        }
    }
}
