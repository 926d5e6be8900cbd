// The changes that are allowed under `.versions`: losers are chosen, deleted things come back. The rest is EROFS; above
// all, nothing is removed, so that no cleanup settles a conflict or empties anything.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension Browser {
    /// Renaming a file of `conflicts` onto its document chooses it; renaming an entry of `.deleted` into a live
    /// directory undeletes it. Either node may be one of the live tree.
    /// - Throws: EROFS for every other rename, EEXIST if an undeleted entry would replace something.
    public func rename(
        _ caller: Caller, parent: UInt64, name: [UInt8], newParent: UInt64, newName: [UInt8], flags: UInt32
    ) throws(Errno) {
        guard Self.owns(parent), !Self.owns(newParent), flags & ~linux_RENAME_NOREPLACE == 0 else {
            throw .readOnlyFileSystem
        }
        let parent = try node(parent)
        let target = try container.node(newParent)
        let newName = try container.name(newName, in: target, forChange: true)
        switch try subject(name, of: parent) {
        case .version(let place, .conflicts, let id):
            guard place == Place(directory: target.file, name: newName) else { throw .readOnlyFileSystem }
            if flags & linux_RENAME_NOREPLACE != 0 { throw .fileExists }
            try choose(id, place, in: target, container.requester(caller))
        case .deletion(let id, _):
            guard !target.isForeign else { throw .improperLink }
            try undelete(id, to: Node.Name(parent: target, name: newName), container.requester(caller))
        default: throw .readOnlyFileSystem
        }
    }

    private func subject(_ name: [UInt8], of parent: BrowseNode) throws(Errno) -> BrowseSubject {
        guard let name = FileName(bytes: name), let subject = try child(name, of: parent) else {
            throw .noSuchFileOrDirectory
        }
        return subject
    }

    /// The rows that make a loser history, with its event.
    func resolved(
        _ id: VersionID, of item: ItemID, name: FileName, in directory: Node, _ requester: Requester
    ) throws(Errno) -> [VersionStore.Mutation] {
        guard let version = try query({ store throws(StoreError) in try store.version(id) }), version.kind == .conflict
        else { throw .noSuchFileOrDirectory }
        container.custodian.relabelAsHistory(version)
        return [
            .kind(id, .history),
            .change(container.change(.resolved, in: directory, name, item: item, version: id, by: requester)),
        ]
    }

    // MARK: Choosing

    /// Makes a loser's content the document's: a save by a rename over it, after which the loser is history.
    private func choose(
        _ id: VersionID, _ place: Place, in directory: Node, _ requester: Requester
    ) throws(Errno) {
        guard let item = try item(at: place),
            let loser = try query({ store throws(StoreError) in try store.version(id) }), loser.kind == .conflict,
            loser.item == item.id
        else { throw .noSuchFileOrDirectory }
        let copy = try StagedCopy(of: try VersionContent(loser, in: container), in: store)
        try container.names.writing { (names) throws(Errno) in
            let target = try container.descriptor(of: directory)
            let stat = try Backing.stat(place.name.bytes, in: target.raw)
            guard stat.isRegular else { throw .readOnlyFileSystem }
            try copy.takeAttributes(of: try Backing.hold(place.name.bytes, in: target.raw, stat.key), stat)
            let name = Node.Name(parent: directory, name: place.name)
            let known = container.nodes.node(stat.key)
            let node = known ?? container.intern(stat, as: name, lookups: 0)
            defer { if known == nil { _ = container.nodes.forget(node.id, lookups: 0) } }
            let document = try container.document(of: node, stat, at: place, in: directory)
            let before = document.state.withLock(\.current?.id)
            // The caller's choice shows that it has seen both sides: this save is not made from stale content.
            if let before {
                container.observers.saved(before, of: item.id, by: requester.actor, now: container.now)
            }
            let entry = LiveContainer.Entry(
                parent: directory, name: place.name, directory: target, stat: stat, node: node)
            _ = try container.moveOver(
                names, try copy.move(to: name, in: target), entry, requester)
            copy.wasMoved()
            var rows = try resolved(id, of: item.id, name: place.name, in: directory, requester)
            document.state.withLock { state in
                guard var current = state.current, current.id != before, !current.parents.contains(id) else { return }
                current.parents.append(id)
                state.current = current
                rows.insert(.version(current), at: 0)
                container.record(directory, rows)
                rows = []
            }
            container.record(directory, rows)
        }
    }
}
