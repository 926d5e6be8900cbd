// Files that a kill or a power cut has left in parts, before anything is settled.

import Glibc
import Lineage
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// Judges the files that may not have reached the disk, or that were being written (``Lineage/ArrivedFile``).
struct TornFiles {
    let disk: SettledTree
    let kept: KeptObjects
    /// Kept contents of which only a part is left: a file with the same bytes has no more of them.
    var parts: Set<Content> = []

    private var facts: FactStore { kept.facts }
    private var bytes: VersionBytes { VersionBytes(facts: facts) }

    /// The files among these that are to give way, because an earlier mount has found them torn.
    func marked(_ files: Set<FileID>) throws(Errno) -> Set<FileID> {
        var torn: Set<FileID> = []
        for file in files {
            if let live = try disk.find(file, kept), TornMark.isSet(on: live.file.raw) { torn.insert(file) }
        }
        return torn
    }

    /// Finds the files that a killed mount has left in the middle of a save, and marks them. Such a file was open for
    /// writing, and its last saved content was kept before the writer overwrote it. A file that cannot be looked at
    /// stays as it is.
    func interrupted(_ files: Set<FileID>) throws(Errno) -> Set<FileID> {
        var torn = try marked(files)
        for file in files.subtracting(torn) {
            do throws(Errno) {
                guard let live = try interrupted(file) else { continue }
                TornMark.set(on: live.file.raw)
                torn.insert(file)
            } catch {
                kept.custodian.logger.error(
                    "a file that was being written stays as it is: \(error)", metadata: ["file": "\(file)"])
            }
        }
        return torn
    }

    private func interrupted(_ file: FileID) throws(Errno) -> SettledTree.Live? {
        let log = facts.facts()
        let last = lastContent(of: file, log)
        let size = last.flatMap { log.versions(in: $0).map(\.fingerprint.size).max() } ?? 0
        guard log.failure == nil else { throw .ioError }
        // The daemon may have made a copy for a call that did not come. The copy may lack bytes that a program has
        // appended since, and that the file still has.
        guard let last, kept.contains(last, size: size), let live = try disk.find(file, kept) else { return nil }
        return try isTorn(live, file, [], isKilled: true) ? live : nil
    }

    /// Finds the torn files of a power cut, and marks them. One that cannot be looked at is none.
    func find(_ marked: MountSettling.Marked) throws(Errno) -> Set<FileID> {
        let log = facts.facts()
        var files = marked.files.union(marked.contents.map(\.file))
        for place in marked.places { if let file = log.lastRow(at: place)?.file { files.insert(file) } }
        guard log.failure == nil else { throw .ioError }
        let contents = Dictionary(grouping: marked.contents, by: \.file)
        var torn = try renamed(marked.places.sorted(), contents)
        for file in files {
            let recent = contents[file] ?? []
            guard let live = try disk.find(file, kept, recent), try isTorn(live, file, recent) else { continue }
            TornMark.set(on: live.file.raw)
            torn.insert(file)
        }
        return torn
    }

    /// Files of which no fact tells, at places that had others.
    private func renamed(
        _ places: [PlaceNumber], _ contents: [FileID: [Content]]
    ) throws(Errno) -> Set<FileID> {
        var torn: Set<FileID> = []
        for number in places {
            guard case .file(let file) = try disk.look(at: number), contents[file] == nil,
                facts.facts().lastContent(of: file) == nil, let place = try disk.place(number)
            else { continue }
            let opened = try disk.open(file)
            let live = SettledTree.Live(name: place.name, file: opened, stat: try Backing.stat(opened.raw))
            guard let mark = RenamedMark(of: opened.raw), !mark.isWhole(opened.raw, live.stat.size),
                !isLeftAlone(live, file, nil)
            else { continue }
            TornMark.set(on: opened.raw)
            torn.insert(file)
        }
        return torn
    }

    private func isTorn(
        _ live: SettledTree.Live, _ file: FileID, _ recent: [Content], isKilled: Bool = false
    ) throws(Errno) -> Bool {
        if TornMark.isSet(on: live.file.raw) { return true }
        let log = facts.facts()
        let recorded = lastContent(of: file, log)
        let contents = recent.filter { kept.size(of: $0) != nil } + (recorded.map { [$0] } ?? [])
        guard let last = contents.max(by: { $0.generation < $1.generation }) else { return false }
        var arrived = ArrivedFile()
        arrived.isLastKept = kept.size(of: last) != nil
        // An older save has reached the disk.
        guard arrived.isLastKept || recent.contains(last) else { return false }
        let versions = log.versions(in: last).filter { !$0.isForgotten }
        arrived.isLeftAlone = isLeftAlone(live, file, versions.last)
        if arrived.isLeftAlone { return false }
        if arrived.isLastKept {
            try look(live, asOverwritten: last, isKilled: isKilled, &arrived)
        } else if let version = versions.last {
            try look(live, as: version, versions.map(\.fingerprint.size), &arrived)
        } else { return false }
        arrived.isVersion = isVersion(live, log.names(of: file), log)
        guard log.failure == nil else { throw .ioError }
        if arrived.isTorn, !arrived.isLastKept, let version = versions.last, try goBack(version, live) { return false }
        return arrived.isTorn
    }

    /// The last content of a file. One that was made from a kept content, of a version that is restored or undeleted,
    /// has none of its own yet.
    private func lastContent(of file: FileID, _ log: StoredFacts) -> Content? {
        if let own = log.lastContent(of: file) { return own }
        guard let row = log.names(of: file).last(where: { !$0.hasNoVersions }) else { return nil }
        let facts = Facts(over: log)
        guard let version = facts.current(of: row.document).flatMap({ facts[$0] }) else { return nil }
        return version.file == file || row.how == .undeleted ? version.content : nil
    }

    private func isLeftAlone(_ live: SettledTree.Live, _ file: FileID, _ version: VersionRow?) -> Bool {
        if version?.isImage ?? false || disk.awaitsCapture(file) { return true }
        if DatabaseRule.database(ofJournal: live.name) != nil { return true }
        if DatabaseRule.isDatabase(live.name, file: live.file.raw) { return true }
        return disk.isStillWritten(file, live.file, live.stat.key)
    }

    // MARK: Facts and labels of a file

    /// The last content is kept, and the file may have been overwritten since.
    private func look(
        _ live: SettledTree.Live, asOverwritten last: Content, isKilled: Bool, _ arrived: inout ArrivedFile
    ) throws(Errno) {
        guard let object = try kept.open(last) else { return }
        let size = try Backing.stat(object.raw).size
        arrived.isLonger = size < live.stat.size
        if isKilled, arrived.isLonger { arrived.isAppended = try bytes.isWritten(live.file.raw, from: size) }
        if !parts.contains(last) { arrived.beginsWithLast = try bytes.begins(live.file.raw, with: object.raw) }
        for label in labels(live) where label.content.file == last.file && label.content.generation > last.generation {
            if try bytes.begins(live.file.raw, live.stat.size, with: label) { arrived.beginsWithSynchronized = true }
        }
    }

    /// The last content is in the file, or has been.
    private func look(
        _ live: SettledTree.Live, as version: VersionRow, _ sizes: [UInt64], _ arrived: inout ArrivedFile
    ) throws(Errno) {
        arrived.beginsWithLast = try bytes.begins(live.file.raw, live.stat.size, with: version)
        if arrived.beginsWithLast { return }
        let changed: Timestamp?
        do { changed = try facts.detail(of: version.number)?.changed } catch { throw .ioError }
        arrived.isUntouched = live.stat.modified == version.modified || changed.map { live.stat.changed <= $0 } ?? false
        // Bytes that a program wrote much later are no remainder of this version.
        guard live.stat.changed.since(changed ?? version.time) <= ContainerState.dirtyNanoseconds else { return }
        let lengths = sizes + labels(live).filter { $0.content == version.content }.map(\.fingerprint.size)
        arrived.lacksBlocks = bytes.lacksBlocks(
            live.file.raw, live.stat.size, of: version, lengths: lengths.filter { $0 < version.fingerprint.size })
    }

    /// Nothing at all may be a version by chance, and is what a power cut leaves.
    private func isVersion(_ live: SettledTree.Live, _ names: [NameRow], _ log: StoredFacts) -> Bool {
        guard live.stat.size > 0, live.stat.size <= FileLooks.hashedAtOnce,
            let found = bytes.beginning(of: live.file.raw, live.stat.size)
        else { return false }
        return names.contains { row in
            log.versions(of: row.document, equalTo: found).contains { !$0.isForgotten }
        }
    }

    private func labels(_ live: SettledTree.Live) -> [VersionRow] {
        kept.custodian.state.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).compactMap(\.row)
    }

    /// A version that was amended since it was synchronized is what it was then, if the file begins with that.
    /// - Returns: whether the file has nothing else.
    private func goBack(_ version: VersionRow, _ live: SettledTree.Live) throws(Errno) -> Bool {
        for label in labels(live)
        where label.number == version.number && label.content == version.content
            && label.fingerprint.size < version.fingerprint.size
        {
            guard try bytes.begins(live.file.raw, live.stat.size, with: label) else { continue }
            var amended = version
            (amended.fingerprint, amended.modified) = (label.fingerprint, label.modified)
            facts.commit(FactTransaction([.amend(amended)]))
            return label.fingerprint.size == live.stat.size
        }
        return false
    }
}

extension SettledTree {
    /// A file with its name.
    struct Live {
        var name: FileName
        var file: SharedDescriptor
        var stat: FileStat
    }

    /// A file that has a name by the facts, or by what these kept contents say.
    func find(_ file: FileID, _ kept: KeptObjects, _ contents: [Content] = []) throws(Errno) -> Live? {
        let log = facts.facts()
        var places = log.names(of: file).filter { !$0.hasNoVersions }.map(\.place)
        guard log.failure == nil else { throw .ioError }
        if places.isEmpty { for content in contents { places += try kept.labels(of: content).map(\.place) } }
        for number in places {
            guard try look(at: number) == .file(file), let place = try place(number) else { continue }
            let opened = try open(file)
            return Live(name: place.name, file: opened, stat: try Backing.stat(opened.raw))
        }
        return nil
    }
}
