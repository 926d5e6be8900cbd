// Removing entries of the deleted area for good.

import SystemPackage
import VersionModel
import VersionStore

/// The entries of the deleted area that pinned versions hold.
struct PinnedEntries {
    var entries: Set<DeletionID> = []
    /// How many pinned versions hold them.
    var versions = 0
}

/// Removes entries of the deleted area, with the history of documents that are nowhere else.
final class DeletedRemoval: Sendable {
    private let store: VersionStore
    private let custodian: Custodian
    private let versions: VersionRemoval
    private let nodes: NodeTable
    private let tombstones: Tombstones
    private let passthrough: Passthrough
    private let clock: any WallClock

    init(
        store: VersionStore, custodian: Custodian, versions: VersionRemoval, nodes: NodeTable, tombstones: Tombstones,
        passthrough: Passthrough, clock: any WallClock
    ) {
        (self.store, self.custodian, self.versions, self.nodes) = (store, custodian, versions, nodes)
        (self.tombstones, self.passthrough, self.clock) = (tombstones, passthrough, clock)
    }

    /// One entry goes. No name comes back meanwhile.
    func remove(
        _ names: borrowing NamesHeldAlone, _ deletion: Deletion
    ) throws -> (versions: [Version], bytes: UInt64) {
        guard let deletion = try store.deletion(deletion.id) else { return ([], 0) }
        // A name that comes back now is a new document.
        _ = tombstones.take(of: deletion, now: clock.now())
        if try handToOtherName(names, deletion) { return ([], 0) }
        var rows: [VersionStore.Mutation] = [.removeDeletion(deletion.id)]
        var gone: [Version] = []
        if let id = deletion.item, let item = try store.item(id), item.places.isEmpty,
            try store.deletions(of: id).allSatisfy({ $0.id == deletion.id })
        {
            gone = try store.versions(of: id)
            if let current = gone.first(where: { $0.id == item.current }), try isOnlyContent(of: current) {
                // An older version of another item is in this file and nowhere else.
                let label = ContentStore.Label(
                    version: try sharer(of: current) ?? current, path: deletion.path, place: deletion.place)
                try custodian.keep(deletion.id, as: current.content, label)
            }
            rows.append(.forgetItem(id))
        }
        store.commit(rows)
        // Of the current one there may be a copy too, from when it was open for writing.
        var bytes = try gone.isEmpty ? 0 : versions.remove(gone, at: deletion.path)
        let place = store.deletedArea.place(of: deletion.id)
        if let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) {
            // The kernel may have the file open for reading by itself, and would keep its blocks.
            if let node = nodes.node(deletion.id) { passthrough.drop(node) }
            try custodian.remove(deletion.id)
            bytes += deletion.type == .file ? min(stat.size, .max - bytes) : 0
        }
        return (gone, bytes)
    }

    /// Before a file of the deleted area goes for good: if another deleted name of it is noted, that gets the file.
    private func handToOtherName(_ names: borrowing NamesHeldAlone, _ deletion: Deletion) throws -> Bool {
        guard deletion.type == .file, let item = deletion.item,
            let other = try store.deletions(of: item).first(where: { $0.type == .link && $0.file == deletion.file })
        else { return false }
        var file = other
        (file.type, file.size) = (.file, deletion.size)
        try custodian.hand(names, deletion.id, to: file)
        store.commit([.removeDeletion(deletion.id), .deletion(file)])
        return true
    }

    /// A version of another item with the same content.
    private func sharer(of version: Version) throws -> Version? {
        try store.versions(sharing: version.content).first { $0.item != version.item }
    }

    private func isOnlyContent(of version: Version) throws -> Bool {
        try !store.contents.contains(version.content) && sharer(of: version) != nil
    }

    // MARK: Asked before

    /// The versions and bytes that would go with these entries.
    func wouldRemove(_ going: [Deletion]) throws -> RemovalOutcome {
        let gone = Set(going.map(\.id))
        var outcome = RemovalOutcome(deleted: going.count, entries: going)
        var items: Set<ItemID> = []
        for deletion in going {
            let place = store.deletedArea.name(of: deletion.id)
            if deletion.type == .file, let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) {
                outcome.bytes.addCapped(stat.size)
            }
            guard let item = deletion.item, items.insert(item).inserted, try store.item(item)?.places.isEmpty == true,
                try store.deletions(of: item).allSatisfy({ gone.contains($0.id) })
            else { continue }
            outcome.versions += try store.versions(of: item).map { ($0, deletion.path) }
        }
        outcome.bytes.addCapped(try versions.freed(by: outcome.versions.map(\.version)))
        return outcome
    }

    func heldByPins(_ deletions: [Deletion]) throws -> PinnedEntries {
        try deletions.held { try pinnedVersions(ofDeleted: $0) }
    }

    func isNameless(_ item: ItemID) throws -> Bool { try store.item(item)?.places.isEmpty == true }

    /// How many pinned versions a document has that would go with its last deletion; none while it has a name.
    private func pinnedVersions(ofDeleted item: ItemID) throws -> Int {
        guard try isNameless(item) else { return 0 }
        return try store.versions(of: item).count { $0.flags.contains(.pinned) }
    }
}
