// The versions of captured databases (docs/decisions/0013).

import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer: DatabaseSaver {
    func isChanged(_ database: FoundDatabase, of node: Node) throws(Errno) -> Bool? {
        try documents.withLive(of: node) { (state, _, _) throws(Errno) -> Bool? in
            state.isUnversioned ? nil : state.differs(from: database.stat)
        } ?? nil
    }

    func save(
        _ database: FoundDatabase, _ image: DatabaseImage?, of node: Node, by requester: Requester
    ) throws(Errno) -> Bool {
        let isDone = try documents.withLive(of: node) { (state, _, name) throws(Errno) in
            guard try databases.look(at: name).isSame(as: database) else { return false }
            try save(database, image, &state, node, requester)
            return true
        }
        return isDone ?? true
    }

    /// Saves a database as a version, under its document's lock.
    func save(
        _ database: FoundDatabase, _ image: DatabaseImage?, _ state: inout Document.State, _ node: Node,
        _ requester: Requester
    ) throws(Errno) {
        let name = database.name
        var pending = PendingSave(kind: .appendOrInPlace, requester: requester, isSealed: true)
        if let image {
            // The file may change, or differs from the state: the version's content is kept at once. The file may still
            // hold the preceding version, while the log grows; or that one was an image, too.
            if let current = state.current, store.contents.contains(current.content) { state.isKept = true }
            if !state.contentDiffers(from: database.stat) { try keepCopy(&state, of: node, from: database.file.raw) }
            let before = state.current?.id
            state.stamp = nil
            pending.known = image.hash.map { (image.stat.size, image.stat.modified, $0) }
            try save(
                &state, node, in: name.parent, name.name, file: image.staged.file.raw, pending, stat: image.stat)
            if state.current?.id != before {
                do throws(Errno) { try keep(image.staged, &state, node) } catch {
                    // The file has other content: the next look makes another version.
                    state.current?.flags.insert(.contentLost)
                    if let current = state.current { store.commit([.version(current)]) }
                    state.isKept = true
                    throw error
                }
            }
            state.stamp = Stamp(database.stat)
            record(name.parent, itemRows(state, database.stat))
        } else {
            try save(
                &state, node, in: name.parent, name.name, file: database.file.raw, pending, stat: database.stat)
        }
    }

    /// Makes the image the kept content of the current version.
    private func keep(_ image: StagedFile, _ state: inout Document.State, _ node: Node) throws(Errno) {
        guard !state.isKept, let current = state.current, let name = FileName(bytes: image.name) else { return }
        let label = custodian.label(of: current, state, node)
        try space.retryingWhenFull(isRecord: true) { () throws(Errno) in
            try custodian.keep(moving: name, in: image.directory, as: current.content, label)
        }
        state.isKept = true
    }

    var deletedDatabases: DeletedDatabases {
        DeletedDatabases(
            store: store, custodian: custodian, names: names, nodes: nodes, passthrough: serving.passthrough,
            identity: identity, space: space, logger: logger)
    }

    /// Whether a current version differs from the document's file: a database with the commits of its log.
    public func isKeptBeside(_ version: Version, of document: DocumentRecord) -> Bool {
        guard version.kind == .current, let object = try? store.contents.open(version.content) else { return false }
        let kept = SharedDescriptor(object.rawValue)
        if let deletion = document.deletion {
            return withExtendedLifetime(kept) { DatabaseRule.isDatabase(deletion.place.name, file: kept.raw) }
        }
        return Finder(self).isBesideLog(version, document)
    }
}
