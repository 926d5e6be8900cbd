// The coordinated access that a process's change belongs to: presenters do not hear of changes in their own accesses.

import VersionModel

extension Arbiter {
    /// The origin (``Purpose/origin``) of a change that a process makes now; nil outside of claims.
    ///
    /// A program is known by its process; the programs that it runs count as well. Of several claims the last counts:
    /// it is nested in the others. A change that a presenter makes during its save is its own, with or without a claim.
    /// - Parameter from: for a rename, the former path.
    public func origin(
        of actor: FileActor, at path: TreePath, from: TreePath? = nil, item: ItemID?
    ) -> UInt64? {
        let paths = [path] + (from.map { [$0] } ?? [])
        var last: (arrival: UInt64, purpose: Purpose)?
        for entry in held.lazy.compactMap({ claims[$0] }) where entry.arrival >= last?.arrival ?? 0 {
            guard let purpose = entry.claim.purpose, let holder = entry.claim.actor, actor.isOrDescends(from: holder),
                entry.claim.accesses.contains(where: { $0.covers(paths, item) })
            else { continue }
            last = (entry.arrival, purpose)
        }
        if let last { return last.purpose.origin }
        // With several presenters in one process the origin is unknown: two notifications are better than none.
        var saving: Set<Purpose> = []
        for asked in questions.values where asked.question == .save {
            guard let presenter = presenters[asked.presenter], let own = presenter.actor,
                actor.isOrDescends(from: own), let place = presenter.path,
                item != nil && item == presenter.item || paths.contains(where: { $0.isWithin(place) })
            else { continue }
            saving.insert(presenter.purpose)
        }
        return saving.count == 1 ? saving.first?.origin : nil
    }
}

extension FileActor {
    /// Whether this is the other process, or a process that it has started.
    func isOrDescends(from other: FileActor) -> Bool { ref == other.ref || lineage.contains(other.ref) }
}

extension Access {
    /// Whether the access covers a change at one of the paths, or of an item.
    fileprivate func covers(_ paths: [TreePath], _ item: ItemID?) -> Bool {
        guard kind.strength != .reads else { return false }
        return item != nil && item == self.item || paths.contains { $0.isWithin(path) }
    }
}
