// Renames and exchanges, over the engine.

import CLinux
import Coordination
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension NameRequests {
    /// A rename as it was asked for.
    private struct Move {
        var source: FoundName
        var target: FoundName?
        var newParent: Node
        var newName: FileName
        var flags: UInt32
        /// What clients hear of it, and which program it is by.
        var accesses: [Access?] = []
        var actor: FileActor?
        /// Whether the file that comes says what it is, so that its bytes may arrive after its name.
        var isMarked = false

        var isExchange: Bool { flags & linux_RENAME_EXCHANGE != 0 }
    }

    /// `flags` as in renameat2(2).
    func rename(
        _ caller: Caller, parent: UInt64, name bytes: [UInt8], newParent: UInt64, newName newBytes: [UInt8],
        flags: UInt32
    ) throws(Errno) {
        let program = try recorded.program(caller)
        let (parent, newParent) = (try tree.node(parent), try tree.node(newParent))
        let name = try tree.name(bytes, in: parent, forChange: true, takesAway: flags & linux_RENAME_EXCHANGE == 0)
        let newName = try tree.name(newBytes, in: newParent, forChange: true)
        defer {
            versioned.noteChange(of: name, in: parent)
            versioned.noteChange(of: newName, in: newParent)
        }
        try recorded.repeating { () throws(Errno) in
            guard let source = try recorded.entry(name, in: parent) else { throw recorded.missing(name, in: parent) }
            let target = try recorded.entry(newName, in: newParent)
            var move = Move(source: source, target: target, newParent: newParent, newName: newName, flags: flags)
            if move.isExchange, target == nil { throw .noSuchFileOrDirectory }
            (move.accesses, move.actor) = (accesses(of: move), program.requester.actor)
            try rename(move, by: program)
        }
    }

    private func rename(_ move: Move, by program: RecordedTree.Program) throws(Errno) {
        let (source, target) = (move.source, move.target)
        if source.isForeign || move.newParent.isForeign || target?.isForeign ?? false {
            try tree.requireSameContainer(source.parent, move.newParent)
            for entry in [source, target].compactMap(\.self) where tree.isNested(
                entry.name, entry.stat, in: entry.directory)
            {
                throw .resourceBusy
            }
            return try carryOutPlainly(move)
        }
        if target?.stat.key == source.stat.key { return try carryOutPlainly(move) }
        let isTargetLeftOut = try target.map { found throws(Errno) in try versioned.isLeftOut(found) } ?? false
        let begins = try versioned.isLeftOut(source)
        if begins, target == nil || isTargetLeftOut, try versioned.isLeftOut(move.newName, in: move.newParent) {
            return try carryOutPlainly(move)
        }
        if let target, !move.isExchange { try requireReplaceable(target, by: source, move.flags) }

        try recorded.adoptDirectory(move.newParent)
        var found = [try recorded.adopt(source)]
        defer { for one in found { recorded.files.letGo(one.file) } }
        if let target, move.isExchange || !isTargetLeftOut { found.append(try recorded.adopt(target)) }
        if let target { databases.captureBeforeLoss(target) }
        if move.isExchange { databases.captureBeforeLoss(source) }
        let place = try recorded.freePlace(move.newName, in: move.newParent)
        try refuseIfStale(move, from: found[0].place, to: place, isOver: found.count > 1, by: program)
        let isMadeUp = recorded.isMadeUp(move.newName, in: move.newParent, by: program.requester)
        let events = events(of: move, from: found[0].place, to: place, isMadeUp: isMadeUp, by: program)
        var move = move
        move.isMarked = found.count > 1 && !move.isExchange && mark(move, found[0].file)
        let plan = try recorded.engine.changeNames(events, found) { (names, change) throws(Errno) in
            try carryOut(names, move, place, &change, program)
        }
        recorded.publish(move.newName, in: move.newParent, by: program.requester, if: isMadeUp && !move.isExchange)
        staleWrites.merge(after: plan, isNaming: true)
        try? entries.returned(found[0], by: plan)
        if !move.isExchange { coordination.noteReturn(by: plan, to: move.newName, in: move.newParent) }
        if begins, let node = source.node { try? recorded.begin(writersOf: node) }
        let requester = program.requester
        let moves = [(move.source.name, move.newName), (move.newName, move.source.name)]
        for (one, (old, new)) in zip(found, moves.prefix(move.isExchange ? 2 : 1))
        where one.type == .directory && requester.makesUp(old) && !requester.makesUp(new) {
            // If that fails, the next mount finds the names that are still unpublished.
            try? recorded.publish(in: one.file, by: requester)
        }
    }

    /// A file that takes the name of another one says what it is: after a power cut no fact may tell of that. A big
    /// file with holes, or one that is still open for writing, may be anything.
    /// - Returns: whether it says so.
    private func mark(_ move: Move, _ file: FileID) -> Bool {
        guard move.source.stat.isRegular, move.target?.stat.isRegular ?? false,
            !(move.source.node?.hasWriters ?? false), let live = try? recorded.files.open(file),
            let stat = try? Backing.stat(live.raw)
        else { return false }
        let known = recorded.engine.scene.recall(file)?.file
        if let known, !known.isChanged, known.fingerprint.size == stat.size, known.modified == stat.modified {
            return mark(live, known.fingerprint)
        }
        guard stat.size <= FileLooks.hashedAtOnce, let hash = ContentHash.sha256(of: live.raw, size: stat.size) else {
            return mark(live, Fingerprint(size: stat.size, high: 0, low: 0))
        }
        return mark(live, Fingerprint(hash: hash, size: stat.size))
    }

    private func mark(_ file: SharedDescriptor, _ bytes: Fingerprint) -> Bool {
        let isKnown = bytes.size <= FileLooks.hashedAtOnce || SaveMark.isWithoutHoles(file.raw, size: bytes.size)
        return isKnown && RenamedMark(bytes).set(on: file.raw)
    }

    /// A rename over a document replaces it. One to a name that its program makes up, as vim's to `f~`, begins a save:
    /// no later call of that could be refused.
    private func refuseIfStale(
        _ move: Move, from: PlaceNumber, to: PlaceNumber, isOver: Bool, by program: RecordedTree.Program
    ) throws(Errno) {
        guard move.source.stat.isRegular else { return }
        if recorded.isMadeUp(move.newName, in: move.newParent, by: program.requester) {
            try staleWrites.refuse(program, at: from)
        }
        guard isOver, move.target?.stat.isRegular ?? false else { return }
        if move.isExchange {
            guard recorded.isMadeUp(move.source.name, in: move.source.parent, by: program.requester) else { return }
            return try staleWrites.refuse(program, at: to)
        }
        try staleWrites.refuse(program, at: to) { version throws(Errno) in
            try StaleWrites.puts(move.source, backAs: version)
        }
    }

    /// The accesses of a rename: to the moved item, and to the former owner of its new name.
    private func accesses(of move: Move) -> [Access?] {
        let source = move.source
        let moving = coordination.access(.forMoving, at: source.name, in: source.parent, source.node)
        guard let target = move.target else {
            return [moving, coordination.taking(move.newName, in: move.newParent)]
        }
        guard target.stat.key != source.stat.key else { return [moving] }
        // A document whose file is replaced goes on.
        let option: WritingOption =
            move.isExchange ? .forMoving : target.stat.isRegular ? .updating : .forDeleting
        return [moving, coordination.access(option, at: target.name, in: target.parent, target.node)]
    }

    private func requireReplaceable(_ target: FoundName, by source: FoundName, _ flags: UInt32) throws(Errno) {
        if flags & linux_RENAME_NOREPLACE != 0 { throw .fileExists }
        switch (source.stat.isDirectory, target.stat.isDirectory) {
        case (true, false): throw .notDirectory
        case (false, true): throw .isDirectory
        default: break
        }
    }

    /// | the call | what it is to the rules |
    /// |---|---|
    /// | an exchange | an exchange |
    /// | of what has no versions over a document | the removal of that, and a rename to a free name |
    /// | of a document over what has no versions | the same |
    /// | any other | a rename |
    private func events(
        of move: Move, from: PlaceNumber, to: PlaceNumber, isMadeUp: Bool, by program: RecordedTree.Program
    ) -> [Event] {
        if move.isExchange { return [.exchange(program.number, from, to)] }
        let rename = Event.rename(program.number, from: from, to: to, isMadeUp: isMadeUp)
        switch (move.source.stat.isRegular, move.target?.stat.isRegular) {
        case (false, true?): return [.unlink(program.number, to), rename]
        case (true, false?): return [.removeDirectory(program.number, to), rename]
        default: return [rename]
        }
    }

    /// A rename of which no fact tells.
    private func carryOutPlainly(_ move: Move) throws(Errno) {
        try tree.names.writing { (names) throws(Errno) in
            try carryOut(names, move) { target throws(Errno) in try leaving(target, nil) }
        }
    }

    private func carryOut(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ place: PlaceNumber, _ change: inout NameChange,
        _ program: RecordedTree.Program
    ) throws(Errno) {
        try carryOut(names, move) { target throws(Errno) in
            try leaving(names, target, place, &change, program)
        }
        if let removal = change.removal(at: place) { entries.note(removal, by: program.requester) }
    }

    /// Renames the file below, by one call, or by two that do not wait for the disk.
    ///
    /// Where renaming over a file begins to write the one that comes (ext4: 10 ms for 100 MiB, half of a small save),
    /// the two change places instead, and the file that is then under the old name goes. At no moment is the name
    /// without a file. The writing is begun a moment later, by a thread that no caller waits for. A kill in between
    /// leaves the old file under both names (``HalfRenames``), of which the second is looked for beside the first. So
    /// this is for renames within a directory.
    ///
    /// - Parameter isKept: whether the file that goes is an object.
    private func renameBelow(
        _ move: Move, _ source: FoundName, in directory: SharedDescriptor, isKept: Bool
    ) throws(Errno) {
        func rename(_ flags: UInt32) throws(Errno) {
            try Backing.rename(
                source.name.bytes, in: source.directory.raw, to: move.newName.bytes, in: directory.raw, flags: flags)
        }
        guard move.flags == 0, isKept, move.isMarked, kept.custodian.state.contents.renamingOverWrites,
            source.parent === move.newParent, let file = try? recorded.files.open(tree.fileID(source.stat)),
            (try? rename(linux_RENAME_EXCHANGE)) != nil
        else { return try rename(move.flags) }
        do throws(Errno) {
            try Backing.unlink(source.name.bytes, in: source.directory.raw)
        } catch {
            // As in a directory where only owners may remove names.
            try rename(linux_RENAME_EXCHANGE)
            return try rename(move.flags)
        }
        kept.custodian.state.contents.hasten(
            FileDescriptor(rawValue: file.raw), number: source.stat.key.inode)
    }

    /// - Parameter displace: says what becomes of the file that the move takes the name of.
    private func carryOut(
        _ names: borrowing NamesHeldAlone, _ move: Move, displace: (FoundName) throws(Errno) -> Leaving
    ) throws(Errno) {
        let source = try same(move.source)
        let target = try move.target.map { found throws(Errno) in try same(found) }
        let directory = try tree.descriptor(of: move.newParent)
        // Something else has the name by now. What becomes of it is not planned.
        if target == nil, try Backing.statIfPresent(move.newName.bytes, in: directory.raw) != nil {
            throw Errno(rawValue: ESTALE)
        }
        let isReplaced = !move.isExchange && target.map { $0.stat.key != source.stat.key } ?? false
        var leaving: Leaving?
        if isReplaced, let target, move.flags & linux_RENAME_NOREPLACE == 0 { leaving = try displace(target) }
        do throws(Errno) {
            try renameBelow(move, source, in: directory, isKept: leaving?.whole != nil)
        } catch {
            if let target, let leaving { takeBack(names, target, leaving) }
            throw error
        }
        // Holders and presenters hear of it where they are, before they go along.
        coordination.report(move.accesses, by: move.actor)
        if !move.isExchange, target?.stat.key == source.stat.key { return }
        if let target, let leaving { leave(names, target, leaving) }
        coordination.noteMove(
            (source.name, source.parent), (move.newName, move.newParent), isExchange: move.isExchange,
            areDocuments: source.stat.isRegular && target?.stat.isRegular ?? true)
        let new = Node.Name(parent: move.newParent, name: move.newName)
        if let node = source.node { tree.nodes.moveName(names, source.name, in: source.parent, of: node, to: new) }
        if move.isExchange, let target, let node = target.node {
            let old = Node.Name(parent: source.parent, name: source.name)
            tree.nodes.moveName(names, move.newName, in: move.newParent, of: node, to: old)
        }
    }
}
