// Renames and removals in the tree while the container was not mounted: histories follow their files, and histories of
// removed files go to the deleted area (docs/decisions/0009).

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel

extension Recovery {
    /// Checks the recorded directories that have changed since the container was closed. Only if a recorded name is
    /// missing there, or has another file, it walks the tree.
    ///
    /// - Parameter begin: called before the first change; a later crash counts as one.
    func follow(since closed: Timestamp?, now: Timestamp, begin: () throws -> Void) throws {
        // A clock that was set back gives no information about later changes.
        let since = closed.flatMap { $0 <= SystemClock().now() ? $0 : nil } ?? Timestamp(nanoseconds: .min)
        let paths = RecordedPaths(try catalog.access { try Query.allDirectories($0) })
        guard try isAnythingElsewhere(since: since, paths) else { return }
        try begin()
        var relocation = try Relocation(root: tree.root, identity: tree.identity, catalog: catalog, since: since)
        var gone: [(item: Item, place: Place)] = []
        let count = try relocation.run(now: now) { displaced, strays, rows in
            if strays.isEmpty, displaced.replaced.isEmpty {
                return try remaining(displaced, paths) { gone.append(($0, $1)) }
            }
            var mutations = strays.flatMap { rows($0.place.directory) }
            mutations += try settle(displaced, strays, now, isOrderly: true)
            if displaced.replaced.isEmpty, let free = strays.first(where: { $0.occupant == nil }) {
                let from = displaced.absent.min { $0.name < $1.name }.flatMap { paths.path(at: $0) }
                let event = Change(
                    event: .renamed, path: free.path, from: from, item: displaced.item.id,
                    version: displaced.item.current, time: now)
                mutations.append(.change(event))
            }
            return mutations
        }
        let walked = relocation
        var removal = UnseenRemoval(self, now: now) { walked.path(of: $0) } recorded: { paths.path(at: $0) }
        for (item, place) in gone { try catalog.applyNow(try removal.remove(item, at: place)) }
        guard count > 0 else { return }
        logger.notice(
            "found items that were renamed or removed while the container was not mounted",
            metadata: ["names": "\(count)", "gone": "\(gone.count)"])
    }

    private func isAnythingElsewhere(since: Timestamp, _ paths: RecordedPaths) throws -> Bool {
        for directory in try catalog.access({ try Query.recordedDirectories($0) }) {
            guard let path = paths.path(of: directory) else { return true }
            let isRoot = directory == .root
            guard let status = isRoot ? try? System.extendedStatus("", in: tree.root) : tree.status(path),
                isRoot || tree.id(of: status) == directory
            else { return true }
            guard status.change >= since else { continue }
            for (name, file) in try catalog.access({ try Query.files(in: directory, $0) }) {
                guard let found = tree.file(path.appending(name)) else { return true }
                if file != FileID(0), found.file.id != file { return true }
            }
        }
        return false
    }

    /// The present place of an item whose file is nowhere else. A removed directory may have a new one under its name,
    /// as after a copy of the tree away and back: identity follows the name.
    private func remaining(
        _ displaced: Relocation.Displaced, _ paths: RecordedPaths, _ isGone: (Item, Place) -> Void
    ) throws -> [VersionStore.Mutation] {
        guard var item = try catalog.access({ try Query.item(displaced.item.id, $0) }) else { return [] }
        let absent = item.places.filter { displaced.absent.contains($0) }
        guard let first = absent.first else { return [] }
        item.places.removeAll { displaced.absent.contains($0) }
        var mutations: [VersionStore.Mutation] = []
        for place in absent {
            guard let path = paths.path(at: place), tree.file(path) != nil, let now = tree.place(path), now != place,
                try catalog.access({ try Query.item(at: now, $0) }) == nil
            else { continue }
            mutations += rows(for: path.parent ?? .root)
            item.places.append(now)
        }
        if item.places.isEmpty { isGone(item, first) }
        return item.places.isEmpty ? [] : mutations + [.item(item)]
    }
}

/// The paths of directories at the time when the container was closed.
struct RecordedPaths {
    private let places: [FileID: Place]

    init(_ directories: [Directory]) {
        places = Dictionary(directories.map { ($0.id, $0.place) }, uniquingKeysWith: { $1 })
    }

    /// nil if a directory above it has no record.
    func path(of directory: FileID) -> TreePath? {
        var (names, current): ([FileName], FileID) = ([], directory)
        while current != .root {
            // Damaged rows may form a circle; the walk then ends.
            guard let place = places[current], names.count <= places.count else { return nil }
            names.append(place.name)
            current = place.directory
        }
        return TreePath(names: names.reversed())
    }

    func path(at place: Place) -> TreePath? { path(of: place.directory)?.appending(place.name) }
}

/// Moves the kept contents of removed documents to the deleted area, with directories for their restoration. All
/// entries of one opening form one group.
private struct UnseenRemoval {
    private typealias Home = (directory: FileID, path: TreePath)

    private let recovery: Recovery
    private let now: Timestamp
    private let group = DeletionID.random()
    private let livePath: (FileID) -> TreePath?
    private let recorded: (Place) -> TreePath?
    private var homes: [TreePath: FileID] = [:]
    private var catalog: Catalog { recovery.catalog }

    init(
        _ recovery: Recovery, now: Timestamp, livePath: @escaping (FileID) -> TreePath?,
        recorded: @escaping (Place) -> TreePath?
    ) {
        (self.recovery, self.now, self.livePath, self.recorded) = (recovery, now, livePath, recorded)
    }

    /// The newest kept version is the one to restore; an item without one is forgotten.
    mutating func remove(_ item: Item, at place: Place) throws -> [VersionStore.Mutation] {
        let path = livePath(place.directory)?.appending(place.name) ?? recorded(place) ?? TreePath(names: [place.name])
        let event = VersionStore.Mutation.change(Change(event: .deleted, path: path, item: item.id, time: now))
        let recorded = try catalog.access { try Query.versions(of: item.id, $0) }
        let versions = recorded.map { $0.id == item.current ? sharing($0, with: recorded) : $0 }
        let kept = versions.first { isWhole($0) && $0.kind != .conflict } ?? versions.first { isWhole($0) }
        guard let kept else {
            let shared = try versions.flatMap { try withoutContent($0) }
            return shared + [.forgetItem(item.id), event]
        }
        var rows: [VersionStore.Mutation] = []
        let home = try home(of: place, path, owner: kept.attributes, &rows)
        let object = recovery.contents.place(of: kept.content)
        let status = try System.extendedStatus(object.name, in: object.directory)
        let deletion = deletion(
            Place(directory: home, name: place.name), path, .file, recovery.tree.id(of: status), kept.attributes,
            size: kept.size, item: item.id)
        try moveIn(kept, status, deletion)
        var current = kept
        current.kind = .current
        rows.append(.version(current))
        if let lost = versions.first(where: { $0.id == item.current }), lost.id != kept.id {
            var lost = lost
            lost.kind = .history
            if lost.content != kept.content, !isWhole(lost) { lost.flags.insert(.contentLost) }
            rows += [.version(lost)] + (try withoutContent(lost))
        }
        let file = Item.LiveFile(id: deletion.file, size: kept.size, modified: kept.modified)
        let left = Item(id: item.id, places: [], current: kept.id, file: file)
        return rows + [.item(left), .deletion(deletion), event]
    }

    /// The version of the missing file. If another version holds the same bytes, with that one's content.
    private func sharing(_ version: Version, with all: [Version]) -> Version {
        guard !recovery.contents.contains(version.content),
            let equal = all.first(where: { $0.isEqual(to: version) && isWhole($0) })
        else { return version }
        var version = version
        version.content = equal.content
        return version
    }

    private func isWhole(_ version: Version) -> Bool {
        guard version.flags.isDisjoint(with: [.contentLost, .unfinished, .beside]) else { return false }
        let object = recovery.contents.place(of: version.content)
        return (try? System.extendedStatus(object.name, in: object.directory)).map { $0.size >= version.size } ?? false
    }

    /// Versions of other items with the content of the missing file.
    private func withoutContent(_ gone: Version) throws -> [VersionStore.Mutation] {
        if recovery.contents.contains(gone.content) { return [] }
        return try catalog.access { try Query.versions(sharing: gone.content, $0) }
            .filter { $0.item != gone.item && $0.kind != .current }
            .map { .flags($0.id, $0.flags.union(.contentLost)) }
    }

    /// Moves the object itself; if its content is longer than the version, a copy of its beginning.
    private func moveIn(_ version: Version, _ status: linux_stat, _ deletion: Deletion) throws {
        if status.size == version.size {
            return try recovery.deletedArea.moveFromContents(version.content, deletion)
        }
        let staging = recovery.deletedArea.staging
        guard let name = FileName(deletion.id.hex) else { return }
        try recovery.contents.restore(version, over: name, in: staging)
        try recovery.deletedArea.moveIn(name, of: staging, deletion)
    }

    /// The directory of a deletion: the present one, another one at its path, or a new one.
    private mutating func home(
        of place: Place, _ path: TreePath, owner: Attributes, _ rows: inout [VersionStore.Mutation]
    ) throws -> FileID {
        if livePath(place.directory) != nil { return place.directory }
        return try home(at: path.parent ?? .root, owner: owner, &rows)
    }

    private mutating func home(
        at path: TreePath, owner: Attributes, _ rows: inout [VersionStore.Mutation]
    ) throws -> FileID {
        if let known = homes[path] ?? recovery.tree.directory(path) { return known }
        guard let name = path.name, let parent = path.parent else { return .root }
        let above = try home(at: parent, owner: owner, &rows)
        let (id, staging) = (DeletionID.random(), recovery.deletedArea.staging)
        guard let temporary = FileName(id.hex) else { return above }
        try System.makeDirectory(temporary.cName, in: staging)
        _ = fchownat(staging.rawValue, temporary.cName, owner.owner, owner.group, AT_SYMLINK_NOFOLLOW)
        let file = recovery.tree.id(of: try System.extendedStatus(temporary.cName, in: staging))
        let attributes = Attributes(mode: 0o700, owner: owner.owner, group: owner.group)
        let deletion = deletion(
            Place(directory: above, name: name), path, .directory, file, attributes, size: 0, item: nil, id: id)
        try recovery.deletedArea.moveIn(temporary, of: staging, deletion)
        homes[path] = file
        rows.append(.deletion(deletion))
        return file
    }

    private func deletion(
        _ place: Place, _ path: TreePath, _ type: EntryType, _ file: FileID, _ attributes: Attributes, size: UInt64,
        item: ItemID?, id: DeletionID = .random()
    ) -> Deletion {
        Deletion(
            id: id, place: place, path: path, type: type, file: file, item: item, size: size, deleted: now,
            author: recovery.users.owner(attributes.owner), group: group, parentAccessed: now, parentModified: now,
            attributes: attributes)
    }
}
