// Queries of the catalog. Every reader sees everything committed before its call.

internal import GRDB
import Logging
import VersionModel

extension VersionStore {
    func read<Result>(_ body: (Database) throws -> Result) throws(StoreError) -> Result {
        flush()
        do throws(StoreError) { return try catalog.read(body) } catch {
            noteDamage(error)
            throw error
        }
    }

    // MARK: Items

    public func item(at place: Place) throws(StoreError) -> Item? { try read { try Query.item(at: place, $0) } }

    public func item(_ id: ItemID) throws(StoreError) -> Item? { try read { try Query.item(id, $0) } }

    /// The recorded documents of one directory.
    public func items(in directory: FileID) throws(StoreError) -> [Item] {
        try read { try Query.items(in: directory, $0) }
    }

    /// The documents of a directory that have conflicts or history.
    public func itemsWithOtherVersions(in directory: FileID) throws(StoreError) -> [Item] {
        try read { database in
            try Query.items(in: directory, database).filter { try Query.hasOtherVersions($0.id, database) }
        }
    }

    /// Whether an item has versions besides its current one.
    public func hasOtherVersions(_ item: ItemID) throws(StoreError) -> Bool {
        try read { try Query.hasOtherVersions(item, $0) }
    }

    /// The unresolved losers of an item, newest first.
    public func conflicts(of item: ItemID) throws(StoreError) -> [Version] {
        try read { try Query.conflicts(of: item, $0) }
    }

    /// All items with unresolved losers; not the deleted ones.
    public func conflicted() throws(StoreError) -> [Item] { try read { try Query.conflicted($0) } }

    // MARK: Versions

    public func version(_ id: VersionID) throws(StoreError) -> Version? { try read { try Query.version(id, $0) } }

    /// Newest first.
    public func versions(of item: ItemID) throws(StoreError) -> [Version] {
        try read { try Query.versions(of: item, $0) }
    }

    /// The versions whose id starts with these hex digits (at most 32, either case); none for other text.
    public func versions(withPrefix hex: String) throws(StoreError) -> [Version] {
        guard let range = IDRange(hex) else { return [] }
        return try read { try Query.versions(from: range.low, through: range.high, $0) }
    }

    public func versions(sharing content: ContentID) throws(StoreError) -> [Version] {
        try read { try Query.versions(sharing: content, $0) }
    }

    // MARK: Deletions, newest first

    public func deletion(_ id: DeletionID) throws(StoreError) -> Deletion? {
        try read { try Query.deletion(id, $0) }
    }

    public func deletions(in directory: FileID) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(in: directory, $0) }
    }

    /// The deletions of the path and below it; all for nil.
    public func deletions(within path: TreePath?) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(within: path, $0) }
    }

    public func deletions(group: DeletionID) throws(StoreError) -> [Deletion] {
        try read { try Query.deletions(group: group, $0) }
    }

    // MARK: Directories

    public func directory(_ id: FileID) throws(StoreError) -> Directory? {
        try read { try Query.directory(id, $0) }
    }

    /// nil if a directory above it has no record.
    public func path(of directory: FileID) throws(StoreError) -> TreePath? {
        try read { try Query.path(of: directory, $0) }
    }

    /// The path of the item's first place; nil if it has none, or its directory's path is unknown.
    public func path(of item: Item) throws(StoreError) -> TreePath? {
        guard let place = item.places.first else { return nil }
        return try path(of: place.directory)?.appending(place.name)
    }

    /// The directories with recorded documents.
    public func recordedDirectories() throws(StoreError) -> Set<FileID> {
        try read { try Query.recordedDirectories($0) }
    }

    // MARK: Other queries

    public func setting(_ key: String) throws(StoreError) -> [UInt8]? { try read { try Query.setting(key, $0) } }

    /// Rows of the change feed after a sequence number, in order. The feed keeps about the last 100,000.
    public func changes(after sequence: UInt64, limit: Int) throws(StoreError) -> [(sequence: UInt64, Change)] {
        try read { try Query.changes(after: sequence, limit: limit, $0).map { ($0.sequence, $0.change) } }
    }

    /// The first and last sequence numbers in the feed; nil if it is empty.
    public func changeRange() throws(StoreError) -> ClosedRange<UInt64>? { try read { try Query.changeRange($0) } }

    public func statistics() throws(StoreError) -> ContainerCounts {
        let counts = try read { try Query.statistics($0) }
        var statistics = ContainerCounts()
        guard counts.count == 5 else { return statistics }
        statistics.items = Int(clamping: counts[0])
        statistics.versions = Int(clamping: counts[1])
        statistics.conflicts = Int(clamping: counts[2])
        statistics.deletions = Int(clamping: counts[3])
        statistics.deletedBytes = UInt64(clamping: counts[4])
        return statistics
    }

    /// Damage that a read finds makes the next opening rebuild the catalog.
    private func noteDamage(_ error: StoreError) {
        guard case .catalog(let code, _) = error, SQLFailure(code: code, message: "").isCorruption else { return }
        options.logger.critical(
            "the catalog is damaged; it is rebuilt at the next mount", metadata: ["error": "\(error)"])
        StoreOpening.markDamaged(state)
    }
}
