// Reports of renamed names in the change feed; names that programs generate for themselves are not reported.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Gives a document its new name.
    /// - Returns: its rows, and whether the old name was only a program's.
    func movedRows(
        _ state: inout Document.State, _ move: Move, _ requester: Requester
    ) -> (rows: [VersionStore.Mutation], wasEphemeral: Bool) {
        let wasHidden = state.isUnannounced || state.isUnversioned
        let created = announcement(&state, in: move.source.parent, move.source.name, by: requester)
        state.places = state.places.map { $0 == move.source.place ? move.newPlace : $0 }
        let wasEphemeral = state.maker != nil || state.isUnversioned
        let published = publish(&state, move, requester)
        let isHidden = state.isUnannounced || state.isUnversioned
        // Listeners never heard of a name that a program made up for itself: for them the new name is a new file.
        let event: [VersionStore.Mutation] = isHidden ? []
            : wasHidden
            ? [.change(change(.created, in: move.newParent, move.newName, item: state.item, by: requester))]
            : [renamed(move, item: state.item, requester)]
        let rows = created + (wasHidden ? event + published : published)
        return (rows + itemRows(state, move.source.stat) + (wasHidden ? [] : event), wasEphemeral)
    }

    /// A document under an ephemeral name that is renamed to an ordinary one is work; one renamed to a backup name by
    /// its maker is ephemeral from then on.
    private func publish(
        _ state: inout Document.State, _ move: Move, _ requester: Requester
    ) -> [VersionStore.Mutation] {
        if observers.isEphemeral(move.newName, requester) || observers.isBackup(move.newName, of: move.source.name) {
            let hasMade = state.maker?.hasMade == true
            state.maker = observers.maker(requester, now: now)
            state.maker?.hasMade = hasMade
            return []
        }
        let rows = state.isUnannounced
            ? publication(&state, in: move.newParent, move.newName, move.source.stat, by: requester) : []
        state.maker = nil
        guard state.isUnversioned, !isIgnored(move.newName, in: move.newParent) else { return rows }
        state.isUnversioned = false
        guard
            let file = try? Backing.openQuietly(
                move.newName.bytes, in: move.newDirectory.raw, move.source.stat.key)
        else { return rows }
        defer { Glibc.close(file) }
        if let node = move.source.node {
            state.stamp = nil
            _ = try? save(
                &state, node, in: move.newParent, move.newName, file: file,
                PendingSave(kind: .replacing, requester: requester, isSealed: !node.hasWriters))
        }
        return rows
    }

    /// - Parameter version: what it is in the document that it was renamed over.
    func renamed(
        _ move: Move, item: ItemID?, replacing version: VersionID? = nil, _ requester: Requester
    ) -> VersionStore.Mutation {
        .change(
            change(
                .renamed, in: move.newParent, move.newName,
                from: (move.source.parent, move.source.name), item: item, version: version, by: requester))
    }

    /// The same for what is no document: a name that a program made up for itself was never told.
    func renamedOther(_ move: Move, _ requester: Requester) -> [VersionStore.Mutation] {
        guard observers.isEphemeral(move.source.name, requester) else { return [renamed(move, item: nil, requester)] }
        if observers.isEphemeral(move.newName, requester) { return [] }
        return [.change(change(.created, in: move.newParent, move.newName, by: requester))]
    }
}
