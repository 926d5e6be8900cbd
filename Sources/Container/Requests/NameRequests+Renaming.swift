// Renames and exchanges, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel

extension NameRequests {
    /// A rename as it was asked for.
    private struct Move {
        var source: FoundName
        var target: FoundName?
        var newParent: Node
        var newName: FileName
        var flags: UInt32

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
        try recorded.repeating { () throws(Errno) in
            guard let source = try recorded.entry(name, in: parent) else { throw .noSuchFileOrDirectory }
            let target = try recorded.entry(newName, in: newParent)
            let move = Move(source: source, target: target, newParent: newParent, newName: newName, flags: flags)
            if move.isExchange, target == nil { throw .noSuchFileOrDirectory }
            try rename(move, by: program)
        }
    }

    /// | | what it is to the rules |
    /// |---|---|
    /// | two names of one file | nothing |
    /// | an exchange of two that facts tell of | an exchange |
    /// | an exchange with a symlink or a special file | a rename of the other |
    /// | of a document or a directory | a rename |
    /// | of a symlink or a special file over a document | a removal of that |
    /// | any other | nothing |
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
        let (movesDocument, replacesDocument) = (
            recorded.isRecorded(source), target.map { recorded.isRecorded($0) } ?? false
        )
        if !movesDocument, !replacesDocument { return try carryOutPlainly(move) }

        try recorded.adoptDirectory(move.newParent)
        var found: [FileAtPlace] = []
        defer { for one in found { recorded.files.letGo(one.file) } }
        if movesDocument { found.append(try recorded.adopt(source)) }
        if replacesDocument, let target { found.append(try recorded.adopt(target)) }
        let from = try recorded.place(source.name, in: source.parent)
        let to = try recorded.place(move.newName, in: move.newParent)
        let event: Event =
            switch (movesDocument, replacesDocument, move.isExchange) {
            case (true, true, true): .exchange(program.number, from, to)
            case (false, true, true): .rename(program.number, from: to, to: from, isMadeUp: isMadeUp(source, program))
            case (false, true, false): .unlink(program.number, to)
            default:
                .rename(
                    program.number, from: from, to: to,
                    isMadeUp: recorded.isMadeUp(move.newName, in: move.newParent, by: program.requester))
            }
        try recorded.engine.performOnNames(event, found) { (names, whole) throws(Errno) in
            try carryOut(names, move, whole)
        }
    }

    private func isMadeUp(_ entry: FoundName, _ program: RecordedTree.Program) -> Bool {
        recorded.isMadeUp(entry.name, in: entry.parent, by: program.requester)
    }

    private func carryOutPlainly(_ move: Move) throws(Errno) {
        try tree.names.writing { (names) throws(Errno) in try carryOut(names, move, nil) }
    }

    private func carryOut(
        _ names: borrowing NamesHeldAlone, _ move: Move, _ whole: WholeContent?
    ) throws(Errno) {
        let source = try same(move.source)
        let target = try move.target.map { found throws(Errno) in try same(found) }
        let directory = try tree.descriptor(of: move.newParent)
        let isReplaced = !move.isExchange && target.map { $0.stat.key != source.stat.key } ?? false
        var leaving: Leaving?
        if isReplaced, let target, move.flags & linux_RENAME_NOREPLACE == 0 {
            leaving = try self.leaving(target, whole)
        }
        do throws(Errno) {
            try Backing.rename(
                source.name.bytes, in: source.directory.raw, to: move.newName.bytes, in: directory.raw,
                flags: move.flags)
        } catch {
            if let whole, leaving != nil { kept.drop(whole.content) }
            throw error
        }
        if !move.isExchange, target?.stat.key == source.stat.key { return }
        if let target, let leaving { leave(names, target, leaving) }
        let new = Node.Name(parent: move.newParent, name: move.newName)
        if let node = source.node { tree.nodes.moveName(names, source.name, in: source.parent, of: node, to: new) }
        if move.isExchange, let target, let node = target.node {
            let old = Node.Name(parent: source.parent, name: source.name)
            tree.nodes.moveName(names, move.newName, in: move.newParent, of: node, to: old)
        }
    }
}
