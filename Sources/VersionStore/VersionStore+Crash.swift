// The store's part in checking a container's live files after a crash, and in the preparation for the next one.

import CLinux
import Glibc
import SystemPackage
import VersionModel

extension VersionStore {
    /// The items whose current version's content is also among the objects, or is elsewhere because their name had just
    /// come back: a save may have been about to replace it.
    public func keptCurrents() throws(StoreError) -> [Item] {
        flush()
        var ids: Set<ContentID> = []
        do throws(Errno) { try contents.forEach { ids.insert($0) } } catch { throw .io(error, "reading objects") }
        return try read { database in
            var items = try Query.returningItems(database)
            for id in try Query.items(currentIn: ids, database) {
                guard let item = try Query.item(id, database), !item.isReturning else { continue }
                items.append(item)
            }
            return items
        }
    }

    /// The versions saved in the last minute before the catalog's last change: they may not have reached the disk.
    public func recentVersions() throws(StoreError) -> [Version] {
        let last = lastChange?.advanced(byNanoseconds: -Self.dirtyNanoseconds)
        return try read { try Query.versions(since: last ?? Timestamp(nanoseconds: .min), $0) }
    }

    public static let dirtyNanoseconds = ContainerState.dirtyNanoseconds

    /// Checks the contents kept just before the end: an incomplete content on the disk is marked unfinished, a missing
    /// one lost.
    /// - Returns: the number of marked versions.
    public func settleContents(of recent: [Version]) throws(StoreError) -> Int {
        do {
            let check = StoreCheck(store: self, repairs: false)
            var ids = Set(recent.map(\.id))
            ids.formUnion(recent.flatMap(\.parents))
            // A rename over a document leaves an item behind whose last content is the document's too.
            for version in recent { ids.formUnion(try versions(sharing: version.content).map(\.id)) }
            var count = 0
            for id in ids.sorted() {
                guard let version = try version(id), version.kind != .current, !version.flags.contains(.contentLost),
                    try check.problem(version) != nil
                else { continue }
                commit([.version(try cutShort(version))])
                count += 1
            }
            return count
        } catch let error as StoreError { throw error } catch { throw .catalog(code: 1, "\(error)") }
    }

    /// A version, reduced to the available part of its content. Its label changes too: a label with more would restore
    /// the larger version after the next crash.
    public func cutShort(_ version: Version) throws -> Version {
        if let whole = try cutToSynchronized(version) { return whole }
        let rest = try remainder(version)
        if contents.contains(rest.content) { try? contents.relabel(rest) }
        return rest
    }

    /// A kept version in its state at a synchronization before a later append, if that is available: that state is
    /// complete. Its label changes too.
    /// - Returns: nil if there was no synchronization, or the state is gone.
    public func cutToSynchronized(_ version: Version) throws -> Version? {
        guard let whole = try synchronized(version) else { return nil }
        try? contents.relabel(whole)
        return whole
    }

    private func remainder(_ version: Version) throws -> Version {
        var version = version
        guard let file = try StoreCheck(store: self, repairs: false).open(version) else {
            version.flags.insert(.contentLost)
            return version
        }
        defer { System.close(file) }
        let length = UInt64(clamping: try System.status(file).st_size)
        guard length > 0 else {
            version.flags.insert(.contentLost)
            return version
        }
        version.size = min(length, version.size)
        version.hash = version.hash == nil ? nil : try StoreCheck.hash(file, version.size)
        version.flags.formUnion([.sealed, .unfinished])
        return version
    }

    private func synchronized(_ version: Version) throws -> Version? {
        let labels = ((try? contents.labels(of: version.content)) ?? []).map(\.version)
        let check = StoreCheck(store: self, repairs: false)
        for var label in labels where label.id == version.id && label.size < version.size && label.hash != nil {
            guard let file = try check.open(label) else { continue }
            defer { System.close(file) }
            guard UInt64(clamping: try System.status(file).st_size) >= label.size,
                try StoreCheck.hash(file, label.size) == label.hash
            else { continue }
            label.kind = version.kind
            return label
        }
        return nil
    }

    /// Puts a version's content among the objects, copied from the file of another item if necessary.
    /// - Returns: false if no complete copy exists.
    public func keepWhole(_ version: Version, path: TreePath, place: Place) throws -> Bool {
        if isWhole(version) { return true }
        let check = StoreCheck(store: self, repairs: false)
        guard !contents.contains(version.content), try check.problem(version) == nil, let file = try check.open(version)
        else { return false }
        defer { System.close(file) }
        var kept = version
        kept.kind = .history
        _ = try contents.keep(
            copying: file, as: version.content, ContentStore.Label(version: kept, path: path, place: place))
        return true
    }

    /// Makes the saves and deletions of the last minute durable, before the catalog records an orderly end.
    func synchronizeRecent() throws {
        let since = options.clock.now().advanced(byNanoseconds: -Self.dirtyNanoseconds)
        let (versions, deletions) = try read { database in
            (
                try Query.versions(since: since, database),
                try Query.deletions(within: nil, database).prefix { $0.deleted >= since }
            )
        }
        guard versions.count + deletions.count > 0 else { return }
        guard versions.count + deletions.count < Self.manyFiles, !contents.synchronizesOneFile else {
            return _ = linux_synchronize_all(state.rawValue)
        }
        let check = StoreCheck(store: self, repairs: false)
        var parents: [Version] = []
        for id in Set(versions.flatMap(\.parents)) { if let parent = try version(id) { parents.append(parent) } }
        for version in versions + parents {
            guard let file = try check.open(version) else { continue }
            fdatasync(file.rawValue)
            System.close(file)
        }
        for deletion in deletions where deletion.type == .file {
            guard let file = try? deletedArea.open(deletion.id) else { continue }
            fdatasync(file.rawValue)
            System.close(file)
        }
    }

    /// With more files, single searches are not worthwhile.
    private static let manyFiles = 500

    /// Whether a content exists and matches its version, as far as the hash is known.
    public func isWhole(_ version: Version) -> Bool {
        guard let file = try? contents.open(version.content) else { return false }
        defer { System.close(file) }
        guard let status = try? System.status(file), UInt64(clamping: status.st_size) >= version.size else {
            return false
        }
        return (try? version.hash.map { try StoreCheck.hash(file, version.size) == $0 }) ?? true
    }

    /// Another version of the same item whose content is among the objects and has the same bytes, according to its
    /// hash.
    public func equal(to version: Version) throws(StoreError) -> Version? {
        guard version.hash != nil else { return nil }
        return try versions(of: version.item).first { $0.isEqual(to: version) && isWhole($0) }
    }

    /// Notes that the live files are in order again.
    public func settled() {
        flush()
        try? catalog.setMeta(StoreOpening.unsettledKey, [0])
    }
}

extension Version {
    /// Whether another version has the same bytes, according to their records.
    func isEqual(to other: Version) -> Bool {
        id != other.id && hash != nil && hash == other.hash && size == other.size
            && flags.isDisjoint(with: [.contentLost, .unfinished])
    }
}

extension Item {
    /// Whether its name has come back with another file that was not yet saved at the time of this record.
    public var isReturning: Bool {
        !places.isEmpty && file == LiveFile(id: FileID(0), size: 0, modified: Timestamp(nanoseconds: 0))
    }
}

extension ContentStore {
    /// Labels a live file with its version, so that fsync(2) makes both durable together. An earlier synchronized state
    /// that is the file's beginning stays on the label: the power may fail before this state is durable.
    ///
    /// - Returns: false if its file system or mode does not allow a label.
    public func label(live file: FileDescriptor, _ label: Label) -> Bool {
        let before = labels(live: file).first {
            $0.version.content == label.version.content && $0.version.size < label.version.size
        }
        return shelf.attach(LabelCoding.encode([label] + (before.map { [$0] } ?? [])), to: file)
    }

    /// Updates the label of a content with the present record of one of its versions.
    ///
    /// - Throws: the errors of ``labels(of:)``, and of setting the label.
    public func relabel(_ version: Version) throws(Errno) {
        var labels = try labels(of: version.content)
        guard let index = labels.firstIndex(where: { $0.version.id == version.id }) else { return }
        labels[index].version = version
        if version.kind == .current { labels[index].version.kind = .history }
        // Other records of that version are an earlier state, or a later one that was lost.
        labels = labels.enumerated().filter { $0.offset == index || $0.element.version.id != version.id }.map(\.element)
        try relabel(version.content, labels[0], also: Array(labels.dropFirst()))
    }

    /// The labels of a file; none without readable ones.
    public func labels(live file: FileDescriptor) -> [Label] {
        // Most files have none: the first call asks only for the length.
        guard linux_fgetxattr(file.rawValue, LabelCoding.attribute, nil, 0) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = linux_fgetxattr(file.rawValue, LabelCoding.attribute, &buffer, buffer.count)
        guard count > 0 else { return [] }
        return (try? LabelCoding.contents(Array(buffer.prefix(count)))) ?? []
    }

    /// Replaces a file with a copy of a version: content, owner, mode, ACL, attributes and times. The copy is durable
    /// before it takes the name.
    public func restore(_ version: Version, over name: FileName, in directory: FileDescriptor) throws(Errno) {
        let temporary = Shelf.temporaryName()
        let copy = try System.open(temporary, in: shelf.staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { System.close(copy) }
        do throws(Errno) {
            try fill(copy, with: version)
            try System.rename(temporary, in: shelf.staging, to: name.cName, in: directory)
        } catch {
            try? System.unlink(temporary, in: shelf.staging)
            throw error
        }
    }

    /// Writes a version into a file with several names, in place.
    public func restore(_ version: Version, into file: FileDescriptor) throws(Errno) {
        try System.call { ftruncate(file.rawValue, 0) }
        try fill(file, with: version)
    }

    /// A version is the first bytes of its content.
    private func fill(_ file: FileDescriptor, with version: Version) throws(Errno) {
        let content = try open(version.content)
        defer { System.close(content) }
        _ = try FileCopy.copy(content, to: file, reflink: canReflink)
        let size = off_t(clamping: version.size)
        if try System.status(file).st_size > size { try System.call { ftruncate(file.rawValue, size) } }
        let time = timespec(
            tv_sec: Int(version.modified.nanoseconds / 1_000_000_000),
            tv_nsec: Int(version.modified.nanoseconds % 1_000_000_000))
        if version.modified.nanoseconds >= 0 { try System.call { futimens(file.rawValue, [time, time]) } }
        try synchronizing { () throws(Errno) in _ = try System.call { fsync(file.rawValue) } }
    }
}
