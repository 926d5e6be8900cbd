// The versions and entries that a purge would remove, for people who ask before.

import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The bytes that would become free if versions went: their contents, as far as no other version has them.
    func wouldFree(_ versions: [Version]) throws -> UInt64 {
        let gone = Set(versions.map(\.id))
        return try Set(versions.map(\.content)).reduce(into: 0) { bytes, content in
            let place = store.contents.name(of: content)
            guard let stat = try? Backing.stat(path: place.name, in: place.directory.rawValue) else { return }
            let longest = try store.versions(sharing: content).filter { !gone.contains($0.id) }.map(\.size).max() ?? 0
            bytes.addCapped(stat.size - min(stat.size, longest))
        }
    }

    /// The versions and bytes that would go with entries of the deleted area.
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
        outcome.bytes.addCapped(try wouldFree(outcome.versions.map(\.version)))
        return outcome
    }
}
