// Files that lose their names, over the engine.

import CLinux
import Glibc
import Lineage
import SystemPackage
import VersionModel
import VersionStore

extension NameRequests {
    /// What becomes of a file that is about to lose a name.
    struct Leaving {
        /// Its content is an object by itself.
        var whole: WholeContent?
        /// It is in the deleted area.
        var entry: DeletedEntries.Entry?
        /// For programs that have it open.
        var held: SharedDescriptor?
    }

    /// Keeps a file in reach of the kernel, and among the contents if a plan says so.
    /// - Parameter isForGood: whether it goes to make room. A descriptor of ours would keep that.
    func leaving(
        _ found: FoundName, _ whole: WholeContent?, isForGood: Bool = false
    ) throws(Errno) -> Leaving {
        var held: SharedDescriptor?
        // An object that no program has open needs no descriptor.
        if let node = found.node, whole == nil && !isForGood || node.openings.state.withLock({ $0.count > 0 }) {
            if let writer = node.writers.first {
                held = writer.descriptor
            } else {
                held = try Backing.hold(found.name.bytes, in: found.directory.raw, found.stat.key)
            }
        }
        if let whole { try kept.keep(whole, linking: found.name, in: found.directory, found.stat) }
        return Leaving(whole: whole, held: held)
    }

    /// The same for what a fact says of: what has no versions goes to the deleted area, unless its program has made it
    /// up for itself. Its name may be free then.
    /// - Parameter isWork: whether anyone may want it again.
    func leaving(
        _ names: borrowing NamesHeldAlone, _ found: FoundName, _ place: PlaceNumber, _ change: inout NameChange,
        _ program: RecordedTree.Program, isWork: Bool = true
    ) throws(Errno) -> Leaving {
        // Where there is no room for it, it goes before the facts say that it is not needed.
        if found.stat.isRegular {
            let whole = change.isForGood ? nil : change.whole
            return try leaving(found, whole, isForGood: change.isForGood)
        }
        if found.stat.isDirectory { try requireEmpty(found) }
        var leaving = try leaving(found, nil)
        if isWork, let removal = change.removal(at: place), !program.requester.makesUp(found.name) {
            leaving.entry = try entries.take(
                names, found, removal, by: program.requester, mayGo: change.isForGood)
        }
        guard let entry = leaving.entry else { return leaving }
        change.entries.insert(place)
        // It is found there. A program that has it open goes on with it, also when the entry is purged.
        if entry.isMoved, found.node?.openings.state.withLock({ $0.count == 0 }) ?? true { leaving.held = nil }
        return leaving
    }

    private func requireEmpty(_ found: FoundName) throws(Errno) {
        let directory = SharedDescriptor(
            try Backing.open(found.name.bytes, in: found.directory.raw, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
        guard try Backing.isEmpty(directory.raw) else {
            throw Backing.refusal(ofFull: directory.raw, in: found.directory.raw)
        }
    }

    /// The name stays after all: its call has failed.
    func takeBack(_ names: borrowing NamesHeldAlone, _ found: FoundName, _ leaving: Leaving) {
        if let whole = leaving.whole { kept.drop(whole.content) }
        if let entry = leaving.entry { entries.takeBack(names, entry, to: found) }
    }

    /// Takes the name away from the kernel's node.
    func leave(_ names: borrowing NamesHeldAlone, _ found: FoundName, _ leaving: Leaving) {
        guard let node = found.node else { return }
        if let held = leaving.held, tree.nodes.isLastName(of: node) { tree.nodes.hold(node, held) }
        let whereabouts = whereabouts(leaving)
        tree.nodes.removeName(names, found.name, in: found.parent, of: node, now: whereabouts)
        if case .gone = whereabouts { coordination.serving.passthrough.drop(node) }
        if found.stat.isDirectory { tree.directories.drop(node.id) }
    }

    private func whereabouts(_ leaving: Leaving) -> Node.Whereabouts {
        if let whole = leaving.whole { return .kept(ContentID(whole.content)) }
        if let entry = leaving.entry, entry.isMoved { return .deleted(entry.id) }
        return .gone
    }
}

extension EntryType {
    /// - Parameter mode: as for mknod(2), where no type stands for a regular file.
    init(_ mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG, 0: self = .file
        case S_IFIFO: self = .fifo
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }
}
