// Settling at a mount of the engine's container.

import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension EngineContainer {
    /// What settling leaves to the mount.
    struct Settled {
        var marks: any Marks = NoMarks()
        /// The files that are torn, which are marked.
        var torn: Set<FileID> = []
        /// The files that programs from before the mount may still write to.
        var stillWritten: Set<FileID> = []
        /// The last fact from before a kill, if all until then are here: labels tell of versions of which no program
        /// was told. nil after a power cut.
        var last: UInt64?
    }

    /// The time before a power cut in which changes may not have reached the disk, or only they, in nanoseconds.
    private static let recent: Int64 = 60_000_000_000

    /// Brings the facts to what the disk shows, where the former mount may have left it otherwise.
    ///
    /// | the former mount | is looked at |
    /// |---|---|
    /// | ended in order | a name that only memory knew, directories changed since |
    /// | was killed | that, and what it has marked: names in the middle of a change, files that were open for writing |
    /// | the same | files that programs may still write to |
    /// | ended with the machine | that, and the names, files, directories and objects of the minute before |
    /// | has lost its catalog | all that labels have told of, and each name in the directories of that |
    static func settled(
        _ tree: LiveTree, _ store: ContainerState, _ facts: FactStore, _ kept: KeptObjects, _ survivors: Survivors,
        _ options: ContainerOptions
    ) throws(StoreError) -> Settled {
        guard !options.isReadOnly else { return Settled() }
        let left = MarkFile.read(in: store.directory)
        var marked = MountSettling.Marked(files: left.files, contents: left.contents)
        for place in left.places { marked.places.insert(try facts.number(of: place)) }
        let found = FilesInReach()
        let isCut = !facts.identity.cleanShutdown && !left.isOfThisBoot
        let gone = try addNames(to: &marked, tree, facts, isCut: isCut)
        let disk = SettledTree(tree, facts: facts, found: found, gone: gone, copyingTo: store)
        try addStillWritten(to: &marked, survivors, facts)
        if isCut || facts.identity.isRebuilt { try addRecent(to: &marked, facts) }
        if isCut { try addKept(to: &marked, store, facts) }
        if facts.identity.isRebuilt { try addStray(to: &marked, store) }
        let entries = LeftEntries(store, facts)
        let parts = MountSettling.Parts(
            disk: disk, kept: kept,
            recorder: StoreRecorder(facts, files: found), log: { facts.facts() }, clock: options.clock,
            logger: options.logger, removed: { (row) throws(Errno) in try entries.removal(of: row) },
            isLost: { (try? facts.detail(of: $0))?.marks.contains(.lost) ?? false })
        do throws(Errno) {
            let doubted = isCut ? marked.contents : left.contents
            try HalfRenames(tree: disk, custodian: kept.custodian)
                .finish(Set(doubted.map { ContentID($0) }), left.places)
            let overwritten = try InterruptedOverwrites(tree: disk, store: store).undo(left.files)
            let open = left.files.subtracting(overwritten)
            let torn = try torn(marked, open, TornFiles(disk: disk, kept: kept), isCut)
            let last = isCut || facts.identity.isRebuilt ? nil : facts.facts().lastNumber
            let settling = MountSettling(parts, marked, crashed: left.changed)
            let (_, rest) = try settling.run()
            let marks = try MarkFile(in: store.directory, facts: facts, logger: options.logger)
            for mark in rest.marks { marks.add(mark) }
            for file in torn { marks.add(.file(file)) }
            return Settled(
                marks: marks, torn: torn, stillWritten: Set(settling.stillWritten.keys), last: last)
        } catch { throw .io(error, "putting the history in order after a crash") }
    }

    /// The files that a power cut or a kill has left in parts, now or before the mount that ended last.
    private static func torn(
        _ marked: MountSettling.Marked, _ left: Set<FileID>, _ files: TornFiles, _ isCut: Bool
    ) throws(Errno) -> Set<FileID> {
        let identity = files.kept.facts.identity
        guard isCut else {
            // Without its catalog nothing tells which saves were complete.
            let isKilled = !identity.cleanShutdown && !identity.isRebuilt
            return try isKilled ? files.interrupted(left) : files.marked(left)
        }
        var files = files
        files.parts = try TornObjects(disk: files.disk, kept: files.kept).settle(marked.contents)
        return try files.find(marked)
    }

    /// From the end of the mount before until now, by the clock of files; nil if that is not known.
    static func unwatched(_ facts: FactStore) throws(StoreError) -> Range<Timestamp>? {
        let (since, now) = (try facts.watchedUntil(), SystemClock().now())
        return since.flatMap { $0 < now ? $0..<now : nil }
    }

    private static func since(_ last: Timestamp, _ facts: FactStore, isCut: Bool = true) -> Timestamp {
        if facts.identity.isRebuilt { return Timestamp(nanoseconds: .min) }
        return isCut ? last.advanced(byNanoseconds: -recent) : last
    }

    /// A file that only a mapping from before the kill writes to may not be marked.
    private static func addStillWritten(
        to marked: inout MountSettling.Marked, _ survivors: Survivors, _ facts: FactStore
    ) throws(StoreError) {
        let log = facts.facts()
        for file in survivors.candidates where !log.names(of: file).isEmpty { marked.files.insert(file) }
        if let failure = log.failure { throw .catalog(code: 10, "\(failure)") }
    }

    /// Contents of which no label tells: their files must not come to have another content of the same name.
    private static func addStray(
        to marked: inout MountSettling.Marked, _ store: ContainerState
    ) throws(StoreError) {
        var contents: Set<Content> = []
        do throws(Errno) { try store.contents.forEach { contents.insert(Content($0)) } } catch {
            throw .io(error, "looking for kept contents")
        }
        marked.contents.formUnion(contents)
    }

    /// Contents that were kept of late: the facts that tell of them may be lost, and those of their files.
    private static func addKept(
        to marked: inout MountSettling.Marked, _ store: ContainerState, _ facts: FactStore
    ) throws(StoreError) {
        let last = try facts.watchedUntil()
        let since = last.map { Self.since($0, facts) } ?? Timestamp(nanoseconds: .min)
        var contents: Set<Content> = []
        do throws(Errno) {
            try store.contents.forEach(since: since) { contents.insert(Content($0)) }
        } catch { throw .io(error, "looking for kept contents") }
        marked.contents.formUnion(contents)
    }

    /// Names that the disk may have otherwise, by the times of their directories.
    /// - Returns: directories that are nowhere.
    private static func addNames(
        to marked: inout MountSettling.Marked, _ tree: LiveTree, _ facts: FactStore, isCut: Bool
    ) throws(StoreError) -> Set<FileID> {
        guard let last = try facts.watchedUntil() else { return [] }
        let since = since(last, facts, isCut: isCut)
        do throws(Errno) {
            let names = try UnmountedNames(tree, facts, since: since)
            marked.places.formUnion(names.places)
            return names.gone
        } catch { throw .io(error, "looking for what has changed since the last mount") }
    }

    /// The facts may lack their end.
    private static func addRecent(
        to marked: inout MountSettling.Marked, _ facts: FactStore
    ) throws(StoreError) {
        let log = facts.facts()
        guard let last = log.lastTime else { return }
        let recent = log.recent(since: since(last, facts))
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
