// In whose coordinated access a process changes something: presenters do not hear of what is done in their own.

import VersionModel

extension Arbiter {
    /// The origin of a change (``Purpose/origin``) that a process makes just now; nil if it is in no claim.
    ///
    /// A program is known by its process, and so are the programs that it runs. Of several claims the last counts: it
    /// is nested in the others. What a presenter writes because it was asked to save is its own, claim or none.
    /// - Parameter from: for a rename, the path before it.
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
        // Of several presenters of one process nobody can tell whose it is: better heard of twice than missed.
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
    /// Whether it is the other's process, or one that that one has started.
    func isOrDescends(from other: FileActor) -> Bool { ref == other.ref || lineage.contains(other.ref) }
}

extension Access {
    /// Whether a change at one of the paths, or of an item, is what this access is for.
    fileprivate func covers(_ paths: [TreePath], _ item: ItemID?) -> Bool {
        guard kind.strength != .reads else { return false }
        return item != nil && item == self.item || paths.contains { $0.isWithin(path) }
    }
}
