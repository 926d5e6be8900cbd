// A loser of a conflict becomes its document's content.

import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The rows that make a loser history, with its event.
    func resolved(
        _ id: VersionID, of item: ItemID, name: FileName, in directory: Node, _ requester: Requester
    ) throws(Errno) -> [VersionStore.Mutation] {
        guard let version = try loser(id) else { throw .noSuchFileOrDirectory }
        custodian.relabelAsHistory(version)
        return [
            .kind(id, .history),
            .change(change(.resolved, in: directory, name, item: item, version: id, by: requester)),
        ]
    }

    private func loser(_ id: VersionID) throws(Errno) -> Version? {
        let version = try store(throwing: .ioError) { () throws(StoreError) in try store.version(id) }
        return version?.kind == .conflict ? version : nil
    }

    // MARK: Choosing

    /// Makes a loser's content the document's: a save by a rename over it, after which the loser is history.
    func choose(_ id: VersionID, at name: Node.Name, _ requester: Requester) throws(Errno) {
        let directory = name.parent
        let place = Place(directory: directory.file, name: name.name)
        guard let item = try store(throwing: .ioError, { () throws(StoreError) in try store.item(at: place) }),
            let loser = try loser(id), loser.item == item.id
        else { throw .noSuchFileOrDirectory }
        let copy = try StagedCopy(of: try VersionContent(loser, in: self), in: store.base)
        try names.writing { (names) throws(Errno) in
            let target = try descriptor(of: directory)
            let stat = try Backing.stat(place.name.bytes, in: target.raw)
            guard stat.isRegular else { throw .readOnlyFileSystem }
            try copy.takeAttributes(of: try Backing.hold(place.name.bytes, in: target.raw, stat.key), stat)
            let known = nodes.node(stat.key)
            let node = known ?? intern(stat, as: name, lookups: 0)
            defer { if known == nil { _ = nodes.forget(node.id, lookups: 0) } }
            let document = try document(of: node, stat, at: place, in: directory)
            let before = document.state.withLock(\.current?.id)
            // The caller's choice shows that it has seen both sides: this save is not made from stale content.
            if let before {
                observers.saved(before, of: item.id, by: requester.actor, now: now)
            }
            let entry = LiveContainer.Entry(
                parent: directory, name: place.name, directory: target, stat: stat, node: node)
            _ = try moveOver(
                names, try copy.move(to: name, in: target), entry, requester)
            copy.wasMoved()
            var rows = try resolved(id, of: item.id, name: place.name, in: directory, requester)
            document.state.withLock { state in
                guard var current = state.current, current.id != before, !current.parents.contains(id) else { return }
                current.parents.append(id)
                state.current = current
                rows.insert(.version(current), at: 0)
                record(directory, rows)
                rows = []
            }
            record(directory, rows)
        }
    }
}
