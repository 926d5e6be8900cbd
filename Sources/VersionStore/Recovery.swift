// Makes the catalog consistent with the state's files: after a crash, a copy, or the loss of the catalog.

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel

/// One pass over labels. Recovery records labels that the catalog does not know. The catalog's own records stay, unless
/// a label proves that its end was lost.
struct Recovery {
    let contents: ContentStore
    let deletedArea: DeletedArea
    let catalog: Catalog
    let tree: LiveTree
    let device: VersionModel.DeviceID
    let logger: Logger
    let users = UserNames()
    /// Whether the container is not yet in use.
    let isOpening: Bool
    /// Whether the catalog exists and the container checks the live files next.
    let isAfterCrash: Bool
    /// The time of the last change in the catalog; nil if it is unknown.
    let lastChange: Timestamp?
    /// The present path of a directory; without it, the paths in labels count.
    var directories: ((FileID) -> TreePath?)?

    init(opening: StoreOpening) {
        contents = opening.base.contents
        deletedArea = opening.base.deletedArea
        catalog = opening.catalog
        tree = LiveTree(root: opening.base.root, identity: opening.base.fileIdentity)
        device = opening.identity.device
        logger = opening.options.logger
        isOpening = true
        isAfterCrash = opening.identity.isUnsettled
        lastChange = opening.lastChange
    }

    init(store: VersionStore) {
        contents = store.contents
        deletedArea = store.deletedArea
        catalog = store.catalog
        tree = LiveTree(root: store.root, identity: store.fileIdentity)
        device = store.identity.device
        logger = store.options.logger
        isOpening = false
        isAfterCrash = false
        lastChange = nil
    }

    // MARK: After a crash or the loss of the catalog

    /// Records the labels that the catalog does not know.
    func readLabels() throws {
        let labels = try unknownLabels()
        var entries: Set<DeletionID> = []
        try deletedArea.forEach { entries.insert($0) }
        let deletions = try unknownDeletions(entries)
        var items = Set(labels.keys)
        for deletion in deletions {
            try record(deletion)
            if let item = deletion.item { items.insert(item) }
        }
        items.formUnion(try forgetVanishedDeletions(entries))
        // Two items may claim one path, if one was renamed away and another came: the last one seen there gets it.
        let ordered = items.map { id in (id, labels[id] ?? []) }
            .sorted { ($0.1.lastSeen, $0.1.newest) > ($1.1.lastSeen, $1.1.newest) }
        var claimed: Set<TreePath> = []
        for (id, labels) in ordered { try catalog.applyNow(try settle(id, labels, &claimed)) }
        if !items.isEmpty || !deletions.isEmpty {
            logger.notice(
                "recovered from labels",
                metadata: ["items": "\(items.count)", "deletions": "\(deletions.count)"])
        }
    }

    /// Labels of versions that the catalog does not know. An object of a current version alone proves no save: it was
    /// kept because a save might follow. The container finds out from the live file whether one did
    /// (``VersionStore/keptCurrents()``).
    private func unknownLabels() throws -> [ItemID: [ContentStore.Label]] {
        var ids: [ContentID] = []
        try contents.forEach { ids.append($0) }
        ids.sort()
        // Both are in the same order: one pass over the catalog is enough for any number of objects.
        var next = 0
        var unknown: [ItemID: [ContentStore.Label]] = [:]
        let horizon = lastChange?.advanced(byNanoseconds: -VersionStore.dirtyNanoseconds)
        try catalog.access { database in
            try Query.forEachContent(database) { content, known in
                while next < ids.count, ids[next] < content {
                    read(ids[next], known: [], &unknown)
                    next += 1
                }
                guard next < ids.count, ids[next] == content else { return }
                // If one of its versions is older, it may have been kept for another version that shares it.
                if known.contains(where: { $0.kind == .current }) || isKept(content, since: horizon) {
                    read(content, known: known, &unknown)
                }
                next += 1
            }
        }
        for id in ids[next...] { read(id, known: [], &unknown) }
        return unknown
    }

    /// Whether an object was put in its place after that time.
    private func isKept(_ id: ContentID, since horizon: Timestamp?) -> Bool {
        guard let horizon else { return true }
        let (directory, name) = contents.place(of: id)
        return (try? System.extendedStatus(name, in: directory)).map { $0.change >= horizon } ?? false
    }

    private func read(
        _ id: ContentID, known: [Query.VersionOfContent], _ unknown: inout [ItemID: [ContentStore.Label]]
    ) {
        guard let labels = try? contents.labels(of: id) else {
            return logger.warning("an object without a readable label", metadata: ["object": "\(id)"])
        }
        for var label in labels {
            // A known version may have been amended after the catalog's end.
            if known.contains(where: { $0.id == label.version.id && $0.time >= label.version.time }) { continue }
            // Synchronized while it was current, and now among the objects.
            if label.version.kind == .current { label.version.kind = .history }
            // Directories may have been renamed since. The root's path never has a document.
            if let directories { label.path = directories(label.place.directory)?.appending(label.place.name) ?? .root }
            unknown[label.version.item, default: []].append(label)
        }
    }

    private func unknownDeletions(_ entries: Set<DeletionID>) throws -> [Deletion] {
        let known = try catalog.access { try Query.deletionIDs($0) }
        return entries.subtracting(known).sorted().compactMap { id in
            guard let label = try? deletedArea.label(of: id), label.id == id else {
                logger.warning("a deleted entry without a readable label", metadata: ["entry": "\(id)"])
                return nil
            }
            return corrected(label)
        }
    }

    /// A deletion's FileIDs in this container: a label from before a copy has others.
    func corrected(_ label: Deletion) -> Deletion {
        var deletion = label
        if let path = directories?(label.place.directory) {
            deletion.path = path.appending(label.place.name)
        } else if directories == nil, let parent = label.path.parent, let id = tree.directory(parent) {
            deletion.place.directory = id
        }
        // The entry of a name is not the file itself.
        guard label.type != .link else { return deletion }
        let (directory, name) = deletedArea.place(of: label.id)
        if let status = try? System.extendedStatus(name, in: directory) { deletion.file = tree.id(of: status) }
        return deletion
    }

    private func record(_ deletion: Deletion) throws {
        try catalog.applyNow(rows(for: deletion.path.parent ?? .root) + [.deletion(deletion)])
    }

    /// Deletes the rows of deletions without an entry (undeleted or purged, with the end of the catalog lost).
    private func forgetVanishedDeletions(_ entries: Set<DeletionID>) throws -> Set<ItemID> {
        var items: Set<ItemID> = []
        for id in try catalog.access({ try Query.deletionIDs($0) }).subtracting(entries).sorted() {
            guard let deletion = try catalog.access({ try Query.deletion(id, $0) }) else { continue }
            try catalog.applyNow([.removeDeletion(deletion.id)])
            guard let id = deletion.item, let file = tree.file(deletion.path),
                var item = try catalog.access({ try Query.item(id, $0) }), let place = tree.place(deletion.path)
            else { continue }
            // Undeleted: the file itself is back. Or the name came back with another file, and the entry became the
            // content of the former current version.
            let isUndeleted = file.file.id == deletion.file
            guard try isUndeleted || hasReturned(item, to: place) else { continue }
            item.places = Array(Set(item.places).union([place]))
            item.file =
                isUndeleted
                ? file.file : Item.LiveFile(id: FileID(0), size: 0, modified: Timestamp(nanoseconds: 0))
            try catalog.applyNow(rows(for: deletion.path.parent ?? .root) + [.item(item)])
            items.insert(id)
        }
        return items
    }

    /// Whether an item's current version is among the objects, and no other item has the place.
    private func hasReturned(_ item: Item, to place: Place) throws -> Bool {
        guard let current = try catalog.access({ try Query.version(item.current, $0) }),
            contents.contains(current.content)
        else { return false }
        return try catalog.access { try Query.item(at: place, $0) } == nil
    }

    func rows(for path: TreePath) -> [VersionStore.Mutation] { tree.rows(for: path).map { .directory($0) } }

    // MARK: One item

    /// The changes that complete an item: rows for the labels, existing places, one current version. `claimed`: paths
    /// that labels of other items have taken in this pass.
    func settle(
        _ id: ItemID, _ labels: [ContentStore.Label], _ claimed: inout Set<TreePath>
    ) throws -> [VersionStore.Mutation] {
        let row = try catalog.access { try Query.item(id, $0) }
        var versions: [VersionID: Version] = [:]
        for version in try catalog.access({ try Query.versions(of: id, $0) }) { versions[version.id] = version }
        let recorded = row.flatMap { versions[$0.current] }
            .flatMap { $0.kind == .current ? $0.amended(by: labels) : nil }
        let known = row.flatMap { _ in versions.values.map(\.time).max() }
        var mutations: [VersionStore.Mutation] = []
        // The label of a content also has the state that was synchronized before a later append: an earlier state of
        // the same version.
        for label in labels.sorted(by: { $0.version.time < $1.version.time }) {
            versions[label.version.id] = label.version
            mutations.append(.version(label.version))
        }
        if let recorded, versions[recorded.id] != recorded {
            versions[recorded.id] = recorded
            mutations.append(.version(recorded))
        }
        let deletion = try catalog.access { try Query.deletions(item: id, $0) }.first { $0.type != .link }
        guard let newest = versions.values.max(by: { $0.time < $1.time }) else { return mutations }
        // For an item that the catalog does not know, or knows without a name, the newest kept version is the last one
        // known to be complete: its name may have come back, and a save was about to replace that version.
        let isUnknown = recorded == nil && deletion == nil && isAfterCrash
        let lost = recorded.map { successor(of: $0, among: labels) } ?? (isUnknown ? labels.lastWhole : nil)
        var (paths, places) = try livePaths(
            row, labels.filter { !claimed.contains($0.path) }, last: labels.lastWhole, known: known,
            isDeleted: deletion != nil)
        var isReplaced = lost != nil
        if let recorded, isAway(recorded, labels, deletion, from: paths) {
            // The item had been renamed, and was back at its name before the end: the file at the other name stays
            // there.
            let parted = try parted(recorded, at: zip(paths, places))
            if !parted.isEmpty {
                mutations += parted
                (paths, places, isReplaced) = ([], [], true)
                if deletion == nil, let path = labels.first(where: { $0.version.id == lost?.id })?.path,
                    !claimed.contains(path), tree.file(path) != nil, let place = tree.place(path)
                {
                    (paths, places) = ([path], [place])
                }
            }
        }
        claimed.formUnion(paths)
        for path in paths { mutations += rows(for: path.parent ?? .root) }

        let file = Item.LiveFile(id: FileID(0), size: newest.size, modified: newest.modified)
        var item = row ?? Item(id: id, places: [], current: newest.id, file: file)
        item.places = places
        if let recorded, isReplaced { mutations.append(.kind(recorded.id, .history)) }
        if let lost, !paths.isEmpty {
            goOn(with: lost, &item, &mutations)
        } else if recorded == nil || isReplaced {
            beginAnew(after: newest, at: paths.first, deletion, &item, &mutations)
        }
        return mutations + [.item(item)]
    }

    /// Handles a lost end of the catalog. The successor of this version is the live file, which the container checks
    /// next.
    private func goOn(with lost: Version, _ item: inout Item, _ mutations: inout [VersionStore.Mutation]) {
        var successor = lost
        successor.kind = .current
        mutations.append(.version(successor))
        item.current = successor.id
        item.file = Item.LiveFile(id: FileID(0), size: successor.size, modified: successor.modified)
    }

    /// Gives an item without a current version one for the content of its file.
    private func beginAnew(
        after newest: Version, at path: TreePath?, _ deletion: Deletion?, _ item: inout Item,
        _ mutations: inout [VersionStore.Mutation]
    ) {
        if let path, let live = tree.file(path) {
            item.file = live.file
            item.current = add(current(of: item, live.status, after: newest), &mutations)
        } else if let deletion {
            item.file = Item.LiveFile(id: deletion.file, size: deletion.size, modified: modified(deletion))
            item.current = add(current(of: item, deletion, after: newest), &mutations)
        } else {
            item.current = newest.id
        }
    }

    /// Whether an item was elsewhere after the catalog's end: a later version was kept, or the item was deleted, at
    /// none of these paths.
    private func isAway(
        _ recorded: Version, _ labels: [ContentStore.Label], _ deletion: Deletion?, from paths: [TreePath]
    ) -> Bool {
        guard isOpening, !paths.isEmpty else { return false }
        if let deletion { return deletion.deleted > recorded.saved && !paths.contains(deletion.path) }
        let successor = successor(of: recorded, among: labels)
        return labels.contains { $0.version.id == successor?.id && !paths.contains($0.path) }
    }

    /// Separate items for files that still hold a version of an item that is elsewhere now (DESIGN 5.1).
    private func parted(
        _ recorded: Version, at spots: Zip2Sequence<[TreePath], [Place]>
    ) throws -> [VersionStore.Mutation] {
        spots.flatMap { path, place -> [VersionStore.Mutation] in
            guard let file = tree.file(path)?.file else { return [] }
            let isWhole = file.size == recorded.size && file.modified == recorded.modified
            return parted(recorded, at: [place], file, isWhole: isWhole)
        }
    }

    /// The newest version after `recorded` that only labels know; nil if the catalog has the end. Only during the
    /// opening: later the container itself knows the current version.
    private func successor(of recorded: Version, among labels: [ContentStore.Label]) -> Version? {
        guard isOpening else { return nil }
        return labels.lastWhole.flatMap { $0.time > recorded.time ? $0 : nil }
    }

    private func add(_ version: Version, _ mutations: inout [VersionStore.Mutation]) -> VersionID {
        mutations.append(.version(version))
        return version.id
    }

    /// A version for a live file whose own record is lost.
    private func current(of item: Item, _ status: linux_stat, after newest: Version) -> Version {
        Version(
            id: .random(), item: item.id, kind: .current, content: .random(), size: status.size,
            modified: status.modification, saved: status.modification, time: newest.time.next(now: status.modification),
            device: device, author: users.owner(status.user), parents: [newest.id],
            attributes: Attributes(mode: status.mode & 0o7777, owner: status.user, group: status.group),
            flags: [.sealed])
    }

    /// A version for a deleted file whose own record is lost.
    private func current(of item: Item, _ deletion: Deletion, after newest: Version) -> Version {
        Version(
            id: .random(), item: item.id, kind: .current, content: .random(), size: deletion.size,
            modified: item.file.modified, saved: deletion.deleted, time: newest.time.next(now: item.file.modified),
            device: device, author: deletion.author, parents: [newest.id], attributes: deletion.attributes,
            flags: [.sealed])
    }

    private func modified(_ deletion: Deletion) -> Timestamp {
        let (directory, name) = deletedArea.place(of: deletion.id)
        return (try? System.extendedStatus(name, in: directory))?.modification ?? deletion.deleted
    }
}

extension Version {
    /// A current version according to its labels: it may have been amended after the catalog's end. A kept content
    /// alone does not make it history: the live file shows whether the save that it was kept for happened.
    fileprivate func amended(by labels: [ContentStore.Label]) -> Version {
        var version = labels.map(\.version).filter { $0.id == id && $0.time > time }.max { $0.time < $1.time } ?? self
        version.kind = .current
        return version
    }
}

extension [ContentStore.Label] {
    private static var never: HybridTime { HybridTime(wall: Timestamp(nanoseconds: .min), logical: 0) }

    var newest: HybridTime { map(\.version.time).max() ?? Self.never }

    /// The time when the item was last known to have the name in its labels; saves beside the name do not count.
    var lastSeen: HybridTime { filter { !$0.isBeside }.newest }

    /// The newest complete version that was the file's own content.
    var lastWhole: Version? {
        let whole = map(\.version).filter {
            $0.kind == .history && $0.flags.isDisjoint(with: [.unfinished, .contentLost, .beside])
        }
        return whole.max {
            $0.time < $1.time
        }
    }
}

extension ContentStore.Label {
    /// Whether it is from a save to a file that had lost its name.
    var isBeside: Bool { version.flags.contains(.beside) }
}
