// Items whose files are not at their recorded places: after a crash between a rename and its record, or after renames
// while the container was not mounted.

import Logging
import SystemPackage
import VersionModel

extension Recovery {
    /// Items follow their files to names without another item; otherwise the identity follows the name (DESIGN 5.1).
    ///
    /// - Returns: this recovery, with the present places of directories.
    func relocated(now: Timestamp) throws -> Recovery {
        var relocation = try Relocation(root: tree.root, identity: tree.identity, catalog: catalog)
        var directories: [FileID: [VersionStore.Mutation]] = [:]
        let count = try relocation.run(now: now) { displaced, strays, rows in
            for stray in strays { directories[stray.place.directory] = rows(stray.place.directory) }
            let mutations = try settle(displaced, strays, now)
            return strays.flatMap { directories[$0.place.directory] ?? [] } + mutations
        }
        if count > 0 {
            logger.notice("found items again that were renamed before a crash", metadata: ["items": "\(count)"])
        }
        var recovery = self
        let walked = relocation
        recovery.directories = { walked.path(of: $0) }
        return recovery
    }

    /// - Parameter isOrderly: whether no pass over the live files follows; an edit is then noticed at the next access.
    func settle(
        _ displaced: Relocation.Displaced, _ strays: [Relocation.Stray], _ now: Timestamp, isOrderly: Bool = false
    ) throws -> [VersionStore.Mutation] {
        // An earlier item may have gone, and taken or released the place.
        guard var item = try catalog.access({ try Query.item(displaced.item.id, $0) }),
            let current = try catalog.access({ try Query.version(item.current, $0) })
        else { return [] }
        let isWhole = strays.allSatisfy { $0.file.size == item.file.size && $0.file.modified == item.file.modified }
        let (free, taken) = (strays.filter { $0.occupant == nil }, strays.filter { $0.occupant != nil })
        var mutations: [VersionStore.Mutation] = []
        // The container judges changed content: it checks the item that had the name (CrashRecovery).
        for stray in taken where isWhole {
            guard let id = stray.occupant?.id, id != item.id, var other = try catalog.access({ try Query.item(id, $0) })
            else { continue }
            mutations += try takeOver(&other, stray, current, now)
        }
        if !displaced.replaced.isEmpty {
            // The name has another file, as after a save with a backup: its former file is a separate document. The
            // first version of that document is the item's current one.
            guard isWhole, !free.isEmpty || !taken.isEmpty else { return mutations }
            // A copy of the file is as good.
            if isOrderly, try displaced.replaced.contains(where: { try has(item.file, at: $0) }) { return mutations }
            if let stray = free.first { mutations += parted(current, at: free.map(\.place), stray.file, isWhole: true) }
            item.places.removeAll { displaced.absent.contains($0) }
            if !isOrderly { item.file = Item.LiveFile(id: FileID(0), size: 0, modified: Timestamp(nanoseconds: 0)) }
            return mutations + [.item(item)]
        }
        item.places.removeAll { displaced.absent.contains($0) }
        item.places += free.map(\.place)
        if item.places.isEmpty, !taken.isEmpty { return mutations + (try absorbed(item, current, isWhole: isWhole)) }
        if let stray = free.first { item.file.id = stray.file.id }
        return mutations + [.item(item)]
    }

    private func has(_ file: Item.LiveFile, at place: Place) throws -> Bool {
        guard let path = try catalog.access({ try Query.path(of: place.directory, $0) }),
            let live = tree.file(path.appending(place.name))?.file
        else { return false }
        return live.size == file.size && live.modified == file.modified
    }

    /// Handles a rename of a file over another item's: a save of that item with the new file's content.
    private func takeOver(
        _ other: inout Item, _ stray: Relocation.Stray, _ source: Version, _ now: Timestamp
    ) throws -> [VersionStore.Mutation] {
        guard let former = try catalog.access({ try Query.version(other.current, $0) }), former.kind == .current else {
            return []
        }
        var version = source
        version.id = .random()
        version.item = other.id
        version.kind = .current
        version.parents = [former.id]
        version.base = nil
        version.saved = now
        version.time = max(source.time, former.time).next(now: now)
        version.flags = .sealed
        other.current = version.id
        other.file = stray.file
        var old = former
        old.kind = .history
        if try !isFound(former) { old.flags.insert(.contentLost) }
        let event = Change(
            event: .saved, path: stray.path, item: other.id, version: version.id, time: now, author: version.author,
            directory: stray.place.directory)
        return [.version(old), .version(version), .item(other), .change(event)]
    }

    /// Whether a version's content is among the objects, or in a file of another item.
    private func isFound(_ version: Version) throws -> Bool {
        if contents.contains(version.content) { return true }
        return try catalog.access { try Query.versions(sharing: version.content, $0) }
            .contains { $0.kind == .current && $0.item != version.item }
    }

    /// Handles the item of a file that was renamed over another: a new item goes, a longer history stays without a
    /// name.
    private func absorbed(_ item: Item, _ current: Version, isWhole: Bool) throws -> [VersionStore.Mutation] {
        let versions = try catalog.access { try Query.versions(of: item.id, $0) }
        if versions.count == 1, current.parents.isEmpty { return [.forgetItem(item.id)] }
        var last = current
        last.kind = .history
        if !isWhole, !contents.contains(current.content) { last.flags.insert(.contentLost) }
        return [.version(last), .item(item)]
    }

    /// A separate item for a file that still holds a version of an item that is elsewhere now (DESIGN 5.1).
    func parted(
        _ recorded: Version, at places: [Place], _ file: Item.LiveFile, isWhole: Bool
    ) -> [VersionStore.Mutation] {
        var version = recorded
        version.id = .random()
        version.item = .random()
        version.kind = .current
        version.parents = [recorded.id]
        version.base = nil
        if !isWhole {
            version.content = .random()
            (version.size, version.modified, version.hash) = (file.size, file.modified, nil)
        }
        return [.version(version), .item(Item(id: version.item, places: places, current: version.id, file: file))]
    }

    /// The present paths of an item: its recorded places that exist. If there are none, and it was not deleted, the
    /// newest existing path of its labels.
    ///
    /// A name is excluded if its file is unchanged since the save of the item's last version, under this or another
    /// name: the item had moved to the place of that save and left the file behind (DESIGN 5.1). A later move back
    /// would have changed the file's ctime. A name is also excluded if the catalog knows another item there and a later
    /// version of this item (`known`), or a later one of that item, whose own file is there: this one was removed
    /// without a trace. So it is if the label is from a save beside the name.
    func livePaths(
        _ row: Item?, _ labels: [ContentStore.Label], last: Version?, known: HybridTime?, isDeleted: Bool
    ) throws -> ([TreePath], [Place]) {
        var found: ([TreePath], [Place]) = ([], [])
        for place in row?.places ?? [] {
            guard let parent = try catalog.access({ try Query.path(of: place.directory, $0) }) else { continue }
            let path = parent.appending(place.name)
            guard tree.file(path) != nil else { continue }
            found.0.append(path)
            found.1.append(place)
        }
        guard found.0.isEmpty, !isDeleted else { return found }
        let ordered = labels.sorted {
            ($0.isBeside ? 1 : 0, $1.version.time) < ($1.isBeside ? 1 : 0, $0.version.time)
        }
        for label in ordered {
            guard let file = tree.file(label.path), let place = tree.place(label.path) else { continue }
            let isOlder = known.map { label.version.time < $0 } ?? false
            if let other = try catalog.access({ try Query.item(at: place, $0) }), other.id != row?.id,
                try isOlder || label.isBeside || other.has(file.file) && isLater(other, than: label)
            {
                continue
            }
            if let last, label.version.id != last.id, file.status.change < last.saved { continue }
            return ([label.path], [place])
        }
        return found
    }

    private func isLater(_ item: Item, than label: ContentStore.Label) throws -> Bool {
        try catalog.access { try Query.version(item.current, $0) }.map { $0.time > label.version.time } ?? false
    }
}

extension Item {
    /// Whether a file is this item's, as far as the catalog knows its file.
    fileprivate func has(_ file: LiveFile) -> Bool {
        if self.file.id != FileID(0) { return self.file.id == file.id }
        return self.file.size == file.size && self.file.modified == file.modified
    }
}
