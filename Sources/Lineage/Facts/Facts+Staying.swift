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

    /// What a version goes back to for its users: its parents, and a loser that a user has given up for it. In place
    /// of those that are gone, the nearest before them that remain.
    public func ancestors(of version: VersionRow) -> [VersionNumber] {
        var (pending, found, seen) = ([VersionNumber](), [VersionNumber](), Set([version.number]))
        pending = before(version)
        while !pending.isEmpty {
            let next = pending.removeFirst()
            guard seen.insert(next).inserted, let row = self[next] else { continue }
            if row.isForgotten {
                pending = [row.parents.first, row.parents.second].compactMap(\.self) + pending
            } else {
                found.append(next)
            }
        }
        return found
    }

    /// What a version goes back to, whether that remains or not.
    private func before(_ version: VersionRow) -> [VersionNumber] {
        let parents = [version.parents.first, version.parents.second].compactMap(\.self)
        guard let loser = version.loser, isSettled(loser), !parents.contains(loser), !hasSuccessor(loser) else {
            return parents
        }
        return parents + [loser]
    }

    /// Whether a version of its document goes back to this one: its author has gone on from it, or it was merged or
    /// chosen. Its winner is no merge of it then.
    private func hasSuccessor(_ version: VersionNumber) -> Bool {
        guard let document = document(of: version) else { return false }
        return versions(of: document).contains { $0.parents.first == version || $0.parents.second == version }
    }

    /// The first of the ancestors of each of these versions, which were forgotten. Those of a long history are found
    /// without a walk for each.
    func nearest(before gone: [VersionNumber]) -> [VersionNumber: VersionNumber] {
        var (nearest, isKnown): ([VersionNumber: VersionNumber], Set<VersionNumber>) = ([:], [])
        for number in gone.sorted() {
            isKnown.insert(number)
            guard let row = self[number] else { continue }
            for parent in before(row) {
                guard let before = self[parent] else { continue }
                let found = !before.isForgotten ? parent
                    : isKnown.contains(parent) ? nearest[parent] : ancestors(of: before).first
                guard let found else { continue }
                nearest[number] = found
                break
            }
        }
        return nearest
    }
}
