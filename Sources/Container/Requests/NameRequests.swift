// The requests that make and remove names, over the engine.

import CLinux
import Coordination
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Makes names, links and removes them. What that means for documents is the engine's.
final class NameRequests: Sendable {
    let recorded: RecordedTree
    let versioned: VersionedNames
    let coordination: EngineCoordination
    let kept: KeptObjects
    let staleWrites: StaleWrites
    let entries: DeletedEntries
    let databases: EngineDatabases

    var tree: LiveTree { recorded.tree }

    init(
        _ recorded: RecordedTree, _ versioned: VersionedNames, _ coordination: EngineCoordination,
        _ staleWrites: StaleWrites, _ databases: EngineDatabases, kept: KeptObjects
    ) {
        (self.recorded, self.versioned, self.coordination, self.kept) = (recorded, versioned, coordination, kept)
        (self.staleWrites, self.databases) = (staleWrites, databases)
        entries = DeletedEntries(recorded, kept.custodian)
    }

    // MARK: Making

    func makeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t) throws(Errno) -> Found {
        try make(.directory, caller, parent, name, mode: mode) { directory, name throws(Errno) in
            try Backing.makeDirectory(name, in: directory, mode: mode & 0o7777)
        }
    }

    func makeSymlink(_ caller: Caller, parent: UInt64, name: [UInt8], target: [UInt8]) throws(Errno) -> Found {
        try make(.symlink, caller, parent, name, mode: nil) { directory, name throws(Errno) in
            try Backing.makeSymlink(name, in: directory, target: target)
        }
    }

    /// A regular file that mknod(2) makes is a document once something is done with it.
    func makeNode(
        _ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, device: dev_t
    ) throws(Errno) -> Found {
        try make(EntryType(mode), caller, parent, name, mode: mode) { directory, name throws(Errno) in
            try Backing.makeNode(name, in: directory, mode: mode, device: device)
        }
    }

    /// What a program makes under a name that it makes up for itself has no row until a fact needs one.
    private func make(
        _ type: EntryType, _ caller: Caller, _ parent: UInt64, _ bytes: [UInt8], mode: mode_t?,
        _ body: (Int32, [UInt8]) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        let (program, parent) = (try recorded.program(caller), try tree.node(parent))
        let name = try tree.name(bytes, in: parent, forChange: true)
        let access = coordination.taking(name, in: parent)
        func making(_ names: borrowing NamesHeldAlone) throws(Errno) -> Found {
            try make(caller, parent, name, mode: mode) { directory throws(Errno) in
                try body(directory, name.bytes)
            }
        }
        guard type != .file, !parent.isForeign, !program.requester.makesUp(name) else {
            let found = try recorded.engine.room.retrying { (_) throws(Errno) in try tree.names.writing(making) }
            coordination.report([access], by: caller)
            return found
        }
        try recorded.adoptDirectory(parent)
        let place = try recorded.freePlace(name, in: parent)
        var made: Found?
        try recorded.engine.performMaking(of: type, { .makeDirectory(program.number, place, $0) }) {
            (names) throws(Errno) in
            let found = try making(names)
            made = found
            return try tree.node(found.node).file
        }
        guard let made else { throw .ioError }
        coordination.report([access], by: caller)
        return made
    }

    private func make(
        _ caller: Caller, _ parent: Node, _ name: FileName, mode: mode_t?, _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        let directory = try tree.descriptor(of: parent)
        try caller.making { () throws(Errno) in try body(directory.raw) }
        let stat = try tree.adopt(name, in: directory, for: caller, mode: mode)
        return tree.found(stat, as: Node.Name(parent: parent, name: name))
    }

    // MARK: Linking

    func link(_ caller: Caller, node id: UInt64, parent: UInt64, name bytes: [UInt8]) throws(Errno) -> Found {
        let (program, source) = (try recorded.program(caller), try tree.node(id))
        let parent = try tree.node(parent)
        let name = try tree.name(bytes, in: parent, forChange: true)
        defer { versioned.noteChange(of: name, in: parent) }
        let made = try recorded.repeating { () throws(Errno) in
            try link(source, name, in: parent, by: program)
        }
        coordination.report([coordination.taking(name, in: parent)], by: caller)
        return made
    }

    private func link(
        _ source: Node, _ name: FileName, in parent: Node, by program: RecordedTree.Program
    ) throws(Errno) -> Found {
        let former = tree.nodes.location(source).name
        if let former { try tree.requireSameContainer(former.parent, parent) }
        // Another request has taken its name, and it may have more: the kernel looks it up again.
        if former == nil, !source.isForeign, !source.isRegular { throw Errno(rawValue: ESTALE) }
        guard !source.isForeign, !parent.isForeign, try !staysLeftOut(source, as: name, in: parent) else {
            return try tree.names.writing { (names) throws(Errno) in try link(names, source, name, in: parent) }
        }
        try recorded.adoptDirectory(parent)
        let place = try recorded.freePlace(name, in: parent)
        guard let former else { return try linkNameless(source, name, in: parent, place, by: program) }
        guard let entry = try recorded.entry(former.name, in: former.parent) else {
            throw .noSuchFileOrDirectory
        }
        let from = try recorded.adopt(entry)
        defer { recorded.files.letGo(from.file) }
        // Of what has no versions each name is for itself.
        let event: Event = source.isRegular
            ? .link(program.number, from: from.place, to: place)
            : .makeDirectory(program.number, place, from.file)
        var made: Found?
        let plan = try recorded.engine.performOnNames(event, [from]) { (names, _) throws(Errno) in
            made = try link(names, source, name, in: parent)
        }
        try? entries.returned(from, by: plan)
        guard let made else { throw .ioError }
        return made
    }

    /// Whether a file has no versions, and has none under one more name either.
    private func staysLeftOut(_ source: Node, as name: FileName, in parent: Node) throws(Errno) -> Bool {
        guard source.isRegular, try versioned.isLeftOut(name, in: parent) else { return false }
        if tree.nodes.location(source).name == nil { return true }
        return try versioned.isLeftOut(source)
    }

    /// A file that was made without a name (O_TMPFILE) is a document from now on. Its first version is the one that a
    /// writer closes.
    private func linkNameless(
        _ source: Node, _ name: FileName, in parent: Node, _ place: PlaceNumber, by program: RecordedTree.Program
    ) throws(Errno) -> Found {
        // Another request has taken its name: the kernel looks that up again.
        guard tree.nodes.lostName(of: source) == nil else { throw Errno(rawValue: ESTALE) }
        let writers = source.writers
        let handle = writers.first?.number ?? HandleNumber(0)
        let isMadeUp = recorded.isMadeUp(name, in: parent, by: program.requester)
        let event = Event.create(
            program.number, place, source.file, handle, .replace, isMadeUp: isMadeUp, isUnseen: false)
        guard let held = writers.first?.descriptor ?? tree.nodes.held(source) else { throw .noSuchFileOrDirectory }
        recorded.files.hold(source.file, held)
        defer { recorded.files.letGo(source.file) }
        var made: Found?
        try recorded.engine.performOnNames(event) { (names, _) throws(Errno) in
            made = try link(names, source, name, in: parent)
        }
        recorded.publish(name, in: parent, by: program.requester, if: isMadeUp)
        if writers.isEmpty {
            try recorded.engine.perform(.close(handle))
            try recorded.engine.perform(.release(handle))
        }
        for writer in writers { try note(writer, of: source, FileAtPlace(place: place, file: source.file)) }
        guard let made else { throw .ioError }
        return made
    }

    /// The rules know a handle of a file that was made without a name, until it is released.
    private func note(_ writer: OpenFile, of source: Node, _ at: FileAtPlace) throws(Errno) {
        let engine = recorded.engine
        recorded.files.hold(source.file, writer.descriptor)
        if engine.scene.handle(writer.number) == nil {
            let author = try recorded.program(writer.requester)
            let mode = FileRequests.mode(writer.flags)
            try engine.perform(.open(author.number, at.place, writer.number, mode, isUnseen: false), [at])
        }
        guard !source.writers.contains(where: { $0 === writer }) else { return }
        // It was released before it was known.
        try engine.perform(.release(writer.number))
        recorded.files.letGo(source.file)
    }

    private func link(
        _ names: borrowing NamesHeldAlone, _ source: Node, _ name: FileName, in parent: Node
    ) throws(Errno) -> Found {
        let directory = try tree.descriptor(of: parent)
        try tree.withOwn(source) { file throws(Errno) in
            try Backing.link(file, to: name.bytes, in: directory.raw)
        }
        let stat = try Backing.stat(name.bytes, in: directory.raw)
        tree.nodes.addName(names, Node.Name(parent: parent, name: name), to: source)
        return tree.found(stat, as: Node.Name(parent: parent, name: name))
    }

    // MARK: Removing

    func unlink(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) {
        try remove(caller, parent, bytes) { found throws(Errno) in
            guard !found.stat.isDirectory else { throw .isDirectory }
        }
    }

    func removeDirectory(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) {
        try remove(caller, parent, bytes) { found throws(Errno) in
            guard found.stat.isDirectory else { throw .notDirectory }
            if self.tree.isNested(found.name, found.stat, in: found.directory) { throw .resourceBusy }
        }
    }

    private func remove(
        _ caller: Caller, _ parent: UInt64, _ bytes: [UInt8], _ check: (FoundName) throws(Errno) -> Void
    ) throws(Errno) {
        let (program, parent) = (try recorded.program(caller), try tree.node(parent))
        let name = try tree.name(bytes, in: parent, forChange: true, takesAway: true)
        defer { versioned.noteChange(of: name, in: parent) }
        do throws(Errno) {
            try remove(caller, name, in: parent, program, isForGood: false, check)
        } catch {
            // Where even the record of a removal has no room, there it would be the first to be given up.
            guard error.isFull, program.requester.isProgram else { throw error }
            try remove(caller, name, in: parent, program, isForGood: true, check)
        }
    }

    /// - Parameter isForGood: whether a document leaves nothing, unless a version of it is pinned or in conflict. What
    ///   has no versions leaves no entry then.
    private func remove(
        _ caller: Caller, _ name: FileName, in parent: Node, _ program: RecordedTree.Program, isForGood: Bool,
        _ check: (FoundName) throws(Errno) -> Void
    ) throws(Errno) {
        try recorded.repeating { () throws(Errno) in
            guard let found = try recorded.entry(name, in: parent) else { throw recorded.missing(name, in: parent) }
            try check(found)
            databases.captureBeforeLoss(ofJournal: found, by: program.requester)
            // A name that its program has made up was never told.
            let access = program.requester.makesUp(name)
                ? nil : coordination.access(.forDeleting, at: name, in: parent, found.node)
            guard try isRecorded(found, program) else {
                let isMadeUp = !found.isForeign && !found.stat.isRegular && program.requester.makesUp(name)
                let place = isMadeUp ? try recorded.place(name, in: parent) : nil
                try tree.names.writing { (names) throws(Errno) in
                    // Another request may have made something in it meanwhile, and has recorded both.
                    if let place, try recorded.engine.occupant(of: place) == tree.fileID(found.stat) {
                        throw Errno(rawValue: ESTALE)
                    }
                    try remove(names, same(found))
                }
                return coordination.report([access], by: caller)
            }
            let at = try recorded.adopt(found)
            defer { recorded.files.letGo(at.file) }
            let isWork = !versioned.isRepositorys(parent, program.requester)
            if isForGood, found.stat.isRegular { try requireUnprotected(at) }
            databases.captureBeforeLoss(found)
            if found.stat.isRegular { try staleWrites.refuseRemoval(by: program, at: at.place) }
            let event: Event = found.stat.isRegular
                ? .unlink(program.number, at.place, leavesNothing: isForGood || !isWork)
                : .removeDirectory(program.number, at.place)
            let plan = try recorded.engine.changeNames([event], [at]) { (names, change) throws(Errno) in
                change.isForGood = isForGood
                try remove(names, same(found), at.place, &change, program, isWork: isWork)
            }
            if isForGood || !isWork, let room = recorded.engine.room.room {
                room.release(plan)
                if isForGood { room.noteLoss(bytes: UInt64(found.stat.raw.blocks) * 512) }
            }
            coordination.report([access], by: caller)
        }
    }

    /// A journal goes to the deleted list, because its database gets another content.
    func removeJournal(_ found: FoundName, by program: RecordedTree.Program) throws(Errno) {
        let at = try recorded.adopt(found)
        defer { recorded.files.letGo(at.file) }
        try recorded.engine.changeNames([.unlink(program.number, at.place)], [at]) { (names, change) throws(Errno) in
            try remove(names, same(found), at.place, &change, program, isWork: true)
        }
    }

    /// - Throws: ENOSPC if a version of a document is pinned, or in conflict.
    private func requireUnprotected(_ at: FileAtPlace) throws(Errno) {
        let engine = recorded.engine
        for name in try engine.names(of: at.file) where name.place == at.place {
            let (versions, conflicts) = try engine.versions(of: name.document)
            guard conflicts.isEmpty, engine.room.room?.mayLose(versions) ?? false else { throw .noSpace }
        }
    }

    /// Whether facts tell of a removal. What a program has made up for itself, and has no versions, goes as it came.
    private func isRecorded(_ found: FoundName, _ program: RecordedTree.Program) throws(Errno) -> Bool {
        if found.isForeign { return false }
        if try versioned.isLeftOut(found) { return databases.isNeeded(found, by: program.requester) }
        if found.stat.isRegular || !program.requester.makesUp(found.name) { return true }
        return try recorded.isKnown(found)
    }

    /// The name again, now that the names are held.
    /// - Throws: ESTALE if another file has it.
    func same(_ found: FoundName) throws(Errno) -> FoundName {
        guard let now = try recorded.entryLocked(found.name, in: found.parent), now.stat.key == found.stat.key else {
            throw Errno(rawValue: ESTALE)
        }
        return now
    }

    /// Removes a name of which no fact tells.
    private func remove(_ names: borrowing NamesHeldAlone, _ found: FoundName) throws(Errno) {
        let leaving = try leaving(found, nil)
        try unlink(found)
        leave(names, found, leaving)
    }

    private func remove(
        _ names: borrowing NamesHeldAlone, _ found: FoundName, _ place: PlaceNumber, _ change: inout NameChange,
        _ program: RecordedTree.Program, isWork: Bool
    ) throws(Errno) {
        let times = change.removal(at: place).flatMap { entries.times(before: $0, found, by: program.requester) }
        change.changes = times.map { [$0] } ?? []
        let leaving = try leaving(names, found, place, &change, program, isWork: isWork)
        if leaving.entry?.isMoved != true {
            do throws(Errno) { try unlink(found) } catch {
                takeBack(names, found, leaving)
                throw error
            }
        }
        leave(names, found, leaving)
        if let removal = change.removal(at: place) { entries.note(removal, by: program.requester) }
    }

    private func unlink(_ found: FoundName) throws(Errno) {
        let flags = found.stat.isDirectory ? AT_REMOVEDIR : 0
        try Backing.unlink(found.name.bytes, in: found.directory.raw, flags: flags)
    }
}
