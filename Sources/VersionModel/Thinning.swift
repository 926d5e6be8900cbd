// The versions that go because of age, and those that go because of space: DESIGN 7 as pure functions.

/// Thins histories like macOS: all versions for an hour, one per hour for a day, one per day for a month, then one per
/// week.
public enum Thinning {
    /// A version for thinning.
    public struct Candidate: Hashable, Sendable {
        public var version: VersionID
        public var item: ItemID
        /// The time of its save, in seen time (``RetentionClock/seenTime(of:)``).
        public var saved: Int64
        /// Its content; candidates may share one content, which counts once.
        public var content: ContentID
        public var bytes: UInt64
        /// Whether it must stay (``protected(_:bases:)``).
        public var isProtected: Bool

        public init(
            version: VersionID, item: ItemID, saved: Int64, content: ContentID, bytes: UInt64, isProtected: Bool
        ) {
            self.version = version
            self.item = item
            self.saved = saved
            self.content = content
            self.bytes = bytes
            self.isProtected = isProtected
        }

        /// Oldest first, in a fixed order.
        fileprivate static func isOlder(_ left: Candidate, _ right: Candidate) -> Bool {
            (left.saved, left.version) < (right.saved, right.version)
        }
    }

    private static let hour = RetentionClock.day / 24
    private static let day = RetentionClock.day
    private static let week = 7 * RetentionClock.day
    private static let month = 30 * RetentionClock.day

    /// The versions that always stay: the current one, pinned ones, unresolved conflicts with their bases, and the
    /// bases of live actors.
    /// - Parameters:
    ///   - versions: all versions of the affected items.
    ///   - bases: the versions that live actors may start from.
    public static func protected(_ versions: [Version], bases: Set<VersionID>) -> Set<VersionID> {
        var kept = bases
        var contested: Set<ItemID> = []
        for version in versions {
            if version.kind == .conflict { contested.insert(version.item) }
            if version.kind != .history || version.flags.contains(.pinned) { kept.insert(version.id) }
        }
        for version in versions where contested.contains(version.item) && version.kind != .history {
            if let base = version.base { kept.insert(base) }
        }
        return kept.union(mergeBases(versions, contested, bases))
    }

    /// The bases of possible merges: of a loser and the current version, and of a live actor's base and the current
    /// version, in case the actor saves.
    private static func mergeBases(
        _ versions: [Version], _ contested: Set<ItemID>, _ bases: Set<VersionID>
    ) -> Set<VersionID> {
        let current = Dictionary(
            versions.filter { $0.kind == .current }.map { ($0.item, $0.id) }, uniquingKeysWith: { first, _ in first })
        let lines = versions.filter { version in
            version.kind == .conflict || version.kind == .history && bases.contains(version.id)
        }
        let items = contested.union(lines.map(\.item))
        let graphs = Dictionary(grouping: versions.filter { items.contains($0.item) }, by: \.item).mapValues {
            $0.map { HistoryNode($0) }
        }
        return Set(
            lines.compactMap { line in
                guard let current = current[line.item], let graph = graphs[line.item] else { return nil }
                return MergeBase.of(line.id, and: current, in: graph)
            })
    }

    /// The surplus versions for their age, oldest first.
    ///
    /// Time is divided into hours, days and weeks. A whole hour, day or week that is old enough keeps its newest
    /// version. Hours end where days end, and days where weeks end, so the frequency of runs has no effect.
    /// - Parameter now: the seen time.
    public static func surplus(_ candidates: [Candidate], now: Int64) -> [Candidate] {
        var newest: [Bucket: Candidate] = [:]
        for candidate in candidates {
            guard let bucket = bucket(of: candidate, now: now) else { continue }
            if let other = newest[bucket], Candidate.isOlder(candidate, other) { continue }
            newest[bucket] = candidate
        }
        return candidates.filter { candidate in
            guard !candidate.isProtected, let bucket = bucket(of: candidate, now: now) else { return false }
            return newest[bucket]?.version != candidate.version
        }.sorted(by: Candidate.isOlder)
    }

    /// The versions to delete, oldest first, so that the rest fits.
    /// - Parameter limit: the limit in bytes for all candidates together.
    public static func excess(_ candidates: [Candidate], limit: UInt64) -> [Candidate] {
        var users: [ContentID: Int] = [:]
        var total: UInt64 = 0
        for candidate in candidates {
            if users[candidate.content] == nil { total = saturatingSum(total, candidate.bytes) }
            users[candidate.content, default: 0] += 1
        }
        var given: [Candidate] = []
        for candidate in candidates.sorted(by: Candidate.isOlder) where !candidate.isProtected {
            guard total > limit else { break }
            given.append(candidate)
            users[candidate.content, default: 1] -= 1
            if users[candidate.content] == 0 { total -= min(total, candidate.bytes) }
        }
        return given
    }

    /// An hour, day or week of an item.
    private struct Bucket: Hashable {
        var item: ItemID
        var length: Int64
        var number: Int64
    }

    /// The longest span around a version that is old enough as a whole; nil in the time when all versions stay.
    private static func bucket(of candidate: Candidate, now: Int64) -> Bucket? {
        for (length, age) in [(week, month), (day, day), (hour, hour)] {
            let number = floor(candidate.saved, length)
            let (end, over) = (number + 1).multipliedReportingOverflow(by: length)
            guard !over, end <= now, now - max(end, 0) >= age else { continue }
            return Bucket(item: candidate.item, length: length, number: number)
        }
        return nil
    }

    private static func floor(_ time: Int64, _ length: Int64) -> Int64 {
        time / length - (time % length < 0 ? 1 : 0)
    }

    private static func saturatingSum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, over) = left.addingReportingOverflow(right)
        return over ? .max : sum
    }
}
