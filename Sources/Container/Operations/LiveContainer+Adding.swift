// Adding a version that a program brings: what a file holds becomes history of a document, though it never was in it.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Keeps the content of a file of the container as a version of a document. The document stays as it is; the new
    /// version counts as superseded by the current one.
    ///
    /// - Parameter source: a regular file that the caller may read, perhaps the document itself.
    public func addVersion(
        from source: TreePath, to document: DocumentRecord, as principal: Principal
    ) throws(OperationError) -> Version {
        try operation {
            guard document.deletion == nil, document.current != nil else {
                throw OperationError(.notFound, "no saved document", path: document.path)
            }
            let staged = try stage(source, as: principal)
            let requester = requester(principal)
            return try changing(as: principal) { walk, _, _ in
                let (spot, node, stat) = try walk.document(document.path)
                try walk.require(.write, on: spot)
                return try self.document(of: node, stat, at: spot.place, in: spot.parent).state.withLock { state in
                    guard state.item == document.item else { throw OperationError.savedMeanwhile(document.path) }
                    return try add(staged, &state, spot, node, stat, requester)
                }
            }
        }
    }

    /// A copy of a file, as it is now, with its time.
    private func stage(_ source: TreePath, as principal: Principal) throws -> StagedFile {
        let (file, stat) = try looking(as: principal) { walk in
            let spot = try walk.spot(source)
            guard let stat = spot.stat else { throw OperationError.missing(source) }
            guard stat.isRegular else { throw OperationError(.invalid, "not a regular file", path: source) }
            try walk.require(.read, on: spot)
            let file = try spot.open(flags: O_RDONLY)
            let opened = try Backing.stat(file.raw)
            guard opened.isRegular else { throw OperationError(.invalid, "not a regular file", path: source) }
            return (file, opened)
        }
        let staged = try StagedFile(in: store.state)
        try staged.fill(from: OpenContent(descriptor: file, size: stat.size))
        try Backing.check { futimens(staged.file.raw, [stat.modified.timespec, stat.modified.timespec]) }
        return staged
    }

    private func add(
        _ staged: StagedFile, _ state: inout Document.State, _ spot: Spot, _ node: Node, _ stat: FileStat,
        _ requester: Requester
    ) throws -> Version {
        var current = try settledCurrent(&state, spot, node, stat)
        let made = try Backing.stat(staged.file.raw)
        let added = Version(
            id: .random(), item: state.item, kind: .history, content: .random(), size: made.size,
            modified: made.modified, saved: now, time: time.next(), device: store.identity.device,
            author: requester.author,
            parents: current.parents.prefix(1).filter { (try? store.version($0)) != nil },
            hash: made.size <= Self.hashedAtOnce ? ContentHash.sha256(of: staged.file.raw, size: made.size) : nil,
            attributes: current.attributes, flags: [.sealed, .beside])
        let live = try spot.open(flags: O_RDONLY)
        try staged.dress(like: live.raw)
        try custodian.keep(copying: staged.file.raw, as: added.content, custodian.label(of: added, state, node))
        current.parents.append(added.id)
        state.current = current
        state.isRecorded = true
        state.siblings.add(added)
        let event = change(.attributes, in: spot.parent, spot.name, item: state.item, version: added.id, by: requester)
        record(spot.parent, [.version(added), .version(current)] + itemRows(state, stat) + [.change(event)])
        hashLater(added)
        return added
    }
}
