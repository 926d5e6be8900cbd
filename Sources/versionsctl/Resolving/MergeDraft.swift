// A merged text before it is taken: made by an automatic merge, finished in an editor.

import ControlProtocol
import Glibc
import VersionModel
import VersionsClient

/// What a document's versions become when they are merged as text.
struct MergeDraft {
    /// The current version that it goes on from, and its content.
    private(set) var current: VersionInfo
    private var content: [UInt8]
    /// The other versions that are in it.
    private(set) var losers: [VersionID]
    /// As it is now.
    var text: [UInt8]
    /// As the automatic merge made it.
    private(set) var original: [UInt8]
    private var markers: ConflictMarkers

    /// How many places of overlapping edits are left.
    var conflicts: Int { markers.count(in: text) }

    /// Merges the current version with one other after the other, until edits overlap.
    /// - Parameter needsBase: whether a version that has nothing in common with the others is refused.
    static func make(
        of document: ConflictedDocument, named name: Path, needsBase: Bool, _ session: Session
    ) async throws -> MergeDraft {
        let known = try await session.call(HistoryRequest(session.target)).versions
        return try await Files.withTemporaryDirectory { directory in
            let files = MergeFiles(for: document.path, in: directory)
            try ThreeWayMerge.copy(document.current, to: files.merged)
            let content = try Files.content(files.merged)
            var draft = MergeDraft(
                current: document.current, content: content, losers: [], text: content, original: content,
                markers: ConflictMarkers(besides: []))
            var sources = [content]
            for loser in document.versions {
                let base = ThreeWayMerge.base(of: [document.current.id] + draft.losers, and: loser.id, in: known)
                guard base != nil || !needsBase else { throw withoutBase(loser, name) }
                for file in [files.local, files.base, files.remote] { file.withCString { _ = unlink($0) } }
                try Files.copy(files.merged, toNew: files.local)
                try ThreeWayMerge.copy(base, to: files.base)
                try ThreeWayMerge.copy(loser, to: files.remote)
                sources += try [Files.content(files.base), Files.content(files.remote)]
                let outcome = try TextMerge.run(files, labels: ["current", "base", loser.id.short])
                guard outcome != .impossible else { throw notText(name) }
                draft.losers.append(loser.id)
                if outcome == .overlapping { break }
            }
            draft.markers = ConflictMarkers(besides: sources)
            draft.text = try Files.content(files.merged)
            draft.original = draft.text
            return draft
        }
    }

    /// The same on top of what has been saved since.
    func moved(onto document: ConflictedDocument, named name: Path) async throws -> MergeDraft {
        try await Files.withTemporaryDirectory { directory in
            let files = MergeFiles(for: document.path, in: directory)
            try ThreeWayMerge.copy(document.current, to: files.local)
            try Files.replace(files.base, with: content)
            try Files.replace(files.remote, with: text)
            guard try TextMerge.run(files, labels: ["current", "base", "edited"]) != .impossible else {
                throw Self.notText(name)
            }
            var draft = self
            draft.current = document.current
            draft.content = try Files.content(files.local)
            draft.text = try Files.content(files.merged)
            return draft
        }
    }

    private init(
        current: VersionInfo, content: [UInt8], losers: [VersionID], text: [UInt8], original: [UInt8],
        markers: ConflictMarkers
    ) {
        (self.current, self.content, self.losers) = (current, content, losers)
        (self.text, self.original, self.markers) = (text, original, markers)
    }

    /// What a tool has made of four files.
    /// - Parameter original: MERGED before the tool ran.
    init(_ files: MergeFiles, original: [UInt8], over current: VersionInfo, with loser: VersionInfo) throws {
        let sources = try [files.local, files.base, files.remote].map { try Files.content($0) }
        self.init(
            current: current, content: sources[0], losers: [loser.id], text: try Files.content(files.merged),
            original: original, markers: ConflictMarkers(besides: sources))
    }

    private static func withoutBase(_ loser: VersionInfo, _ name: Path) -> ControlError {
        ControlError(
            .failed, "the version that \(loser.id.short) and the current one began with is gone", path: name,
            advice: "[e]dit shows both")
    }

    private static func notText(_ name: Path) -> ControlError {
        ControlError(
            .failed, "cannot be merged as text", path: name, advice: "keep one of the versions, or all of them")
    }
}
