// The check of a container's state: reads every content and follows every reference, while the container is in use.

internal import GRDB
import Glibc
import SystemPackage
import VersionModel

extension VersionStore {
    /// Reads every content and follows every reference; the container may be in use. A repair never removes content:
    /// unknown content gets its record back from its label, or is entered in ``lostObjects()``.
    ///
    /// - Parameters:
    ///   - isAtRest: whether no program uses the container: an object without a record will then not get one in a
    ///     moment.
    ///   - progress: called now and then with the number of checked objects and the total.
    public func check(
        repair: Bool, isAtRest: Bool = false, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> [Finding] {
        flush()
        do {
            let check = StoreCheck(store: self, repairs: repair && !options.readOnly, isAtRest: isAtRest)
            try check.run(progress)
            flush()
            return check.findings
        } catch let error as StoreError { throw error } catch let error as Errno {
            throw .io(error, "checking")
        } catch let failure as SQLFailure { throw .catalog(code: failure.code, failure.message) } catch {
            throw .catalog(code: 1, "\(error)")
        }
    }

    /// Objects and deleted entries without a record and without a readable label. They are kept, and listed here by
    /// their names in the state (`objects/xx/ID`, `deleted/xx/ID`).
    public func lostObjects() throws(StoreError) -> [String] {
        let bytes = try setting(StoreCheck.lostKey) ?? []
        return bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Catalog {
    /// The errors that SQLite finds in the file; empty if there are none.
    func damage() throws -> [String] {
        try access { try String.fetchAll($0, sql: "PRAGMA integrity_check(20)") }.filter { $0 != "ok" }
    }
}

/// One run of the check, for one thread.
final class StoreCheck {
    static let lostKey = "lost-objects"
    /// The number of rows per read.
    private static let portion: Int64 = 500
    /// A younger object may be kept already and get its record in a moment.
    private static let settledNanoseconds: Int64 = 5_000_000_000

    let store: VersionStore
    let repairs: Bool
    let isAtRest: Bool
    private(set) var findings: [Finding] = []
    private let recovery: Recovery
    private var lost: Set<String> = []

    init(store: VersionStore, repairs: Bool, isAtRest: Bool = true) {
        self.store = store
        self.repairs = repairs
        self.isAtRest = isAtRest
        recovery = Recovery(store: store)
    }

    func run(_ progress: (Int, Int) -> Void) throws {
        for text in try store.catalog.damage() {
            report(.catalogDamaged, "catalog.sqlite", text, repair: "rebuild the catalog from labels at the next mount")
            {
                StoreOpening.markDamaged(store.state)
                return []
            }
        }
        lost = Set(try store.lostObjects())
        var objects: Set<ContentID> = []
        try store.contents.forEach { objects.insert($0) }
        var entries: Set<DeletionID> = []
        try store.deletedArea.forEach { entries.insert($0) }
        try checkItems()
        try checkContents(progress)
        try checkUnknown(objects)
        try checkDeletions(entries)
        let list = lost.sorted().joined(separator: "\n")
        if repairs, !list.isEmpty { store.commit([.setting(key: Self.lostKey, value: Array(list.utf8))]) }
    }

    func report(
        _ kind: Finding.Kind, _ subject: String, path: TreePath? = nil, _ text: String, repair: String? = nil,
        _ mutations: () throws -> [VersionStore.Mutation]
    ) rethrows {
        var finding = Finding(kind: kind, subject: subject, path: path, text: text, repair: repair)
        if repairs, repair != nil {
            store.commit(try mutations())
            finding.isRepaired = true
        }
        findings.append(finding)
    }

    // MARK: Items and versions

    private func checkItems() throws {
        var last: ItemID?
        while true {
            let items = try store.catalog.access { try Query.items(after: last, limit: Self.portion, $0) }
            guard let end = items.last?.id else { break }
            for item in items { try check(item) }
            last = end
        }
        for id in try store.catalog.access({ try Query.missingItems($0) }) {
            guard try store.item(id) == nil, !(try store.versions(of: id)).isEmpty else { continue }
            try report(
                .versionWithoutItem, id.hex, "versions belong to an item that is not recorded",
                repair: "record the item anew, at the path of its newest label that exists"
            ) { try resettled(id) }
        }
    }

    private func check(_ snapshot: Item) throws {
        // The container is in use: an error in the snapshot is checked again with present values.
        let known = try store.versions(of: snapshot.id)
        try checkParents(known)
        guard !isSound(snapshot, known), let item = try store.item(snapshot.id) else { return }
        let versions = try store.versions(of: item.id)
        let path = try store.path(of: item)
        let current = versions.first { $0.id == item.current }
        if current == nil || current?.kind != .current && !item.places.isEmpty {
            try report(
                .currentMissing, item.id.hex, path: path, "the item's current version is not recorded as such",
                repair: "make the recorded version current, or record the file's state as a new one"
            ) { try current.map { [.kind($0.id, .current)] } ?? resettled(item.id) }
        }
        for version in versions where version.kind == .current && version.id != item.current {
            report(
                .severalCurrents, version.id.hex, path: path, "a second version of the item is marked current",
                repair: "mark it as history"
            ) { [.kind(version.id, .history)] }
        }
        if !item.places.isEmpty, path == nil {
            try report(
                .pathUnknown, item.id.hex, "the item's directory is not recorded",
                repair: "record the path of its newest label that exists"
            ) { try resettled(item.id) }
        }
    }

    private func isSound(_ item: Item, _ versions: [Version]) -> Bool {
        guard versions.contains(where: { $0.id == item.current && ($0.kind == .current || item.places.isEmpty) }),
            !versions.contains(where: { $0.kind == .current && $0.id != item.current })
        else { return false }
        return item.places.isEmpty || ((try? store.path(of: item)) ?? nil) != nil
    }

    /// The item, restored from its rows and the labels of its contents.
    private func resettled(_ id: ItemID) throws -> [VersionStore.Mutation] {
        let versions = try store.versions(of: id)
        let labels = versions.flatMap { version in
            ((try? store.contents.labels(of: version.content)) ?? []).filter { $0.version.id == version.id }
                .map { ContentStore.Label(version: version, path: $0.path, place: $0.place) }
        }
        var claimed: Set<TreePath> = []
        return try recovery.settle(id, labels, &claimed)
    }

    // MARK: Contents

    private func checkContents(_ progress: (Int, Int) -> Void) throws {
        let count = try store.catalog.access { try Query.keptVersionCount($0) }
        var (done, row): (Int, Int64) = (0, 0)
        while true {
            let portion = try store.catalog.access { try Query.keptVersions(after: row, limit: Self.portion, $0) }
            guard portion.last != row else { break }
            row = portion.last
            for version in portion.versions {
                progress(done, count)
                try checkContent(version)
                done += 1
            }
        }
        progress(count, count)
    }

    private func checkContent(_ version: Version) throws {
        guard !version.flags.contains(.contentLost), let text = try problem(version),
            let again = try store.version(version.id), again.kind != .current,
            !again.flags.contains(.contentLost), again.content == version.content
        else { return }
        let path = try path(of: version)
        report(
            store.contents.contains(version.content) ? .contentChanged : .contentMissing, version.id.hex,
            path: path, text, repair: "mark the version's content as lost; the file stays"
        ) { [.flags(version.id, again.flags.union(.contentLost))] }
    }

    /// The path of a version's document, now, at its deletion, or at the time when the version was kept.
    func path(of version: Version) throws -> TreePath? {
        if let path = try store.item(version.item).flatMap({ try store.path(of: $0) }) { return path }
        let deletions = try store.catalog.access { try Query.deletions(item: version.item, $0) }
        if let deletion = deletions.first { return deletion.path }
        return ((try? store.contents.labels(of: version.content)) ?? []).first { $0.version.id == version.id }?.path
    }

    private func checkUnknown(_ objects: Set<ContentID>) throws {
        for id in objects.sorted() where try store.versions(sharing: id).isEmpty {
            guard isSettled(store.contents.place(of: id)), try store.versions(sharing: id).isEmpty else { continue }
            guard let labels = try? store.contents.labels(of: id), let first = labels.first else {
                reportUnreadable("objects", id.hex)
                continue
            }
            try report(
                .objectUnknown, id.hex, path: first.path, "no version names this content",
                repair: "record it again from its label"
            ) {
                try Dictionary(grouping: labels, by: \.version.item).flatMap { item, labels in
                    var claimed: Set<TreePath> = []
                    return try recovery.settle(item, labels, &claimed)
                }
            }
        }
    }

    private func checkDeletions(_ entries: Set<DeletionID>) throws {
        for deletion in try store.deletions(within: nil) where !entries.contains(deletion.id) {
            let (directory, name) = store.deletedArea.place(of: deletion.id)
            guard (try? System.status(name, in: directory)) == nil, try store.deletion(deletion.id) != nil else {
                continue
            }
            report(
                .deletionMissing, deletion.id.hex, path: deletion.path, "the deleted entry is gone",
                repair: "forget the deletion"
            ) { [.removeDeletion(deletion.id)] }
        }
        for id in entries.sorted() where try store.deletion(id) == nil {
            guard isSettled(store.deletedArea.place(of: id)), try store.deletion(id) == nil else { continue }
            guard let label = try? store.deletedArea.label(of: id), label.id == id else {
                reportUnreadable("deleted", id.hex)
                continue
            }
            report(
                .deletionUnknown, id.hex, path: label.path, "no deletion names this entry",
                repair: "record it again from its label"
            ) { [.deletion(recovery.corrected(label))] }
        }
    }

    private func reportUnreadable(_ shelf: String, _ hex: String) {
        let name = "\(shelf)/\(hex.prefix(2))/\(hex)"
        guard !lost.contains(name) else { return }
        report(
            .labelUnreadable, hex, "no record names it and its label cannot be read",
            repair: "keep it and enter it in the list of lost objects"
        ) { [] }
        if repairs { lost.insert(name) }
    }

    /// Whether an entry still exists and has existed for a while.
    private func isSettled(_ entry: (directory: FileDescriptor, name: String)) -> Bool {
        guard let status = try? System.extendedStatus(entry.name, in: entry.directory) else { return false }
        if isAtRest { return true }
        let age = store.options.clock.now().since(status.change)
        return age <= -Self.settledNanoseconds || age >= Self.settledNanoseconds
    }
}
