// Saving what came of a merge, in the document that it was merged for.

import ControlProtocol
import VersionsClient

/// A merged content on its way into the document.
enum MergedContent {
    /// Another version is current than the one that was merged.
    struct SavedMeanwhile: Error {}

    /// Whether a version still has the content that was seen: what a program appends can keep the id.
    static func isSame(_ now: VersionInfo, as seen: VersionInfo) -> Bool {
        now.id == seen.id && now.size == seen.size && now.modified == seen.modified && now.saved == seen.saved
    }

    /// Puts a content into a document, in place, if a version is still its current one.
    static func save(_ merged: Path, over seen: VersionInfo, _ session: Session) async throws {
        let now = try await session.call(ShowRequest(session.target, version: nil))
        guard isSame(now, as: seen) else { throw SavedMeanwhile() }
        try Files.overwrite(now.file, with: merged)
        // A program may have saved in the moment between: its content is history then, and the conflict stays.
        let saved = try await session.call(ShowRequest(session.target, version: nil))
        guard saved.id == seen.id || saved.parents.contains(seen.id) else { throw SavedMeanwhile() }
    }
}
