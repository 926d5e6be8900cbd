// The requests that make and remove names, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

/// Makes names, links and removes them. What that means for documents is the engine's.
final class NameRequests: Sendable {
    let recorded: RecordedTree
    let kept: KeptObjects

    var tree: LiveTree { recorded.tree }

    init(_ recorded: RecordedTree, kept: KeptObjects) { (self.recorded, self.kept) = (recorded, kept) }

    // MARK: Making

    func makeDirectory(_ caller: Caller, parent: UInt64, name bytes: [UInt8], mode: mode_t) throws(Errno) -> Found {
        let (program, parent) = (try recorded.program(caller), try tree.node(parent))
        let name = try tree.name(bytes, in: parent, forChange: true)
        let making = { (_: borrowing NamesHeldAlone) throws(Errno) -> Found in
            try self.make(caller, parent, name, mode: mode) { directory throws(Errno) in
                try Backing.makeDirectory(name.bytes, in: directory, mode: mode & 0o7777)
            }
        }
        guard !parent.isForeign else { return try tree.names.writing(making) }
        try recorded.adoptDirectory(parent)
        let place = try recorded.place(name, in: parent)
        var made: Found?
        try recorded.engine.performMaking({ .makeDirectory(program.number, place, $0) }) { (names) throws(Errno) in
            let found = try making(names)
            made = found
            return try tree.node(found.node).file
        }
        guard let made else { throw .ioError }
        return made
    }

    func makeSymlink(_ caller: Caller, parent: UInt64, name: [UInt8], target: [UInt8]) throws(Errno) -> Found {
        try makePlainly(caller, parent, name, mode: nil) { directory, name throws(Errno) in
            try Backing.makeSymlink(name, in: directory, target: target)
        }
    }

    func makeNode(
        _ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, device: dev_t
    ) throws(Errno) -> Found {
        try makePlainly(caller, parent, name, mode: mode) { directory, name throws(Errno) in
            try Backing.makeNode(name, in: directory, mode: mode, device: device)
        }
    }

    /// A name of which no fact tells.
    private func makePlainly(
        _ caller: Caller, _ parent: UInt64, _ bytes: [UInt8], mode: mode_t?,
        _ body: (Int32, [UInt8]) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        let parent = try tree.node(parent)
        let name = try tree.name(bytes, in: parent, forChange: true)
        return try tree.names.writing { (_) throws(Errno) in
            try make(caller, parent, name, mode: mode) { directory throws(Errno) in try body(directory, name.bytes) }
        }
    }

    private func make(
        _ caller: Caller, _ parent: Node, _ name: FileName, mode: mode_t?, _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        let directory = try tree.descriptor(of: parent)
        umask(caller.umask)
        try body(directory.raw)
        let stat = try tree.adopt(name, in: directory, for: caller, mode: mode)
        return tree.found(stat, as: Node.Name(parent: parent, name: name))
    }

    // MARK: Linking

    func link(_ caller: Caller, node id: UInt64, parent: UInt64, name bytes: [UInt8]) throws(Errno) -> Found {
        let (program, source) = (try recorded.program(caller), try tree.node(id))
        let parent = try tree.node(parent)
        let name = try tree.name(bytes, in: parent, forChange: true)
        return try recorded.repeating { () throws(Errno) in
            let former = tree.nodes.location(source).name
            if let former { try tree.requireSameContainer(former.parent, parent) }
            guard source.isRegular, !source.isForeign, !parent.isForeign else {
                return try tree.names.writing { (names) throws(Errno) in try link(names, source, name, in: parent) }
            }
            try recorded.adoptDirectory(parent)
            let place = try recorded.place(name, in: parent)
            guard let former else { return try linkNameless(source, name, in: parent, place, by: program) }
            guard let entry = try recorded.entry(former.name, in: former.parent) else {
                throw .noSuchFileOrDirectory
            }
            let from = try recorded.adopt(entry)
            defer { recorded.files.letGo(from.file) }
            var made: Found?
            try recorded.engine.performOnNames(.link(program.number, from: from.place, to: place), [from]) {
                (names, _) throws(Errno) in made = try link(names, source, name, in: parent)
            }
            guard let made else { throw .ioError }
            return made
        }
    }

    /// A file that was made without a name (O_TMPFILE) is a document from now on. Its first version is the one that its
    /// writer closes.
    private func linkNameless(
        _ source: Node, _ name: FileName, in parent: Node, _ place: PlaceNumber, by program: RecordedTree.Program
    ) throws(Errno) -> Found {
        let writer = source.writers.first
        let handle = HandleNumber(UInt32(truncatingIfNeeded: writer?.id ?? 0))
        let event = Event.create(
            program.number, place, source.file, handle, .replace,
            isMadeUp: recorded.isMadeUp(name, in: parent, by: program.requester), isUnseen: false)
        guard let held = writer?.descriptor ?? tree.nodes.held(source) else { throw .noSuchFileOrDirectory }
        recorded.files.hold(source.file, held)
        defer { recorded.files.letGo(source.file) }
        var made: Found?
        try recorded.engine.performOnNames(event) { (names, _) throws(Errno) in
            made = try link(names, source, name, in: parent)
        }
        if writer == nil {
            try recorded.engine.perform(.close(handle))
            try recorded.engine.perform(.release(handle))
        }
        guard let made else { throw .ioError }
        return made
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
        let (program, parent) = (try recorded.program(caller), try tree.node(parent))
        let name = try tree.name(bytes, in: parent, forChange: true, takesAway: true)
        try recorded.repeating { () throws(Errno) in
            guard let found = try recorded.entry(name, in: parent) else { throw .noSuchFileOrDirectory }
            guard !found.stat.isDirectory else { throw .isDirectory }
            guard recorded.isRecorded(found) else {
                return try tree.names.writing { (names) throws(Errno) in try remove(names, same(found), nil) }
            }
            let at = try recorded.adopt(found)
            defer { recorded.files.letGo(at.file) }
            try recorded.engine.performOnNames(.unlink(program.number, at.place), [at]) {
                (names, whole) throws(Errno) in try remove(names, same(found), whole)
            }
        }
    }

    func removeDirectory(_ caller: Caller, parent: UInt64, name bytes: [UInt8]) throws(Errno) {
        let (program, parent) = (try recorded.program(caller), try tree.node(parent))
        let name = try tree.name(bytes, in: parent, forChange: true, takesAway: true)
        try recorded.repeating { () throws(Errno) in
            guard let found = try recorded.entry(name, in: parent) else { throw .noSuchFileOrDirectory }
            guard found.stat.isDirectory else { throw .notDirectory }
            if tree.isNested(name, found.stat, in: found.directory) { throw .resourceBusy }
            guard recorded.isRecorded(found) else {
                return try tree.names.writing { (names) throws(Errno) in try remove(names, same(found), nil) }
            }
            let at = try recorded.adopt(found)
            defer { recorded.files.letGo(at.file) }
            try recorded.engine.performOnNames(.removeDirectory(program.number, at.place), [at]) {
                (names, _) throws(Errno) in try remove(names, same(found), nil)
            }
        }
    }

    /// The name again, now that the names are held.
    /// - Throws: ESTALE if another file has it.
    func same(_ found: FoundName) throws(Errno) -> FoundName {
        guard let now = try recorded.entryLocked(found.name, in: found.parent), now.stat.key == found.stat.key else {
            throw Errno(rawValue: ESTALE)
        }
        return now
    }

    private func remove(
        _ names: borrowing NamesHeldAlone, _ found: FoundName, _ whole: WholeContent?
    ) throws(Errno) {
        let leaving = try leaving(found, whole)
        do throws(Errno) {
            let flags = found.stat.isDirectory ? AT_REMOVEDIR : 0
            try Backing.unlink(found.name.bytes, in: found.directory.raw, flags: flags)
        } catch {
            if let whole { kept.drop(whole.content) }
            throw error
        }
        leave(names, found, leaving)
    }

    // MARK: Files that lose their names

    /// What becomes of a file that is about to lose a name.
    struct Leaving {
        /// Its content is an object by itself.
        var whole: WholeContent?
        /// For programs that have it open.
        var held: SharedDescriptor?
    }

    /// Keeps a file in reach of the kernel, and among the contents if a plan says so.
    func leaving(_ found: FoundName, _ whole: WholeContent?) throws(Errno) -> Leaving {
        var held: SharedDescriptor?
        // An object that no program has open needs no descriptor.
        if let node = found.node, whole == nil || node.openings.state.withLock({ $0.count > 0 }) {
            if let writer = node.writers.first {
                held = writer.descriptor
            } else {
                held = try Backing.hold(found.name.bytes, in: found.directory.raw, found.stat.key)
            }
        }
        if let whole { try kept.keep(whole, linking: found.name, in: found.directory, found.stat) }
        return Leaving(whole: whole, held: held)
    }

    /// Takes the name away from the kernel's node.
    func leave(_ names: borrowing NamesHeldAlone, _ found: FoundName, _ leaving: Leaving) {
        guard let node = found.node else { return }
        if let held = leaving.held, tree.nodes.isLastName(of: node) { tree.nodes.hold(node, held) }
        tree.nodes.removeName(
            names, found.name, in: found.parent, of: node,
            now: leaving.whole.map { .kept(ContentID($0.content)) } ?? .gone)
        if found.stat.isDirectory { tree.directories.drop(node.id) }
    }
}
