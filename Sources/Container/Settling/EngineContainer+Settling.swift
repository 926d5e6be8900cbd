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
    /// | ended in order | a name that only memory knew |
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
        if !facts.identity.cleanShutdown, !left.isOfThisBoot { try addRecent(to: &marked, facts, disk) }
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

    private static func addRecent(
        to marked: inout MountSettling.Marked, _ facts: FactStore, _ disk: SettledTree
    ) throws(StoreError) {
        let log = facts.facts()
        guard let last = log.lastTime else { return }
        let since = last.advanced(byNanoseconds: -Self.recent)
        // The facts may lack their end: what has changed since is found by the times of directories.
        do throws(Errno) { marked.places.formUnion(try disk.places(changedSince: since)) } catch {
            throw .io(error, "looking for what has changed before a power cut")
        }
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
