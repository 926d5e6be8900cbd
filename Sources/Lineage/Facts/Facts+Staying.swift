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
        /// Another document began with it.
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
        return documents(from: version).contains { !isGone($0) } ? .origin : nil
    }

    /// What a version goes back to for its users: its parents, and the loser that was settled. In place of those that
    /// are gone, the nearest before them that remain.
    public func ancestors(of version: VersionRow) -> [VersionNumber] {
        var (pending, found, seen) = ([VersionNumber](), [VersionNumber](), [version.number])
        pending = [version.parents.first, version.parents.second].compactMap(\.self)
        if let loser = version.loser, isSettled(loser), !pending.contains(loser) { pending.append(loser) }
        while !pending.isEmpty {
            let next = pending.removeFirst()
            guard !seen.contains(next), let row = self[next] else { continue }
            seen.append(next)
            if row.isForgotten {
                pending = [row.parents.first, row.parents.second].compactMap(\.self) + pending
            } else {
                found.append(next)
            }
        }
        return found
    }
}
