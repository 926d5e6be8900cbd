// Puts live files in order after a crash: saves that were cut short are set aside, nothing is dropped (DESIGN 9).

import CLinux
import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

/// One pass over the items that a save may have been about to replace when the daemon ended: those whose current
/// version was kept as an object. Costs what was kept, not what is there. A crash during it is settled by the next
/// pass.
struct CrashRecovery {
    /// What a live file turned out to be.
    enum Finding: Equatable {
        /// The recorded version; `false` if it lies in another file than recorded.
        case current(isSameFile: Bool)
        /// A whole save that the catalog does not know; with the version that the file says it is, if it does.
        case saved(Version?)
        /// Cut short.
        case unfinished
        /// Somebody goes on writing to it beneath the mount.
        case beingWritten
        case gone
    }

    let container: LiveContainer
    var store: VersionStore { container.store }

    init(_ container: LiveContainer) { self.container = container }

    func run() throws(StoreError) {
        var counts: [String: Int] = [:]
        let recent = try store.recentVersions()
        let unkept = recent.filter { $0.kind == .current && !store.contents.contains($0.content) }
        for item in try store.keptCurrents() {
            if let word = attempt(item, settle) { counts[word, default: 0] += 1 }
        }
        // What is another's too is left to that one; that may have an older content, or another file, by the second
        // look.
        for _ in 0..<2 {
            for version in unkept {
                guard let item = try store.item(version.item), item.current == version.id, !item.isReturning else {
                    continue
                }
                // Another item may just have had it kept.
                let isKept = store.contents.contains(version.content)
                if let word = attempt(item, isKept ? settle : settleRecent) { counts[word, default: 0] += 1 }
            }
            if counts.isEmpty { break }
        }
        // Only now: what is marked has the length and hash of what there is of it, and says nothing any more of what it
        // was, which the files are compared with. And what a file that has gone back was shared with is nowhere now.
        let lost = try store.settleContents(of: recent)
        if lost > 0 { counts["contents not arrived"] = lost }
        store.settled()
        guard !counts.isEmpty else { return }
        container.logger.notice("put live files in order after a crash", metadata: ["files": "\(counts)"])
    }

    /// One item that cannot be put in order must not keep the others from it, nor the container from its users.
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

    /// - Returns: what was done, in a word; nil if nothing had to be.
    func settle(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        if isObject(current.content, live) { return try settleLinked(item, current, live) }
        let isHere = store.contents.contains(current.content)
        let isWhole = try store.keepWhole(current, path: live.path, place: live.place)
        guard isHere || isWhole || item.isReturning || hasAnotherFile(item, live) else { return nil }
        switch try judge(item, current, live) {
        case .current(let isSameFile):
            // A copy that has not reached the disk was made before anything was done to the file.
            if !isWhole, isHere { try store.contents.remove(current.content) }
            if !isSameFile { store.commit([.item(item.now(current, live.stat, container.fileID(live.stat)))]) }
            return isWhole ? nil : "copy not arrived"
        case .gone: return nil
        case .beingWritten: return "being written"
        case .saved(let version):
            if version == nil, !isWhole, try goBack(item, current, live) { return "not arrived" }
            if !isWhole { store.commit([.version(try store.cutShort(current))]) }
            adopt(version, item, current, live)
            return "saved"
        case .unfinished:
            guard !isWhole else {
                try setAside(item, current, live)
                return "unfinished"
            }
            if try goBack(item, current, live) { return "not arrived" }
            if let beginning = try beginning(of: current, item, live) {
                // The copy has not arrived, so nothing has happened to the file but what was appended.
                if isHere { try store.contents.remove(current.content) }
                return try settleAppended(item, current, beginning, live)
            }
            var lost = try store.cutShort(current)
            if lost.flags.isDisjoint(with: [.unfinished, .contentLost]) {
                // What was appended to it after it was synchronised has not arrived.
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

    /// A file that was to be replaced was linked to the objects, and the end came before its name was another's. It is
    /// the live file still: what is written to it must not change an object.
    private func settleLinked(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        try store.contents.remove(current.content)
        var live = live
        live.stat = try Backing.stat(live.file.raw)
        guard case .current(let isSameFile) = try judge(item, current, live) else {
            return try settleRecent(item, current, live)
        }
        if !isSameFile { store.commit([.item(item.now(current, live.stat, container.fileID(live.stat)))]) }
        return nil
    }

    /// Whether a live file is an object, too.
    private func isObject(_ content: ContentID, _ live: Live) -> Bool {
        guard live.stat.links > 1 else { return false }
        let object = store.contents.place(of: content)
        return (try? Backing.stat(Array(object.name.utf8), in: object.directory.rawValue))?.key == live.stat.key
    }

    /// The newest version before one whose content is whole, or is what was synchronised of it.
    func wholeVersion(of item: Item, before current: Version, _ live: Live) throws -> Version? {
        for version in try store.versions(of: item.id) where version.time < current.time && version.kind == .history {
            guard version.flags.isDisjoint(with: [.unfinished, .contentLost, .beside]) else { continue }
            if try store.keepWhole(version, path: live.path, place: live.place) { return version }
            guard let synchronised = try store.cutToSynchronised(version) else { continue }
            store.commit([.version(synchronised)])
            return synchronised
        }
        return nil
    }

    // MARK: Finding

    /// A live file with its directory.
    struct Live {
        var place: Place
        var path: TreePath
        var directory: SharedDescriptor
        var file: SharedDescriptor
        var stat: FileStat
    }

    /// Opens an item's file, following no symlink; nil if it is not there any more.
    private func live(at place: Place) throws -> Live? {
        guard let path = try store.path(of: place.directory) else { return nil }
        // What cannot be opened is not there as it was: no save of this item ended here.
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
        for label in store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version) {
            // What was emptied or overwritten since is not what was synchronised: that was kept before. It may be the
            // current version itself, amended after the catalog's end: an object only because another item has the
            // same content, and recovery has just kept that.
            if label.item == item.id, label.time > current.time, holds(live, label) {
                return .saved(label)
            }
            // One of another item was for the name under which it was synchronised before it came here: it says that it
            // is whole.
            if label.item != item.id, live.stat.size == label.size, live.stat.modified == label.modified,
                isHashed(label, live)
            {
                return .saved(nil)
            }
        }
        if let mark = SaveMark(of: live.file.raw) {
            if mark.isNewer(than: current), mark.isWhole(live.file.raw, size: live.stat.size) { return .saved(nil) }
        } else if live.stat.size > 0 || !item.isReturning, try isAnotherFile(item, current, live) {
            // Of those that took a name back, an empty one was made a moment before it would have been marked.
            return .saved(nil)
        }
        if isBeingWritten(live) { return .beingWritten }
        return isDatabase(live) ? .saved(nil) : .unfinished
    }

    /// Whether a live file is a whole save, because of what its label says: what was synchronised, and perhaps appended
    /// to. Or what was about to be displaced, and was labelled as the object that it was to be, if neither the object's
    /// name nor the rename has arrived. That need not have been synchronised: all of it must be here.
    private func holds(_ live: Live, _ label: Version) -> Bool {
        guard live.stat.size >= label.size, isHashed(label, live) else { return false }
        if label.kind == .current { return true }
        return label.kind == .history && label.flags.isDisjoint(with: [.unfinished, .beside, .contentLost])
            && live.stat.size == label.size && live.stat.modified == label.modified
            && (label.hash != nil && label.size <= LiveContainer.hashedAtOnce
                || SaveMark.isWithoutHoles(live.file.raw, size: label.size))
    }

    /// A file that nobody has open any more may still be on its way to being closed; who is not root sees not
    /// everybody.
    func isBeingWritten(_ live: Live) -> Bool {
        let mayBe = geteuid() != 0 || container.survivors.mayInclude(container.fileID(live.stat), live.stat.key)
        return mayBe && WritableMappings.exist(on: live.file.raw)
    }

    /// Whether a file begins with what a version was, as far as its hash is known.
    func isHashed(_ version: Version, _ live: Live) -> Bool {
        guard let hash = version.hash, version.size <= LiveContainer.hashedAtOnce else { return true }
        return ContentHash.sha256(of: live.file.raw, size: version.size) == hash
    }

    /// Whether the name has another file than the catalog says. What was renamed over it is judged by its mark.
    func hasAnotherFile(_ item: Item, _ live: Live) -> Bool {
        item.file.id != FileID(0) && container.fileID(live.stat) != item.file.id
    }

    /// Whether the live file took the name from the one that held the current version, and was not written in place of
    /// it. Where the catalog does not know that one: what was there when the version was kept is older than the copy.
    private func isAnotherFile(_ item: Item, _ current: Version, _ live: Live) throws -> Bool {
        if item.isReturning { return true }
        if item.file.id != FileID(0) { return hasAnotherFile(item, live) }
        let object = store.contents.place(of: current.content)
        let kept = try Backing.stat(path: object.name, in: object.directory.rawValue)
        return live.stat.born >= kept.born
    }

    /// A database has its own ways of coming back, with its journals beside it: an older file would not match them.
    func isDatabase(_ live: Live) -> Bool {
        var header = [UInt8](repeating: 0, count: Databases.headerLength)
        let count = pread(live.file.raw, &header, header.count, 0)
        return Databases.isDatabase(live.place.name, header: Array(header.prefix(max(0, count))))
    }

    // MARK: Settling

    /// The live file is a version of its own, the current one; or what the current one has been amended to.
    func adopt(_ label: Version?, _ item: Item, _ former: Version, _ live: Live, flags: Version.Flags = []) {
        var version = label ?? unrecorded(of: item, after: former, live, flags: .sealed)
        if version.size != live.stat.size || version.modified != live.stat.modified {
            // Written to after it was synchronised.
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
        // Whoever brings back a moment before that cuts it to what it was.
        if isAmended { event.detail.amended = isProven(former, live) ? former.size : .max }
        let superseded: [VersionStore.Mutation] = isAmended ? [] : [.kind(former.id, .history)]
        store.commit(
            superseded + [
                .version(version), .item(item.now(version, live.stat, container.fileID(live.stat))), .change(event),
            ])
    }

    /// The live file becomes history, marked `unfinished`; a copy of the current version takes its name. First the one,
    /// then the other, so that a crash in between finds both.
    private func setAside(
        _ item: Item, _ current: Version, _ live: Live, _ others: [VersionStore.Mutation] = []
    ) throws {
        try replace(live, of: item, by: current, torn: try kept(item, current, live), others)
    }

    /// A copy of a kept version takes the name of a live file that was kept as an unfinished one.
    /// - Parameter others: rows for the same transaction: no crash and no error leaves two versions current.
    func replace(
        _ live: Live, of item: Item, by current: Version, torn: Version, _ others: [VersionStore.Mutation] = []
    ) throws {
        let (name, directory) = (live.place.name, FileDescriptor(rawValue: live.directory.raw))
        // Where a pass before this one has linked it to the objects, that is not a name of it.
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

    /// Keeps what is in the live file as an unfinished version, unless a pass before this one did.
    /// - Parameter mayLink: the file itself may become the kept content.
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
        _ = try store.contents.keep(copying: file, as: version.content, label)
        return version
    }

    /// - Returns: false on a file system without links.
    func link(_ live: Live, as content: ContentID, _ label: ContentStore.Label) throws(Errno) -> Bool {
        let directory = FileDescriptor(rawValue: live.directory.raw)
        do throws(Errno) {
            try store.contents.keep(linking: live.place.name, in: directory, as: content, label)
            return true
        } catch {
            if error == .notPermitted { return false }
            throw error
        }
    }

    /// What a live file holds, as a version that nobody has recorded.
    private func unrecorded(of item: Item, after former: Version, _ live: Live, flags: Version.Flags) -> Version {
        let isSmall = live.stat.size <= LiveContainer.hashedAtOnce
        return Version(
            id: .random(), item: item.id, kind: .history, content: .random(), size: live.stat.size,
            modified: live.stat.modified, saved: container.now, time: container.time.next(),
            device: store.identity.device,
            author: container.observers.owner(of: live.stat), parents: [former.id],
            hash: isSmall ? ContentHash.sha256(of: live.file.raw, size: live.stat.size) : nil,
            attributes: Attributes(live.stat), flags: flags)
    }
}

extension Item {
    /// The same item with its live file and current version as they are now.
    func now(_ current: Version, _ stat: FileStat, _ file: FileID) -> Item {
        Item(
            id: id, places: places, current: current.id,
            file: LiveFile(id: file, size: stat.size, modified: stat.modified, changed: stat.changed))
    }
}
