// Creating files: under a new name, under a name that comes back, or without a name.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Creates and opens a file, or opens it if the name has appeared meanwhile and O_EXCL is not asked for.
    public func create(
        _ caller: Caller, parent: UInt64, name bytes: [UInt8], mode: mode_t, flags: Int32
    ) throws(Errno) -> Creation {
        let parent = try node(parent)
        let name = try name(bytes, in: parent, forChange: true)
        // Which program it is decides only about names that programs make up for themselves.
        let mayBeEphemeral = TemporaryNames.mayBeEphemeral(name)
            || nodes.location(parent).name.map { TemporaryNames.mayBeEphemeral($0.name) } ?? false
        let requester = requester(caller, isOpening: !mayBeEphemeral)
        // Made room for, if need be, without the lock.
        let made = try space.retryingWhenFull(mayWait: true) { () throws(Errno) in
            try makeFile(caller, parent, name, mode, flags, requester, mayBeEphemeral)
        }
        guard let (made, file) = made else {
            // An open may wait for the maker of the file, a creation may not: the kernel looks the name up again.
            guard serving.hasLookedAgain(caller) else { throw Errno(rawValue: ESTALE) }
            guard let found = try lookup(caller, parent: parent.id, name: bytes) else { throw .noSuchFileOrDirectory }
            guard let reply = try open(caller, node: found.node, flags: flags & ~(O_CREAT | O_EXCL)) else {
                throw .resourceTemporarilyUnavailable
            }
            return Creation(found: found, reply: reply)
        }
        serving.hasOpened(caller)
        let isMediated = space.trimming.isNearlyFull || mode & S_ISUID != 0 || mode & S_ISGID != 0
        let reply = serve(writer: file, isMediated: isMediated)
        if !file.node.isForeign, !isLive(file.node) { adoptWriter(of: file.node, hasChanged: true) }
        var found = made
        // The kernel does not know the file yet, so it cannot be told later.
        if file.mayBeMapped { found.attributes.valid = Validity.none }
        return Creation(found: found, reply: reply)
    }

    /// The file of a creation; nil if the name is taken and that does not matter.
    private func makeFile(
        _ caller: Caller, _ parent: Node, _ name: FileName, _ mode: mode_t, _ flags: Int32, _ requester: Requester,
        _ mayBeEphemeral: Bool
    ) throws(Errno) -> (Found, OpenFile)? {
        try names.writing { (names) throws(Errno) in
            let directory = try descriptor(of: parent)
            let kept = flags & (O_SYNC | O_DSYNC | O_NONBLOCK) | quietly
            let file: SharedDescriptor
            do throws(Errno) {
                let made = try caller.making { () throws(Errno) in
                    try Backing.open(
                        name.bytes, in: directory.raw, flags: kept | O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
                        mode: mode & 0o7777)
                }
                file = SharedDescriptor(made)
            } catch {
                guard error == .fileExists, flags & O_EXCL == 0 else { throw error }
                return nil
            }
            do throws(Errno) {
                return try admitNew(
                    names, file, name, parent, directory, caller, mode, flags, requester, mayBeEphemeral)
            } catch {
                // Whatever is asked again finds what it found before.
                try? Backing.unlink(name.bytes, in: directory.raw)
                throw error
            }
        }
    }

    private func admitNew(
        _ names: borrowing NamesHeldAlone,
        _ file: SharedDescriptor, _ name: FileName, _ parent: Node, _ directory: SharedDescriptor, _ caller: Caller,
        _ mode: mode_t, _ flags: Int32, _ requester: Requester, _ mayBeEphemeral: Bool
    ) throws(Errno) -> (Found, OpenFile) {
        let stat = try adopt(name, in: directory, for: caller, mode: mode, file: file)
        let found = found(stat, as: Node.Name(parent: parent, name: name))
        let node = try node(found.node)
        node.mayHaveCapability.store(false, ordering: .releasing)
        if !parent.isForeign, try begin(names, name, in: parent, requester, mayBeEphemeral) {
            SaveMark.created.set(on: file.raw)
        }
        // An open that replaces it waits until it is written, as for a program that has truncated it.
        let isReplacing = flags & O_APPEND == 0
        let sharing = flags & O_ACCMODE == O_RDWR && flags & O_TRUNC == 0
        let claim = isReplacing && !parent.isForeign
            ? serving.arbiter.created(node, requester.actor, sharing: sharing) : nil
        let opened = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: file,
            flags: flags & ~(O_CREAT | O_EXCL | O_TRUNC) | (flags & O_ACCMODE == O_RDONLY ? O_RDWR : 0),
            requester: requester, claim: claim, isReplacing: isReplacing)
        // Before another request can take the name away again.
        node.admit(opened)
        if !parent.isForeign {
            hear(
                .created(
                    Place(directory: parent.file, name: name), node.file, handle: opened.id, flags: flags,
                    isMadeUp: mayBeEphemeral
                        && (observers.isEphemeral(name, requester) || isInEphemeralDirectory(parent, requester)),
                    requester))
        }
        return (found, opened)
    }

    /// Begins a document under a name: a new one, or the one that had this name until just now.
    /// - Returns: whether it is the one from before.
    private func begin(
        _ names: borrowing NamesHeldAlone,
        _ name: FileName, in parent: Node, _ requester: Requester, _ mayBeEphemeral: Bool
    ) throws(Errno) -> Bool {
        let place = Place(directory: parent.file, name: name)
        noteCreated(name, in: parent.file, by: requester)
        if let tombstone = tombstones.take(at: place, now: now, isOpen: isStillOpen) {
            let isBack: Bool
            do throws(Errno) { isBack = try bringBack(names, tombstone, to: place, in: parent, requester) } catch {
                tombstones.leave(tombstone, at: place)
                throw error
            }
            if isBack {
                tombstone.document.state.withLock { $0.isMarked = true }
                return true
            }
        }
        var state = Document.State(item: .random(), places: [place])
        state.isVerified = true
        state.stamp = nil
        if mayBeEphemeral, observers.isEphemeral(name, requester) || isInEphemeralDirectory(parent, requester) {
            state.maker = observers.maker(requester, now: now)
            state.maker?.hasMade = true
        }
        state.isUnversioned = isIgnored(name, in: parent) || databases.isJournal(name, in: parent, of: requester)
        if !state.isUnversioned, DatabaseRule.database(ofJournal: name) != nil {
            state.isUnversioned = DatabaseRule.isPart(name, in: try descriptor(of: parent))
        }
        if !state.isUnversioned, state.maker == nil { state.created = now }
        let document = Document(state)
        try store(throwing: .ioError) { () throws(StoreError) in try documents.insert(names, document, at: place) }
        return false
    }

    /// Whether a file that lost its name is still being written.
    func isStillOpen(_ tombstone: Tombstone) -> Bool { orphans.hold(tombstone.document) }

    /// TextEdit and others save in a directory of their own beside the document.
    private func isInEphemeralDirectory(_ parent: Node, _ requester: Requester) -> Bool {
        guard let name = nodes.location(parent).name else { return false }
        return observers.isEphemeral(name.name, requester)
    }

    /// O_TMPFILE: a file without a name; it becomes a document when it is linked.
    public func createTemporary(
        _ caller: Caller, parent: UInt64, mode: mode_t, flags: Int32
    ) throws(Errno) -> Creation {
        let parent = try node(parent)
        let directory = try names.reading { () throws(Errno) in try descriptor(of: parent) }
        // As ext4 answers in a directory that has been removed.
        if parent.id != Node.rootID, nodes.location(parent).name == nil { throw .notPermitted }
        let exclusive = flags & O_EXCL
        let made = try caller.making { () throws(Errno) in
            try Backing.open(
                path: ".", in: directory.raw, flags: linux_O_TMPFILE | O_RDWR | exclusive, mode: mode & 0o7777)
        }
        let file = SharedDescriptor(made)
        try tree.adoptNameless(file, in: directory, for: caller)
        let stat = try Backing.stat(file.raw)
        let node = nodes.internNameless(stat.key, file: fileID(stat), type: stat.type, held: file)
        let opened = OpenFile(
            id: serving.files.newHandle(), node: node, descriptor: file,
            flags: flags & ~(O_CREAT | O_EXCL | linux_O_TMPFILE),
            requester: requester(caller), claim: nil)
        node.admit(opened)
        let reply = serve(writer: opened, isMediated: stat.hasSetID)
        let found = Found(node: node.id, attributes: attributes(stat, of: node), nameValid: Validity.none)
        return Creation(found: found, reply: reply)
    }

    /// Notes a new file, or one that is as good as new: it may be the backup of what its maker has just read.
    func noteCreated(_ name: FileName, in directory: FileID, by requester: Requester) {
        guard let places = observers.created(name, in: directory, by: requester), let actor = requester.actor else {
            return
        }
        hear(.readForBackup(places, actor))
    }
}
