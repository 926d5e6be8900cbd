// Background work: versions of files that stay open, and hashes of big files.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// The quiet time of a changed file before it is sealed while it stays open (DESIGN 5.1).
    private static let quietNanoseconds: Int64 = 5_000_000_000
    /// The time between two such seals of one document, and between looks at unchanged files.
    private static let calmNanoseconds: Int64 = 60_000_000_000

    /// Looks at a file that was opened for writing, as long as it stays open.
    func watchWhileOpen(_ file: OpenFile) {
        let isFirst = newlyOpened.withLock { opened in
            opened.append(file.id)
            return opened.count == 1
        }
        // One look for all files opened meanwhile: most are closed by then.
        if isFirst { chores.after(Self.quietNanoseconds) { [weak self] in self?.lookAtNew() } }
    }

    private func lookAtNew() {
        let opened = newlyOpened.withLock { opened in
            defer { opened = [] }
            return opened
        }
        for id in opened {
            guard let file = serving.files[id] else { continue }
            let age = Scheduler.now - file.opened
            // A recently opened file gets its look when its time has come.
            if age >= Self.quietNanoseconds {
                lookAt(file)
            } else {
                lookAgain(at: file, in: Self.quietNanoseconds - age)
            }
        }
    }

    private func lookAt(_ file: OpenFile) {
        guard serving.files[file.id] === file else { return }
        // Writes with passthrough fill the file system unseen.
        _ = space.trimming.isNearlyFull
        lookAgain(at: file, in: sealIfQuiet(file) ?? Self.calmNanoseconds)
    }

    private func lookAgain(at file: OpenFile, in time: Int64) {
        chores.after(time) { [weak self, weak file] in
            guard let self, let file else { return }
            self.lookAt(file)
        }
    }

    /// Makes a version of the changes through an open handle after a quiet time, and keeps a copy, because the handle
    /// may continue at any time.
    /// - Returns: the time until it may be quiet; nil: there is no hurry.
    func sealIfQuiet(_ file: OpenFile) -> Int64? {
        if file.flags & (O_ACCMODE | O_TRUNC) == O_RDWR, let name = nodes.location(file.node).name,
            DatabaseRule.isDatabase(name.name, file: file.descriptor.raw)
        {
            return databases.capture(file.node, file.requester, mayWait: true)
        }
        let again = try? withLiveDocument(of: file.node) { (state, _, name) throws(Errno) -> Int64? in
            record(name.parent, announcement(&state, in: name.parent, name.name, by: file.requester))
            let stat = try Backing.stat(file.descriptor.raw)
            guard state.differs(from: stat) else { return nil }
            let age = now.since(stat.changed)
            guard age >= Self.quietNanoseconds else { return Self.quietNanoseconds - max(0, age) }
            let isReplacing = file.state.withLock(\.isReplacing)
            if stat.size == 0, isReplacing || emptier(of: file.node, besides: file) != nil {
                return Self.quietNanoseconds
            }
            let saved = try save(
                &state, file.node, in: name.parent, name.name, file: file.descriptor.raw,
                PendingSave(
                    kind: isReplacing ? .replacing : .appendOrInPlace, isAppend: file.isAppending && !isReplacing,
                    requester: file.requester, isSealed: true))
            file.state.withLock { $0.saved = saved }
            try keepCopy(&state, of: file.node, from: file.descriptor.raw)
            return nil
        }
        return again ?? nil
    }

    /// Forgets names that did not come back in time.
    func expireTombstones() {
        let isFirst = expiring.withLock { expiring in
            defer { expiring = true }
            return !expiring
        }
        guard isFirst else { return }
        chores.after(Tombstones.lifetimeNanoseconds + 1_000_000_000) { [weak self] in
            guard let self else { return }
            self.expiring.withLock { $0 = false }
            let isEmpty = self.tombstones.expire(now: self.now, isOpen: self.isStillOpen)
            linux_return_memory()
            if !isEmpty { self.expireTombstones() }
        }
    }

    /// Schedules the hash of a version's content.
    func hashLater(_ version: Version) {
        guard version.hash == nil, !version.flags.contains(.contentLost) else { return }
        if pendingHashes.add(version.id) {
            chores.after(Self.quietNanoseconds) { [weak self] in self?.hashPending() }
        }
    }

    /// A version's content according to the catalog; its first `size` bytes are the version's.
    func openContent(of version: Version) throws(Errno) -> SharedDescriptor {
        if let kept = try? store.contents.open(version.content) { return SharedDescriptor(kept.rawValue) }
        let sharing = try store(throwing: .ioError) { () throws(StoreError) in
            try store.versions(sharing: version.content)
        }
        for other in sharing where other.kind == .current {
            // The catalog's paths are relative to the root below the mount.
            if let item = try? store.item(other.item), let path = try? store.path(of: item),
                let file = try? Backing.open(beneath: path.bytes, in: root.raw, flags: O_RDONLY | O_NONBLOCK)
            {
                return SharedDescriptor(file)
            }
            if let file = try? deletedFile(of: other.item) { return file }
        }
        throw .noSuchFileOrDirectory
    }

    private func hashPending() {
        for id in pendingHashes.takeAll() where !pendingHashes.hasEnded { hash(id) }
    }

    /// A file beyond `max-file` (possibly a disk image with many holes) is not read for its hash.
    private func hash(_ id: VersionID) {
        guard let version = try? store.version(id), version.hash == nil, version.size <= settings.maxFile
        else { return }
        let read = pendingHashes.reading({ try? openContent(of: version) }) { file, isWanted in
            guard let digest = ContentHash.sha256(of: file, size: version.size, isWanted: isWanted),
                let stat = try? Backing.stat(file), stat.size >= version.size
            else { return ([UInt8], FileStat)?.none }
            return (digest, stat)
        }
        guard let (digest, stat) = read else { return }
        // The current version's file may have changed during the read: it then has another version's content.
        if version.kind == .current, stat.modified != version.modified { return }
        store.commit([.hash(id, digest)])
    }
}
