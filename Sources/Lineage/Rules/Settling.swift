// After a crash: the facts that are missing (facts.md 6).

import VersionModel

/// Brings the facts to what the files are, in the order of facts.md 6: labels, departures, arrivals, contents, what was
/// only held, and at last the version that each living document's file holds. What may still be overwritten is kept.
///
/// It is pure. It may be interrupted and begun again: what it has recorded is then known.
public struct Settling: Sendable {
    var planning: Planning
    let found: Found
    /// The time of the crash, as far as it is known: the claim of names is judged by it.
    let crashed: Timestamp

    /// - Parameters:
    ///   - scene: the facts as the catalog has them. The memory is empty, and `now` is the time of the mount.
    public static func settle(_ scene: Scene, _ found: Found, crashed: Timestamp) -> Plan {
        var settling = Settling(planning: Planning(scene), found: found, crashed: crashed)
        settling.planning.memory = Memory()
        settling.planning.settle()
        let scraps = settling.forgetScraps()
        settling.readLabels()
        settling.settleNames()
        settling.publishAll()
        let files = found.files.filter { !scraps.contains($0.id) }
        var others: [Found.File] = []
        for file in files where !settling.amendOverwritten(file) { others.append(file) }
        for file in others { settling.settleContent(of: file) }
        settling.settleHeldFiles()
        settling.settleCurrentVersions()
        settling.keepWritten()
        return settling.planning.result
    }

    /// Files that their maker had taken away, and files that were made and had no name yet.
    private mutating func forgetScraps() -> [FileID] {
        let scraps = found.files.map(\.id).filter { planning.isScrap($0) && !found.hasName($0) }
        for file in scraps { planning.perform(.forget(file)) }
        return scraps
    }

    /// No maker of a name is there any more: what has one is a document like others.
    private mutating func publishAll() {
        for row in planning.facts.rows where row.maker != nil { planning.record(.publish(row.number)) }
    }

    // MARK: Labels

    /// What objects say of themselves and the catalog does not know.
    private mutating func readLabels() {
        let labels = found.objects.flatMap(\.labels).sorted { $0.version.number < $1.version.number }
        for label in labels where !label.version.isForgotten { read(label) }
    }

    /// | the label's version | |
    /// |---|---|
    /// | is known, or another with this content and these bytes | nothing is missing |
    /// | is newer than one with these that was forgotten | is not known: it was saved again |
    /// | is known with other bytes | it was amended |
    /// | is not known, its file or place is | it belongs to their last row, as history |
    /// | is not known, nor its file or place | it belongs to a row of its own, removed at once |
    private mutating func read(_ label: Label) {
        let said = label.version
        let versions = planning.facts.versions
        let isKnown = versions.contains {
            $0.content == said.content && $0.fingerprint == said.fingerprint
                && (!$0.isForgotten || $0.number >= said.number)
        }
        if isKnown { return }
        if var known = planning.facts[said.number], known.content == said.content {
            known.fingerprint = said.fingerprint
            known.modified = said.modified
            return planning.record(.amend(known))
        }
        let row =
            planning.facts.lastRow(of: said.file) ?? planning.facts.lastOccupant(of: label.place)
            ?? recordLostRow(of: said, at: label.place)
        var version = said
        version.row = row.number
        version.parents = said.parents.filter { planning.facts[$0] != nil }
        version.loser = nil
        version.base = nil
        version.number = VersionNumber(planning.takeNumber())
        if version.beside == .no { version.beside = .history }
        planning.record(.version(version))
    }

    private mutating func recordLostRow(of version: VersionRow, at place: PlaceNumber) -> NameRow {
        let row = planning.row(place, version.file, .found, by: nil)
        planning.record(.row(row))
        planning.record(.row(planning.row(place, nil, .removed, by: nil)))
        return row
    }

    // MARK: Contents

    /// What a file holds: by its time, then by its bytes.
    ///
    /// | the file | |
    /// |---|---|
    /// | is a database, and as it was when its document's version was captured | holds that |
    /// | is a database with a log or a journal | the same: it is captured later |
    /// | equals a version of its own, or in it | holds that |
    /// | equals what its document showed, whose bytes are nowhere else | holds that: it was copied |
    /// | has one version, kept nowhere else, and does not begin with it | was being amended: the version is that now |
    /// | otherwise | has a new version |
    ///
    /// It is at the generation of the newest version in it, as long as it begins with any version of that generation,
    /// and has not changed since that was kept; else at the next one.
    private mutating func settleContent(of file: Found.File) {
        let standing = standing(of: file)
        if standing.held == nil, takeOver(file, standing) { return }
        // A kept generation ends where the version is recorded.
        remember(
            file, standing.generation &+ (standing.isOverwritten ? 1 : 0),
            holds: (standing.held ?? standing.arrived.last)?.number, isChanged: standing.held == nil,
            isOnlyExtended: !standing.isOverwritten)
        if standing.held == nil { planning.record(file.id, by: nil, through: nil, isReplacing: false) }
    }

    /// Files that were being amended come first: a version that another file equals must not change any more. A file
    /// that equals a version of another content was being amended, too: its own version's bytes are nowhere else.
    /// - Returns: whether it was one.
    private mutating func amendOverwritten(_ file: Found.File) -> Bool {
        let standing = standing(of: file)
        guard !(standing.held?.isImage(of: file.id) ?? false), !standing.isKept, standing.isOverwritten,
            standing.versions.count == 1,
            var amended = standing.versions.first
        else { return false }
        amended.fingerprint = file.fingerprint
        amended.modified = file.modified
        planning.record(.amend(amended))
        remember(file, standing.generation, holds: amended.number, isChanged: false)
        return true
    }

    /// - Returns: whether it is a copy that took the place of the file that was copied.
    private mutating func takeOver(_ file: Found.File, _ standing: Standing) -> Bool {
        let documents = planning.facts.names(of: file.id).map(\.document)
        let shown = documents.compactMap(planning.facts.current(of:)).compactMap { planning.facts[$0] }
        let home = shown.last { version in
            version.fingerprint == file.fingerprint && version.fingerprint.size > 0 && found.isGone(version.content)
                && !planning.memory.files.contains { $0.holds == version.number }
        }
        guard var version = home, standing.versions.isEmpty else { return false }
        (version.content, version.file) = (Content(file: file.id, generation: standing.generation), file.id)
        version.modified = file.modified
        planning.record(.amend(version))
        remember(file, standing.generation, holds: version.number, isChanged: false)
        return true
    }

    /// What is known of a file's bytes.
    private struct Standing {
        /// The version that they are.
        var held: VersionRow?
        var generation: UInt64
        /// The versions of that generation.
        var versions: [VersionRow]
        /// Those of them that the file begins with. After a power cut the catalog may know appends that have not come.
        var arrived: [VersionRow]
        var isKept: Bool

        var isOverwritten: Bool { arrived.isEmpty && !versions.isEmpty }
    }

    private func standing(of file: Found.File) -> Standing {
        let facts = planning.facts
        let equal = facts.versions.filter { !$0.isForgotten && $0.fingerprint == file.fingerprint }
        let held =
            image(of: file) ?? equal.last { $0.file == file.id && $0.modified == file.modified }
            ?? equal.last { $0.content.file == file.id }
        let generation = newestGeneration(of: file.id)
        let present = Content(file: file.id, generation: generation)
        let versions = facts.versions(in: present)
        return Standing(
            held: held, generation: generation, versions: versions,
            arrived: versions.filter { found.begins(file, $0.fingerprint) },
            isKept: found.objects.contains { $0.content == present })
    }

    /// The image of a database that its name shows, if the file has not changed since. One that a program has left in
    /// the middle of its work is no version: it is captured when its log or its journal is done with.
    private func image(of file: Found.File) -> VersionRow? {
        let shown = planning.facts.names(of: file.id).last.flatMap { planning.facts.current(of: $0.document) }
        guard let current = shown.flatMap({ planning.facts[$0] }), current.file == file.id else { return nil }
        return current.isImage && current.modified == file.modified || file.awaitsCapture ? current : nil
    }

    private func newestGeneration(of file: FileID) -> UInt64 {
        let recorded = planning.facts.versions.filter { $0.content.file == file }.map(\.content.generation)
        let kept = found.objects.filter { $0.content.file == file }.map(\.content.generation)
        return (recorded + kept).max() ?? found.firstGeneration
    }

    private mutating func remember(
        _ file: Found.File, _ generation: UInt64, holds: VersionNumber?, isChanged: Bool, isOnlyExtended: Bool = true
    ) {
        let content = Content(file: file.id, generation: generation)
        var live = LiveFile(
            id: file.id, fingerprint: file.fingerprint, modified: file.modified, isChanged: isChanged, holds: holds,
            isKept: found.objects.contains { $0.content == content }, generation: generation)
        live.isOnlyExtended = isOnlyExtended
        planning.memory[file.id] = live
    }

    /// Files without a name were held for the programs that had them open.
    private mutating func settleHeldFiles() {
        for file in planning.memory.files where !found.hasName(file.id) {
            if planning.isSoleKeeper(file) { planning.keep(file.id) }
            planning.perform(.forget(file.id))
            planning.memory[file.id] = nil
        }
    }

    /// Each living document has the version that its file holds.
    private mutating func settleCurrentVersions() {
        for name in found.names {
            guard let row = planning.facts.occupant(of: name.place), !row.hasNoVersions,
                let file = row.file.flatMap({ planning.memory[$0] }),
                let held = file.holds.flatMap({ planning.facts[$0] })
            else { continue }
            let current = planning.facts.current(of: row.document).flatMap { planning.facts.fingerprint($0) }
            guard current != held.fingerprint else { continue }
            let (recorded, _) = planning.version(
                at: row, of: file, content: held.content, fingerprint: held.fingerprint, by: nil, isReplacing: true,
                isImage: held.isImage(of: file.id))
            for fact in recorded { planning.record(fact) }
        }
    }
    /// What a program from before the crash may overwrite unseen is kept. Its next writes are another content.
    private mutating func keepWritten() {
        for file in found.files where file.isStillWritten {
            guard let live = planning.memory[file.id], planning.isSoleKeeper(live) else { continue }
            planning.keep(file.id)
        }
    }
}
