// Single versions that go for good, and what is left of the graph then (`purge VERSION`, thinning).

import VersionModel

extension Facts {
    /// Why a version stays in the history of its document, whatever its users want.
    public enum Stay: Hashable, Sendable {
        /// The document's names show it.
        case current
        /// It is an unsettled conflict.
        case conflict
        /// An unsettled conflict came about because a program had seen this one.
        case base
        /// Another document began with it, and needs it still.
        case origin
    }

    /// What keeps a version; nil if it may go.
    public func stay(of version: VersionNumber) -> Stay? {
        guard let document = document(of: version) else { return nil }
        if current(of: document) == version { return .current }
        let conflicts = conflicts(of: document)
        if conflicts.contains(version) { return .conflict }
        let isBase = rivals(of: document).contains { rival in
            rival.base == version && (rival.loser.map(conflicts.contains) ?? conflicts.contains(rival.number))
        }
        if isBase { return .base }
        return documents(from: version).contains(where: needsOrigin) ? .origin : nil
    }

    /// Whether a document needs what it began with: it has a name, comes back from the deleted list, or has versions of
    /// its own that go back to that. A copy that was thrown away before it was saved needs nothing.
    public func needsOrigin(_ document: DocumentNumber) -> Bool {
        if hasName(document) { return true }
        if isGone(document) { return false }
        return hasVersion(document)
            || rows(of: document).contains { row in
                departure(of: row).flatMap { deletion(by: $0) ?? removedName(by: $0) } != nil
            }
    }

    /// What a version goes back to for its users (``Ancestry``).
    public func ancestors(of version: VersionRow) -> [VersionNumber] {
        var ancestry = Ancestry(self)
        return ancestry.ancestors(of: version)
    }

    /// The first of the ancestors of each of these versions, which were forgotten. Those of a long history are found
    /// without a walk for each.
    func nearest(before gone: [VersionNumber]) -> [VersionNumber: VersionNumber] {
        var ancestry = Ancestry(self)
        return ancestry.nearest(before: gone)
    }
}
