// Making names: directories, symlinks, special files, hard links.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    public func makeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t) throws(Errno) -> Found {
        try make(caller, parent: parent, name: name, mode: mode) { directory, name throws(Errno) in
            try Backing.makeDirectory(name, in: directory, mode: mode & 0o7777)
        }
    }

    public func makeSymlink(_ caller: Caller, parent: UInt64, name: [UInt8], target: [UInt8]) throws(Errno) -> Found {
        try make(caller, parent: parent, name: name, mode: nil) { directory, name throws(Errno) in
            try Backing.makeSymlink(name, in: directory, target: target)
        }
    }

    public func makeNode(
        _ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, device: dev_t
    ) throws(Errno) -> Found {
        try make(caller, parent: parent, name: name, mode: mode) { directory, name throws(Errno) in
            try Backing.makeNode(name, in: directory, mode: mode, device: device)
        }
    }

    private func make(
        _ caller: Caller, parent: UInt64, name bytes: [UInt8], mode: mode_t?,
        _ body: (Int32, [UInt8]) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        let parent = try node(parent)
        let name = try name(bytes, in: parent, forChange: true)
        learn(caller)
        return try space.retryingWhenFull(mayWait: true) { () throws(Errno) in
            try make(caller, parent, name, mode, body)
        }
    }

    private func make(
        _ caller: Caller, _ parent: Node, _ name: FileName, _ mode: mode_t?,
        _ body: (Int32, [UInt8]) throws(Errno) -> Void
    ) throws(Errno) -> Found {
        try names.writing { (_) throws(Errno) in
            let directory = try descriptor(of: parent)
            try caller.making { () throws(Errno) in try body(directory.raw, name.bytes) }
            let stat = try adopt(name, in: directory, for: caller, mode: mode)
            let found = found(stat, as: Node.Name(parent: parent, name: name))
            report([taking(name, in: parent)], by: caller)
            if !parent.isForeign {
                let place = Place(directory: parent.file, name: name)
                _ = tombstones.take(at: place, now: now) { _ in false }
                let requester = requester(caller)
                if stat.isDirectory { hear(.directoryMade(place, fileID(stat), requester)) }
                // A lock, or a directory to save in, that a program makes for itself.
                record(parent, createdOther(name, in: parent, requester))
            }
            return found
        }
    }

    private func createdOther(_ name: FileName, in parent: Node, _ requester: Requester) -> [VersionStore.Mutation] {
        observers.isEphemeral(name, requester) ? [] : [.change(change(.created, in: parent, name, by: requester))]
    }

    public func link(_ caller: Caller, node id: UInt64, parent: UInt64, name bytes: [UInt8]) throws(Errno) -> Found {
        let source = try node(id)
        let parent = try node(parent)
        let name = try name(bytes, in: parent, forChange: true)
        learn(caller)
        return try names.writing { (names) throws(Errno) in
            let directory = try descriptor(of: parent)
            let document = source.isRegular ? knownDocument(of: source) : nil
            let oldName = nodes.location(source).name
            if let oldName { try requireSameContainer(oldName.parent, parent) }
            var isNameless = false
            if case .gone = nodes.location(source).whereabouts { isNameless = true }
            try preservingStamp(of: document, source) { () throws(Errno) in
                try withOwn(source) { file throws(Errno) in
                    try Backing.link(file, to: name.bytes, in: directory.raw)
                }
            }
            let stat = try Backing.stat(name.bytes, in: directory.raw)
            nodes.addName(names, Node.Name(parent: parent, name: name), to: source)
            noteIgnoreFile(name, in: parent)
            report([taking(name, in: parent)], by: caller)
            let found = found(stat, as: Node.Name(parent: parent, name: name))
            let new = Place(directory: parent.file, name: name)
            if !parent.isForeign, source.isRegular {
                _ = tombstones.take(at: new, now: now) { _ in false }
                let document = isNameless ? newDocument(of: source, at: new) : try self.document(of: source, stat)
                try store(throwing: Errno.ioError) { () throws(StoreError) in
                    try documents.insert(names, document, at: new)
                }
                let requester = requester(caller)
                document.state.withLock { state in
                    if !isNameless, !state.places.contains(new) { state.places.append(new) }
                    record(parent, linkedRows(&state, oldName, name, in: parent, stat, by: requester))
                }
                hear(.linked(source.file, to: new, requester))
            } else if !parent.isForeign {
                _ = tombstones.take(at: new, now: now) { _ in false }
                record(parent, createdOther(name, in: parent, requester(caller)))
            }
            return found
        }
    }

    /// The rows of a document that has got a further name.
    private func linkedRows(
        _ state: inout Document.State, _ oldName: Node.Name?, _ name: FileName, in parent: Node, _ stat: FileStat,
        by requester: Requester
    ) -> [VersionStore.Mutation] {
        state.linked = requester.actor.map { ($0.ref, now) }
        let isPublished = state.isUnannounced && !observers.isEphemeral(name, requester)
        // A generated name stays unreported if the second name is generated, too.
        if state.isUnannounced, !isPublished { return itemRows(state, stat) }
        // Each name is reported, the older one first; a later save is reported under one of them. A generated name is
        // not reported if its own program links it.
        if isPublished, state.maker.map({ !observers.isMaker($0, requester, now: now) }) ?? true {
            state.created = state.created ?? state.beginning
        }
        let older = oldName.map { announcement(&state, in: $0.parent, $0.name, by: requester) } ?? []
        let event = VersionStore.Mutation.change(change(.created, in: parent, name, by: requester))
        guard isPublished else { return older + [event] + itemRows(state, stat) }
        defer { state.maker = nil }
        return older + [event] + publication(&state, in: parent, name, stat, by: requester)
    }

    /// The document of a file that was made without a name (O_TMPFILE) and has got one: its first version is the one
    /// that its writer closes.
    private func newDocument(of node: Node, at place: Place) -> Document {
        var state = Document.State(item: .random(), places: [place])
        state.isVerified = true
        return Document(state)
    }
}
