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
    /// | ended in order | a name that only memory knew, directories changed since |
    /// | was killed | that, and what it has marked: names in the middle of a change, files that were open for writing |
    /// | ended with the machine | that, and the names, files, directories and objects of the minute before |
    /// | has lost its catalog | all that labels have told of, and each name in the directories of that |
    ///
    /// - Returns: the marks of this mount, and the files that are torn, which are marked.
    static func settled(
        _ tree: LiveTree, _ store: ContainerState, _ facts: FactStore, _ kept: KeptObjects, _ survivors: Survivors,
        _ options: LiveContainer.Options
    ) throws(StoreError) -> (marks: any Marks, torn: Set<FileID>) {
        guard !options.isReadOnly else { return (NoMarks(), []) }
        let left = MarkFile.read(in: store.directory)
        var marked = MountSettling.Marked(files: left.files, contents: left.contents)
        for place in left.places { marked.places.insert(try facts.number(of: place)) }
        let found = FilesInReach()
        let isCut = !facts.identity.cleanShutdown && !left.isOfThisBoot
        let gone = try addNames(to: &marked, tree, facts, isCut: isCut)
        let disk = SettledTree(tree, facts: facts, found: found, gone: gone)
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
            try HalfRenames(tree: disk, store: store, logger: options.logger)
                .finish(Set(doubted.map { ContentID($0) }), left.places)
            try InterruptedOverwrites(tree: disk, store: store).undo(left.files)
            let torn = try torn(marked, left.files, TornFiles(disk: disk, kept: kept, survivors: survivors), isCut)
            let (_, rest) = try MountSettling(parts, marked, crashed: left.changed).run()
            let marks = try MarkFile(in: store.directory, facts: facts, logger: options.logger)
            for mark in rest.marks { marks.add(mark) }
            for file in torn { marks.add(.file(file)) }
            return (marks, torn)
        } catch { throw .io(error, "putting the history in order after a crash") }
    }

    /// The files that a power cut has left in parts, now or before the mount that ended last.
    private static func torn(
        _ marked: MountSettling.Marked, _ left: Set<FileID>, _ files: TornFiles, _ isCut: Bool
    ) throws(Errno) -> Set<FileID> {
        guard isCut else { return try files.marked(left) }
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
