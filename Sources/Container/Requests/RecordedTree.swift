// The live tree with the facts of its names: what requests over the engine stand on.

import CLinux
import Glibc
import Lineage
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// Finds what a request is about, both on the disk and among the facts. A file or directory of which no fact tells is
/// adopted first.
final class RecordedTree: Sendable {
    let tree: LiveTree
    let facts: FactStore
    let engine: Engine
    let files: FilesInReach
    let callers: Callers
    private let programs: ProgramNumbers
    private let earlyReads = EarlyReads()
    let below: ChangedBelow
    let backupReads = BackupReads()

    /// How often a request begins anew because the names have changed meanwhile.
    private static let patience = 100

    init(
        _ tree: LiveTree, facts: FactStore, engine: Engine, files: FilesInReach, callers: Callers,
        programs: ProgramNumbers, _ below: ChangedBelow
    ) {
        (self.tree, self.facts, self.engine, self.files) = (tree, facts, engine, files)
        (self.callers, self.programs, self.below) = (callers, programs, below)
    }

    // MARK: Who asks

    /// A program that asks for something, and its number.
    struct Program {
        var requester: Requester
        var number: ActorNumber
    }

    /// - Parameter isOpening: as in ``Callers/requester(_:isOpening:)``.
    func program(_ caller: Caller, isOpening: Bool = false) throws(Errno) -> Program {
        try program(callers.requester(caller, isOpening: isOpening))
    }

    func program(_ requester: Requester) throws(Errno) -> Program {
        Program(requester: requester, number: try programs.number(of: requester))
    }

    /// A program closes a file that it has opened. It may run another program by now.
    func noteProgram(closing handle: HandleNumber, of opener: Requester) {
        guard let actor = opener.actor else { return }
        var requester = opener
        requester.author.program = callers.program(ofClosing: actor.ref)
        // The save counts as the former program's if it cannot be told.
        if let number = try? programs.number(of: requester) { engine.scene.give(handle, to: number) }
    }

    /// Whether a program makes names like this one up, or has made up the directory's.
    func isMadeUp(_ name: FileName, in parent: Node, by requester: Requester) -> Bool {
        requester.makesUp(name) || tree.nodes.location(parent).name.map { requester.makesUp($0.name) } ?? false
    }

    // MARK: What is asked about

    /// The number of a place. Called before any lock is taken.
    func place(_ name: FileName, in parent: Node) throws(Errno) -> PlaceNumber {
        do throws(StoreError) {
            let (number, isNew) = try facts.numbered(Place(directory: parent.file, name: name))
            if isNew { engine.known.begin(number) }
            return number
        } catch { throw .ioError }
    }

    /// The number of a place that nothing has on the disk. A file that another program has taken away is settled.
    func freePlace(_ name: FileName, in parent: Node) throws(Errno) -> PlaceNumber {
        let place = try place(name, in: parent)
        if try engine.occupant(of: place) != nil, try entry(name, in: parent) == nil { try below.settle(place) }
        return place
    }

    /// The name that a request is about is free.
    func missing(_ name: FileName, in parent: Node) -> Errno {
        if !parent.isForeign { _ = try? freePlace(name, in: parent) }
        return .noSuchFileOrDirectory
    }

    /// A name as it is on the disk now; nil if nothing has it.
    func entry(_ name: FileName, in parent: Node) throws(Errno) -> FoundName? {
        try tree.names.reading { () throws(Errno) in try entryLocked(name, in: parent) }
    }

    /// The same for a thread that has the names.
    func entryLocked(_ name: FileName, in parent: Node) throws(Errno) -> FoundName? {
        let directory = try tree.descriptor(of: parent)
        guard let stat = try Backing.statIfPresent(name.bytes, in: directory.raw) else { return nil }
        let node = tree.nodes.node(stat.key)
        let isForeign = parent.isForeign || node?.isForeign ?? false
            || tree.standing(of: stat, Node.Name(parent: parent, name: name)) != .own
        return FoundName(
            parent: parent, name: name, directory: directory, stat: stat, node: node, isForeign: isForeign)
    }

    /// Whether facts tell of what has a name already.
    func isKnown(_ entry: FoundName) throws(Errno) -> Bool {
        try engine.occupant(of: try place(entry.name, in: entry.parent)) == tree.fileID(entry.stat)
    }

    /// Has what a name stands for in reach, with facts that tell of it. The caller lets it go
    /// (``FilesInReach/letGo(_:)``).
    /// - Parameter held: a descriptor of it that the caller has.
    func adopt(_ entry: FoundName, _ held: SharedDescriptor? = nil) throws(Errno) -> FileAtPlace {
        try adoptDirectory(entry.parent)
        let found = FileAtPlace(
            place: try place(entry.name, in: entry.parent), file: tree.fileID(entry.stat), type: entry.stat.entryType)
        let descriptor: SharedDescriptor
        if let held { descriptor = held } else { descriptor = try hold(entry) }
        files.hold(found.file, descriptor)
        do throws(Errno) {
            try adopt(found, entry.name, in: entry.parent)
        } catch {
            files.letGo(found.file)
            throw error
        }
        return found
    }

    private func hold(_ entry: FoundName) throws(Errno) -> SharedDescriptor {
        if let writer = entry.node?.writers.first { return writer.descriptor }
        do throws(Errno) { return try Backing.hold(entry.name.bytes, in: entry.directory.raw, entry.stat.key) } catch {
            // Another file has the name by now.
            throw error == .noSuchFileOrDirectory ? Errno(rawValue: ESTALE) : error
        }
    }

    private func adopt(_ found: FileAtPlace, _ name: FileName, in parent: Node) throws(Errno) {
        // Another program has put it in the place of another file, or has renamed it.
        var occupant = try engine.occupant(of: found.place)
        var differs = occupant != nil && occupant != found.file
        if occupant == nil { differs = try engine.isKnown(found.file) }
        if differs {
            try below.settle(found.place)
            occupant = try engine.occupant(of: found.place)
        }
        guard occupant != found.file else { return try engine.noteUnseenChange(of: found.file) }
        try engine.adopt(found) { (_) throws(Errno) in
            try entryLocked(name, in: parent).map { tree.fileID($0.stat) } == found.file
        }
        for actor in try earlyReads.take(found.file, files.status(of: found.file)) {
            try engine.perform(.read(actor, found.place), [found])
        }
    }

    /// Has a directory among the facts, and the directories above it.
    func adoptDirectory(_ directory: Node) throws(Errno) {
        let layout = tree.nodes.layout.load(ordering: .sequentiallyConsistent)
        guard directory.id != Node.rootID, !directory.isForeign,
            directory.recordedIn.load(ordering: .relaxed) != layout
        else { return }
        for (node, _) in tree.nodes.chain(directory).reversed() {
            guard let name = tree.nodes.location(node).name else { throw .noSuchFileOrDirectory }
            let found = FileAtPlace(place: try place(name.name, in: name.parent), file: node.file)
            if try engine.occupant(of: found.place) != found.file {
                let held = try tree.names.reading { () throws(Errno) in try tree.ownFile(of: node).directory }
                files.hold(found.file, held)
                defer { files.letGo(found.file) }
                try adopt(found, name.name, in: name.parent)
            }
            node.recordedIn.store(layout, ordering: .relaxed)
        }
    }

    /// A directory that a program has made up has a real name now: so has what the program has made in it.
    func publish(in directory: FileID, by requester: Requester) throws(Errno) {
        for row in engine.known.unpublishedNames {
            let place: Place?
            do throws(StoreError) { place = try facts.place(row.place) } catch { throw .ioError }
            guard let place, place.directory == directory, !requester.makesUp(place.name) else { continue }
            try engine.publish(row)
        }
    }

    /// The directory of a name that was made up because the directory's was may have got a real name before the name
    /// was recorded.
    func publish(_ name: FileName, in parent: Node, by requester: Requester, if wasMadeUp: Bool) {
        guard wasMadeUp, !isMadeUp(name, in: parent, by: requester) else { return }
        // If that fails, the next mount finds the names that are still unpublished.
        try? publish(in: parent.file, by: requester)
    }

    /// The documents with some names of a directory that listeners do not hear of yet: their programs have made
    /// up the names.
    func untold(_ names: [FileName], in directory: FileID) -> [FileName: RememberedName] {
        let unpublished = engine.known.unpublishedNames.compactMap { try? facts.place($0.place) }
        let untold = Set(unpublished.filter { $0.directory == directory }.map(\.name)).intersection(names)
        return Dictionary(uniqueKeysWithValues: untold.map { ($0, .untold) })
    }

    // MARK: Reads

    /// A program has opened a document for reading. One of which no fact tells is not adopted by that: a program that
    /// reads a big tree would fill the catalog.
    func noteRead(of node: Node, by program: Program) throws(Errno) {
        guard let name = tree.nodes.location(node).name else { return }
        let places = tree.nodes.names(node).map { Place(directory: $0.parent.file, name: $0.name) }
        guard backupReads.counts(.init(file: node.file, places: places), by: program.number) else { return }
        let at = FileAtPlace(place: try place(name.name, in: name.parent), file: node.file)
        guard try engine.occupant(of: at.place) == at.file else {
            return earlyReads.note(node.file, try tree.stat(node), by: program.number)
        }
        if !engine.isAsLookedAt(node.file, Stamp(try tree.stat(node))) {
            let file = try tree.names.reading { () throws(Errno) in try tree.ownFile(of: node).directory }
            files.hold(node.file, file)
            defer { files.letGo(node.file) }
            try engine.noteUnseenChange(of: node.file)
        }
        try engine.noteRead(at, by: program.number)
    }

    /// A program has made a file, or emptied one: maybe the backup of what it has just read.
    func noteMade(_ name: FileName, in parent: Node, by program: Program) throws(Errno) {
        guard let read = backupReads.made(Place(directory: parent.file, name: name), by: program.number) else { return }
        earlyReads.forget(read.file, by: program.number)
        for place in read.places {
            let number: PlaceNumber
            do throws(StoreError) { number = try facts.numbered(place).0 } catch { throw .ioError }
            try engine.perform(.readForBackup(program.number, number))
        }
    }

    /// Before a document's history is shown, a content that came unseen becomes a version. Where it cannot be recorded,
    /// what is known is shown.
    func compare(_ file: FileID, _ held: SharedDescriptor) {
        files.hold(file, held)
        defer { files.letGo(file) }
        guard !facts.isWritingRefused else { return }
        try? engine.noteUnseenChange(of: file)
    }

    // MARK: Writers

    /// A file without versions has become a document: what programs that have it open write from now on is saved.
    func begin(writersOf node: Node) throws(Errno) {
        for file in node.writers where engine.scene.file(of: file.number) == nil {
            guard let name = tree.nodes.location(node).name else { return }
            let at = FileAtPlace(place: try place(name.name, in: name.parent), file: node.file)
            let mode: AccessMode = file.flags & O_APPEND != 0 ? .append : .write
            let isUnseen = file.state.withLock { $0.isPassed && !$0.isMediated }
            let program = try program(file.requester)
            files.hold(node.file, file.descriptor)
            do throws(Errno) {
                try engine.perform(.open(program.number, at.place, file.number, mode, isUnseen: isUnseen), [at])
            } catch {
                files.letGo(node.file)
                throw error
            }
        }
    }

    // MARK: Other files

    /// A file that no request is about, by the names that facts tell of. The names may change meanwhile: the file that
    /// is found is compared.
    func find(_ file: FileID) -> SharedDescriptor? {
        guard let names = try? engine.names(of: file) else { return nil }
        for row in names {
            let flags = linux_O_PATH | O_NOFOLLOW
            guard let path = path(of: row),
                let opened = try? Backing.open(beneath: path.bytes, in: tree.root.raw, flags: flags)
            else { continue }
            let found = SharedDescriptor(opened)
            if let stat = try? Backing.stat(opened), tree.fileID(stat) == file { return found }
        }
        return nil
    }

    /// Where a name is by the facts.
    func path(of row: NameRow) -> TreePath? {
        guard let place = try? facts.place(row.place) else { return nil }
        return path(of: place.directory)?.appending(place.name)
    }

    /// Where a directory is, by the facts that are known.
    func path(of directory: FileID) -> TreePath? {
        var names: [FileName] = []
        var directory = directory
        while directory != .root {
            guard names.count < 4096, let row = (try? engine.names(of: directory))?.first,
                let place = try? facts.place(row.place)
            else { return nil }
            names.append(place.name)
            directory = place.directory
        }
        return TreePath(names: names.reversed())
    }

    // MARK: Names that change meanwhile

    /// Does something anew as long as another file has the name by the time that the names are taken.
    func repeating<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        for _ in 1..<Self.patience {
            do throws(Errno) { return try body() } catch {
                guard error.rawValue == ESTALE else { throw error }
            }
        }
        return try body()
    }
}
