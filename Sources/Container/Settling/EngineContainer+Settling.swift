// Settling at a mount of the engine's container.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension EngineContainer {
    /// The time before a power cut in which changes may not have reached the disk, or only they, in nanoseconds.
    private static let recent: Int64 = 60_000_000_000

    /// Brings the facts to what the disk shows, where the former mount may have left it otherwise.
    ///
    /// | the former mount | is looked at |
    /// |---|---|
    /// | ended in order | a name that only memory knew, and names in directories that have changed since |
    /// | was killed | what it has marked: names in the middle of a change, files that were open for writing |
    /// | ended with the machine | that, the names and files of the last minute's facts, directories changed since |
    ///
    /// - Returns: the marks of this mount.
    static func settled(
        _ tree: LiveTree, _ store: VersionStore, _ facts: FactStore, _ kept: KeptObjects,
        _ options: LiveContainer.Options
    ) throws(StoreError) -> any Marks {
        guard !options.isReadOnly else { return NoMarks() }
        let left = MarkFile.read(in: store.state)
        var marked = MountSettling.Marked(files: left.files, contents: left.contents)
        for place in left.places { marked.places.insert(try facts.number(of: place)) }
        let found = FilesInReach()
        let disk = SettledTree(tree, facts: facts, found: found)
        if facts.identity.cleanShutdown {
            let since = store.closed ?? Timestamp(nanoseconds: .min)
            marked.places.formUnion(try changed(since: since, disk, "what has changed while it was not mounted"))
        } else if !left.isOfThisBoot {
            try addRecent(to: &marked, facts, disk)
        }
        let entries = LeftEntries(store, facts)
        let parts = MountSettling.Parts(
            disk: disk, kept: kept,
            recorder: StoreRecorder(facts, files: found), log: { facts.facts() }, clock: options.clock,
            logger: options.logger, entry: { entries.entry(of: $0) })
        do throws(Errno) {
            let (_, rest) = try MountSettling(parts, marked, crashed: left.changed).run()
            let marks = try MarkFile(in: store.state, facts: facts, logger: options.logger)
            for mark in rest.marks { marks.add(mark) }
            return marks
        } catch { throw .io(error, "putting the history in order after a crash") }
    }

    /// From the end of the former mount until now, by the clock of files; nil if that is not known.
    static func unwatched(_ store: VersionStore) -> Range<Timestamp>? {
        let now = SystemClock().now()
        return store.closed.flatMap { $0 < now ? $0..<now : nil }
    }

    /// Names that others have by now, found by the times of directories.
    private static func changed(
        since time: Timestamp, _ disk: SettledTree, _ what: String
    ) throws(StoreError) -> Set<PlaceNumber> {
        do throws(Errno) { return try disk.places(changedSince: time) } catch {
            throw .io(error, "looking for \(what)")
        }
    }

    private static func addRecent(
        to marked: inout MountSettling.Marked, _ facts: FactStore, _ disk: SettledTree
    ) throws(StoreError) {
        let log = facts.facts()
        guard let last = log.lastTime else { return }
        let since = last.advanced(byNanoseconds: -Self.recent)
        // The facts may lack their end: what has changed since is found by the times of directories.
        marked.places.formUnion(try changed(since: since, disk, "what has changed before a power cut"))
        let recent = log.recent(since: since)
        for row in recent.rows {
            marked.places.insert(row.place)
            if let file = row.file { marked.files.insert(file) }
        }
        for version in recent.versions {
            marked.files.insert(version.file)
            marked.contents.insert(version.content)
        }
        if let failure = log.failure { throw .catalog(code: 10, "\(failure)") }
    }
}
