// Checks live files after a crash: interrupted saves are set aside, and no data is dropped (DESIGN 9).

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// One pass over the items that a save may have been about to replace at the daemon's end: those with their current
/// version kept as an object. Its cost depends on the number of kept objects, not of files. After a crash during the
/// pass, the next pass completes it.
struct CrashRecovery {
    /// The state of a live file.
    enum Finding: Equatable {
        /// The recorded version; `false` if it is in another file than recorded, or in one that was touched since.
        case current(isSameFile: Bool)
        /// A complete save that the catalog does not know; with the version in the file's label, if any.
        case saved(Version?)
        /// An interrupted save.
        case unfinished
        /// A program continues to write to it below the mount.
        case beingWritten
        case gone
    }

    let container: LiveContainer
    var store: VersionStore { container.store }
    var custodian: Custodian { container.custodian }

    init(_ container: LiveContainer) { self.container = container }

    func run() throws(StoreError) {
        var counts: [String: Int] = [:]
        let recent = try store.recentVersions()
        let unkept = recent.filter { $0.kind == .current && !store.contents.contains($0.content) }
        for item in try store.keptCurrents() {
            if let word = attempt(item, settle) { counts[word, default: 0] += 1 }
        }
        // Shared content is left to the other item, which may have an older content or another file by the second look.
        for _ in 0..<2 {
            for version in unkept {
                guard let item = try store.item(version.item), item.current == version.id, !item.isReturning else {
                    continue
                }
                // Another item may just have kept it.
                let isKept = store.contents.contains(version.content)
                if let word = attempt(item, isKept ? settle : settleRecent) { counts[word, default: 0] += 1 }
            }
            if counts.isEmpty { break }
        }
        // Only now: marked versions get the length and hash of their available part, and lose the values that files are
        // compared with. And the shared content of a restored file is not available any more.
        let lost = try custodian.settle(recent)
        if lost > 0 { counts["contents not arrived"] = lost }
        store.settled()
        guard !counts.isEmpty else { return }
        container.logger.notice("put live files in order after a crash", metadata: ["files": "\(counts)"])
    }

    /// An item that cannot be checked must not keep the others from their check, nor the container from its users.
    private func attempt(_ item: Item, _ settle: (Item, Version, Live) throws -> String?) -> String? {
        do {
            guard let current = try store.version(item.current), let place = item.places.first,
                let live = try live(at: place)
            else { return nil }
            return try undoOverwriting(item, current, live) ?? settle(item, current, live)
        } catch {
            container.logger.error(
                "a file was not put in order after a crash: \(error)", metadata: ["item": "\(item.id)"])
            return nil
        }
    }

    /// - Returns: the action as a word; nil if none was needed.
    func settle(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        if isObject(current.content, live) { return try settleLinked(item, current, live) }
        let isHere = store.contents.contains(current.content)
        let isWhole = try custodian.keepWhole(current, path: live.path, place: live.place)
        guard isHere || isWhole || item.isReturning || hasAnotherFile(item, live) else { return nil }
        switch try judge(item, current, live) {
        case .current(let isSameFile):
            // A copy that has not reached the disk was made before any change of the file.
            if !isWhole, isHere { try custodian.remove(current.content) }
            if !isSameFile { try recordFile(of: item, current, live) }
            return isWhole ? nil : "copy not arrived"
        case .gone: return nil
        case .beingWritten: return "being written"
        case .saved(let version):
            if version == nil, !isWhole, try goBack(item, current, live) { return "not arrived" }
            if !isWhole { store.commit([.version(try custodian.cutShort(current))]) }
            adopt(version, item, current, live)
            return "saved"
        case .unfinished:
            guard !isWhole else {
                try setAside(item, current, live)
                return "unfinished"
            }
            if try goBack(item, current, live) { return "not arrived" }
            if let beginning = try beginning(of: current, item, live) {
                // The copy has not arrived, so the file has had only appends.
                if isHere { try custodian.remove(current.content) }
                return try settleAppended(item, current, beginning, live)
            }
            var lost = try custodian.cutShort(current)
            if lost.flags.isDisjoint(with: [.unfinished, .contentLost]) {
                // Later appends to the synchronized state have not arrived.
                store.commit([.version(lost)])
                try setAside(item, lost, live)
                return "older"
            }
            lost.kind = .history
            guard let former = try wholeVersion(of: item, before: current, live) else {
                adopt(nil, item, lost, live, flags: .unfinished)
                store.commit([.version(lost)])
                return "saved"
            }
            try setAside(item, former, live, [.version(lost)])
            return "older"
        }
    }

    /// A file that was to be replaced was linked to the objects, and the end came before the rename. It is still the
    /// live file, and a write to it must not change an object.
    private func settleLinked(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        try custodian.remove(current.content)
        var live = live
        live.stat = try Backing.stat(live.file.raw)
        guard case .current(let isSameFile) = try judge(item, current, live) else {
            return try settleRecent(item, current, live)
        }
        if !isSameFile { try recordFile(of: item, current, live) }
        return nil
    }

    /// An item's file is the live one as it is. A mark of a save that did not come would be taken for one of the next.
    private func recordFile(of item: Item, _ current: Version, _ live: Live) throws(Errno) {
        SaveMark.remove(from: live.file.raw)
        let now = try Backing.stat(live.file.raw)
        // The bytes of a program that outlived the daemon, if it has written since the look, are not judged yet.
        let stat = now.size == live.stat.size && now.modified == live.stat.modified ? now : live.stat
        store.commit([.item(item.now(current, stat, container.fileID(stat)))])
    }

    /// Whether a live file is an object, too.
    private func isObject(_ content: ContentID, _ live: Live) -> Bool {
        guard live.stat.links > 1 else { return false }
        let object = store.contents.place(of: content)
        return (try? Backing.stat(Array(object.name.utf8), in: object.directory.rawValue))?.key == live.stat.key
    }

    /// The newest earlier version whose content is complete, or complete as of a synchronization.
    func wholeVersion(of item: Item, before current: Version, _ live: Live) throws -> Version? {
        for version in try store.versions(of: item.id) where version.time < current.time && version.kind == .history {
            guard version.flags.isDisjoint(with: [.unfinished, .contentLost, .beside]) else { continue }
            if try custodian.keepWhole(version, path: live.path, place: live.place) { return version }
            guard let synchronized = try custodian.cutToSynchronized(version) else { continue }
            store.commit([.version(synchronized)])
            return synchronized
        }
        return nil
    }

    // MARK: Files

    /// A live file with its directory.
    struct Live {
        var place: Place
        var path: TreePath
        var directory: SharedDescriptor
        var file: SharedDescriptor
        var stat: FileStat
    }

    /// Opens an item's file without following a symlink; nil if it is gone.
    private func live(at place: Place) throws -> Live? {
        guard let path = try store.path(of: place.directory) else { return nil }
        // A path that cannot be opened has changed: no save of this item ended here.
        guard let directory = try? descend(path), let parent = try? Backing.stat(directory.raw),
            container.fileID(parent) == place.directory,
            let found = try? Backing.stat(place.name.bytes, in: directory.raw), found.isRegular,
            let descriptor = try? Backing.open(
                place.name.bytes, in: directory.raw, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        else { return nil }
        let file = SharedDescriptor(descriptor)
        let stat = try Backing.stat(file.raw)
        return Live(place: place, path: path.appending(place.name), directory: directory, file: file, stat: stat)
    }

    private func descend(_ path: TreePath) throws(Errno) -> SharedDescriptor {
        var directory = container.root
        for name in path.names {
            let flags = linux_O_PATH | O_DIRECTORY | O_NOFOLLOW
            directory = SharedDescriptor(try Backing.open(name.bytes, in: directory.raw, flags: flags))
        }
        return directory
    }

    private func judge(_ item: Item, _ current: Version, _ live: Live) throws -> Finding {
        let id = container.fileID(live.stat)
        if live.stat.size == current.size, live.stat.modified == current.modified, isHashed(current, live) {
            return .current(isSameFile: id == item.file.id)
        }
        let labels = store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version)
        // A file that was truncated or overwritten since differs from the synchronized state, which was kept before.
        // The label may be of the current version itself, amended after the catalog's end: it is an object only
        // because another item has the same content, and recovery has just kept that.
        let own = labels.first { $0.item == item.id && $0.time > current.time && holds(live, $0) }
        if let own { return .saved(own) }
        // A file that equals the current version is no save, and is not set aside, though its time differs.
        if live.stat.size == current.size, isProven(current, live) {
            return .current(isSameFile: false)
        }
        // The label of another item is from its synchronization under a former name: it shows that the file is
        // complete.
        let isComplete = labels.contains { label in
            label.item != item.id && live.stat.size == label.size && live.stat.modified == label.modified
                && isHashed(label, live)
        }
        if isComplete { return .saved(nil) }
        if let mark = SaveMark(of: live.file.raw) {
            if mark.isNewer(than: current), mark.isWhole(live.file.raw, size: live.stat.size) { return .saved(nil) }
        } else if live.stat.size > 0 || !item.isReturning, try isAnotherFile(item, current, live) {
            // A file that takes a name back is created empty, a moment before its mark.
            return .saved(nil)
        }
        if isBeingWritten(live) { return .beingWritten }
        return isDatabase(live) ? .saved(nil) : .unfinished
    }

    /// Whether a live file is a complete save, according to its label: a synchronized state, possibly with appends. Or
    /// a file that was about to be displaced, labeled as the future object, if neither the object's name nor the rename
    /// has arrived. That one need not have been synchronized, so all of it must be here.
    private func holds(_ live: Live, _ label: Version) -> Bool {
        guard live.stat.size >= label.size, isHashed(label, live) else { return false }
        if label.kind == .current { return true }
        return label.kind == .history && label.flags.isDisjoint(with: [.unfinished, .beside, .contentLost])
            && live.stat.size == label.size && live.stat.modified == label.modified
            && (label.hash != nil && label.size <= LiveContainer.hashedAtOnce
                || SaveMark.isWithoutHoles(live.file.raw, size: label.size))
    }

    /// A closed file may still be on its way to its last close. A daemon without root's rights does not see all
    /// processes.
    func isBeingWritten(_ live: Live) -> Bool {
        let mayBe = geteuid() != 0 || container.survivors.mayInclude(container.fileID(live.stat), live.stat.key)
        return mayBe && WritableMappings.exist(on: live.file.raw)
    }

    /// Whether a file begins with a version, as far as its hash is known.
    func isHashed(_ version: Version, _ live: Live) -> Bool {
        guard let hash = version.hash, version.size <= LiveContainer.hashedAtOnce else { return true }
        return ContentHash.sha256(of: live.file.raw, size: version.size) == hash
    }

    /// Whether the name has another file than in the catalog. The mark of a file that was renamed over it decides about
    /// that file.
    func hasAnotherFile(_ item: Item, _ live: Live) -> Bool {
        item.file.id != FileID(0) && container.fileID(live.stat) != item.file.id
    }

    /// Whether the live file took the name from the file with the current version, instead of being written in place.
    /// If the catalog does not know that file: a file from before the copy is older than the copy.
    private func isAnotherFile(_ item: Item, _ current: Version, _ live: Live) throws -> Bool {
        if item.isReturning { return true }
        if item.file.id != FileID(0) { return hasAnotherFile(item, live) }
        let object = store.contents.place(of: current.content)
        let kept = try Backing.stat(path: object.name, in: object.directory.rawValue)
        return live.stat.born >= kept.born
    }

    /// A database has its own recovery, with its journals beside it: an older file would not match them.
    func isDatabase(_ live: Live) -> Bool {
        var header = [UInt8](repeating: 0, count: DatabaseRule.headerLength)
        let count = pread(live.file.raw, &header, header.count, 0)
        return DatabaseRule.isDatabase(live.place.name, header: Array(header.prefix(max(0, count))))
    }

    // MARK: Actions

    /// Makes the live file a separate version, the current one, or an amendment of the current one.
    func adopt(_ label: Version?, _ item: Item, _ former: Version, _ live: Live, flags: Version.Flags = []) {
        var version = label ?? unrecorded(of: item, after: former, live, flags: .sealed)
        if version.size != live.stat.size || version.modified != live.stat.modified {
            // Written to after its synchronization.
            version.size = live.stat.size
            version.modified = live.stat.modified
            version.hash = nil
        }
        version.kind = .current
        version.flags.formUnion(flags.union(.sealed))
        var event = Change(
            event: .saved, path: live.path, item: item.id, version: version.id, time: container.now,
            author: version.author, directory: live.place.directory)
        let isAmended = version.id == former.id
        // A restoration of an earlier moment cuts it to its former length.
        if isAmended { event.detail.amended = isProven(former, live) ? former.size : .max }
        let superseded: [VersionStore.Mutation] = isAmended ? [] : [.kind(former.id, .history)]
        store.commit(
            superseded + [
                .version(version), .item(item.now(version, live.stat, container.fileID(live.stat))), .change(event),
            ])
    }

    /// Makes the live file history, marked `unfinished`, and gives its name to a copy of the current version. In this
    /// order, so that a crash in between leaves both.
    private func setAside(
        _ item: Item, _ current: Version, _ live: Live, _ others: [VersionStore.Mutation] = []
    ) throws {
        try replace(live, of: item, by: current, torn: try kept(item, current, live), others)
    }

    /// Gives the name of a live file, kept as unfinished, to a copy of a kept version.
    /// - Parameter others: rows for the same transaction, so that no crash and no error leaves two current versions.
    func replace(
        _ live: Live, of item: Item, by current: Version, torn: Version, _ others: [VersionStore.Mutation] = []
    ) throws {
        let (name, directory) = (live.place.name, FileDescriptor(rawValue: live.directory.raw))
        // A link to the objects by an earlier pass is no name of the file.
        if live.stat.links > 1, !isObject(torn.content, live) {
            let held = try Backing.hold(name.bytes, in: live.directory.raw, live.stat.key)
            let file = try withExtendedLifetime(held) { () throws(Errno) in
                SharedDescriptor(try Backing.open([], in: held.raw, flags: O_RDWR))
            }
            try store.contents.restore(current, into: FileDescriptor(rawValue: file.raw))
        } else {
            try store.contents.restore(current, over: name, in: directory)
        }
        let stat = try Backing.stat(name.bytes, in: live.directory.raw)
        store.commit(
            others + [
                .version(torn), .kind(current.id, .current), .item(item.now(current, stat, container.fileID(stat))),
            ])
        container.logger.warning(
            "a save was cut short: the version before it is current again, and it is in the history",
            metadata: ["file": "\(live.path)", "version": "\(torn.id)"])
    }

    /// Keeps the live file's content as an unfinished version, unless an earlier pass did.
    /// - Parameter mayLink: whether the file itself may become the kept content.
    func kept(_ item: Item, _ current: Version, _ live: Live, mayLink: Bool = true) throws -> Version {
        let file = FileDescriptor(rawValue: live.file.raw)
        if let label = store.contents.labels(live: file).map(\.version).first,
            label.item == item.id, label.flags.contains(.unfinished), store.contents.contains(label.content)
        {
            return label
        }
        let version = unrecorded(of: item, after: current, live, flags: [.sealed, .unfinished])
        let label = ContentStore.Label(version: version, path: live.path, place: live.place)
        SaveMark.remove(from: live.file.raw)
        if mayLink, live.stat.links == 1, try link(live, as: version.content, label) { return version }
        try custodian.keep(copying: file.rawValue, as: version.content, label)
        return version
    }

    /// - Returns: false on a file system without links.
    func link(_ live: Live, as content: ContentID, _ label: ContentStore.Label) throws(Errno) -> Bool {
        do throws(Errno) {
            try custodian.keep(linking: live.place.name, in: live.directory, as: content, label)
            return true
        } catch {
            if error == .notPermitted { return false }
            throw error
        }
    }

    /// A live file's content as a version without a record yet.
    private func unrecorded(of item: Item, after former: Version, _ live: Live, flags: Version.Flags) -> Version {
        let isSmall = live.stat.size <= LiveContainer.hashedAtOnce
        return Version(
            id: .random(), item: item.id, kind: .history, content: .random(), size: live.stat.size,
            modified: live.stat.modified, saved: container.now, time: container.time.next(),
            device: store.identity.device,
            author: container.callers.owner(of: live.stat), parents: [former.id],
            hash: isSmall ? ContentHash.sha256(of: live.file.raw, size: live.stat.size) : nil,
            attributes: Attributes(live.stat), flags: flags)
    }
}

extension Item {
    /// The same item with its present live file and current version.
    func now(_ current: Version, _ stat: FileStat, _ file: FileID) -> Item {
        Item(
            id: id, places: places, current: current.id,
            file: LiveFile(id: file, size: stat.size, modified: stat.modified, changed: stat.changed))
    }
}
