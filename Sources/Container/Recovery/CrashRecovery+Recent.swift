// Saves in the catalog that the disk lacks: after a power cut, unsynchronized data may be missing.

import Glibc
import Logging
import SystemPackage
import VersionModel
import VersionStore

extension CrashRecovery {
    /// Checks an item whose current version was recorded in the last minute before the end. If its file differs from
    /// the save and is unchanged since, or has blocks of zeros that no program wrote, a power cut is the cause. The
    /// preceding version becomes current again.
    ///
    /// - Returns: the action as a word; nil if none was needed.
    func settleRecent(_ item: Item, _ current: Version, _ live: Live) throws -> String? {
        if hasAnotherFile(item, live) { return try settle(item, current, live) }
        let isEarlier = isFromBefore(current, live)
        let isWhole = live.stat.size >= current.size && (isEarlier ? isProven(current, live) : isHashed(current, live))
        guard !isWhole || isEarlier && live.stat.size > current.size,
            try live.stat.changed <= current.saved || live.stat.modified == current.modified
                || hasLostBlocks(current, live),
            !isDatabase(live), !isBeingWritten(live), try !isShared(current)
        else { return nil }
        if let label = synchronized(since: current, item, live) {
            adopt(label, item, current, live)
            return "saved"
        }
        if try goBack(item, current, live) { return "not arrived" }
        if isWhole {
            // Everything written is here, but the truncation of the rest is not.
            _ = try settleAppended(item, current, current, live)
            return "not cut off"
        }
        if let beginning = try beginning(of: current, item, live) {
            return try settleAppended(item, current, beginning, live)
        }
        guard let former = try wholeVersion(of: item, before: current, live) else {
            amend(current, item, live)
            return "shortened"
        }
        if live.stat.size == former.size, isProven(former, live) {
            try withdraw(current, item, former, live)
            return "not arrived"
        }
        let torn = try kept(current, live)
        try replace(live, of: item, by: former, torn: torn)
        return "unfinished"
    }

    /// The synchronized version in the file's label, if it is later than the catalog's and all of it is certainly here.
    /// Then it has arrived, with any blocks of zeros. It may be an amendment of the current version.
    private func synchronized(since current: Version, _ item: Item, _ live: Live) -> Version? {
        store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version).first { label in
            label.item == item.id && label.kind == .current && label.time > current.time
                && live.stat.size >= label.size && isProven(label, live)
        }
    }

    /// Whether the file is in its state from before the save: at most a part of the save has arrived. All of its times
    /// must show it, because a clock that is read less often may be a little behind, and a program can set a time.
    private func isFromBefore(_ current: Version, _ live: Live) -> Bool {
        live.stat.modified != current.modified && live.stat.changed < current.modified
            && live.stat.changed <= current.saved
    }

    /// Whether a file certainly begins with a version, even a big one.
    func isProven(_ version: Version, _ live: Live) -> Bool {
        version.hash != nil && ContentHash.sha256(of: live.file.raw, size: version.size) == version.hash
    }

    /// Whether another item's file has the content. The file of an item whose name had just come back is another one by
    /// now.
    private func isShared(_ current: Version) throws -> Bool {
        try store.versions(sharing: current.content).contains { version in
            guard version.item != current.item, let other = try store.item(version.item) else { return false }
            return other.current == version.id && !other.isReturning && !other.places.isEmpty
        }
    }

    /// Whether a file with a later write before the end lacks saved data: it is shorter, or one of its blocks has not
    /// arrived. A write while the container was not mounted makes another content.
    private func hasLostBlocks(_ current: Version, _ live: Live) throws -> Bool {
        guard current.hash != nil, live.stat.changed.since(current.saved) <= VersionStore.dirtyNanoseconds else {
            return false
        }
        guard live.stat.size >= current.size else { return true }
        let lengths = try formerLengths(current, live)
        var block = [UInt8](repeating: 0, count: LostBlocks.size)
        var offset: UInt64 = 0
        while offset < current.size {
            let count = pread(live.file.raw, &block, block.count, off_t(clamping: offset))
            guard count > 0 else { break }
            if LostBlocks.isLost(block.prefix(count), at: offset, lengths: lengths) { return true }
            offset += UInt64(count)
        }
        return false
    }

    /// The lengths of the file before it was the current version, under any name, as the catalog and its label know
    /// them: it still begins with these contents.
    private func formerLengths(_ current: Version, _ live: Live) throws -> [UInt64] {
        let labels = store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version)
        return (labels + (try store.versions(sharing: current.content)))
            .filter { $0.size < current.size && isHashed($0, live) }.map(\.size)
    }

    /// The available part of a version after appends: the synchronized state in the file's label (later appends may
    /// have amended the version), else the last version that it continues.
    func beginning(of current: Version, _ item: Item, _ live: Live) throws -> Version? {
        let labels = store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version)
        let synchronized = labels.first { label in
            label.item == item.id && label.content == current.content && label.size <= current.size
                && live.stat.size >= label.size && isHashed(label, live)
        }
        if let synchronized { return synchronized }
        guard !item.isReturning, !hasAnotherFile(item, live) else { return nil }
        return try store.versions(of: item.id).first { former in
            former.id != current.id && former.content == current.content && live.stat.size >= former.size
                && former.flags.isDisjoint(with: [.unfinished, .beside]) && isHashed(former, live)
        }
    }

    /// Handles an append that has arrived in part or not at all. The preceding version is its beginning.
    /// - Parameter others: rows for the same transaction.
    func settleAppended(
        _ item: Item, _ current: Version, _ former: Version, _ live: Live, _ others: [VersionStore.Mutation] = []
    ) throws -> String {
        if live.stat.size == former.size {
            try withdraw(current, item, former, live)
            return "not arrived"
        }
        var lost = current
        if former.id == current.id { (lost.id, lost.parents) = (.random(), [current.id]) }
        let torn = try kept(lost, live)
        var former = former
        former.kind = .current
        try replace(live, of: item, by: former, torn: torn, others + [.version(former)])
        return "appended in part"
    }

    /// The catalog's end may have reached the disk before the data. Then the file has an older version, not kept before
    /// because its name was still its own, and that version becomes current again.
    /// - Returns: whether it has.
    func goBack(_ item: Item, _ current: Version, _ live: Live) throws -> Bool {
        let held = try store.versions(of: item.id).first { version in
            version.time < current.time && version.kind == .history && version.size == live.stat.size
                && (version.content != current.content || version.size < current.size)
                && version.modified == live.stat.modified && !store.contents.contains(version.content)
                && isHashed(version, live)
        }
        if let held {
            try withdraw(current, item, held, live)
            return true
        }
        return try goBackToSynchronized(item, current, live)
    }

    /// The same if that older version was amended after it was synchronized: the file's label alone knows what it was.
    /// If the file is from before the current version's save, the bytes behind the label's size are of an append.
    private func goBackToSynchronized(_ item: Item, _ current: Version, _ live: Live) throws -> Bool {
        let isEarlier = isFromBefore(current, live)
        let label = store.contents.labels(live: FileDescriptor(rawValue: live.file.raw)).map(\.version).first { label in
            label.item == item.id && label.kind == .current && label.time < current.time
                && label.content != current.content && !store.contents.contains(label.content)
                && (label.size == live.stat.size || label.size > 0 && label.size < live.stat.size && isEarlier)
                && isProven(label, live)
        }
        guard let label else { return false }
        guard label.size < live.stat.size else {
            try withdraw(current, item, label, live)
            return true
        }
        let appended = try store.versions(sharing: label.content).filter { $0.item == item.id && $0.time >= label.time }
            .max { $0.time < $1.time }
        _ = try settleAppended(item, appended ?? label, label, live, try withdrawal(of: current, for: label))
        return true
    }

    /// The file has the preceding version. The save and its appends are lost, except for the part of an object that was
    /// made of it.
    private func withdraw(_ current: Version, _ item: Item, _ former: Version, _ live: Live) throws {
        var former = former
        former.kind = .current
        // Its content is the live file, whatever an earlier look among the objects has said.
        former.flags.subtract([.contentLost, .unfinished])
        store.commit(
            try withdrawal(of: current, for: former) + [
                .version(former), .item(item.now(former, live.stat, container.fileID(live.stat))),
            ])
    }

    /// The rows that withdraw a version that has not reached the disk. The part of it that has come as an object stays.
    /// - Parameter former: the version that is current again.
    private func withdrawal(of current: Version, for former: Version) throws -> [VersionStore.Mutation] {
        let vanished = try store.versions(sharing: current.content).filter {
            $0.id != former.id && $0.item == current.item
                && (former.content != current.content || $0.size > former.size)
        }
        let left = former.content == current.content ? [] : try vanished.compactMap { try rest(of: $0) }
        let gone = vanished.filter { version in !left.contains { $0.id == version.id } }
        // Content without another version is removed from the objects.
        if store.contents.contains(current.content),
            try store.versions(sharing: current.content).allSatisfy({ version in
                gone.contains { $0.id == version.id }
            })
        {
            try custodian.remove(current.content)
        }
        return gone.map { .removeVersion($0.id) } + left.map { .version($0) }
    }

    /// The available part of a version among the objects; nil if there is none.
    private func rest(of version: Version) throws -> Version? {
        guard store.contents.contains(version.content) else { return nil }
        var rest = try custodian.cutShort(version)
        if rest.kind == .current { rest.kind = .history }
        return rest.flags.contains(.contentLost) ? nil : rest
    }

    /// Without an older version, the current version is reduced to the available part, and marked.
    private func amend(_ current: Version, _ item: Item, _ live: Live) {
        var version = current
        version.flags.formUnion([.sealed, .unfinished])
        (version.size, version.modified) = (live.stat.size, live.stat.modified)
        version.hash = live.stat.size <= LiveContainer.hashedAtOnce
            ? ContentHash.sha256(of: live.file.raw, size: live.stat.size) : nil
        store.commit([.version(version), .item(item.now(version, live.stat, container.fileID(live.stat)))])
    }

    /// Keeps the torn file as the version that it should have been.
    private func kept(_ current: Version, _ live: Live) throws -> Version {
        var torn = current
        torn.kind = .history
        torn.flags.formUnion([.sealed, .unfinished])
        (torn.size, torn.modified) = (live.stat.size, live.stat.modified)
        torn.hash = live.stat.size <= LiveContainer.hashedAtOnce
            ? ContentHash.sha256(of: live.file.raw, size: live.stat.size) : nil
        SaveMark.remove(from: live.file.raw)
        let label = ContentStore.Label(version: torn, path: live.path, place: live.place)
        if live.stat.links == 1, try link(live, as: torn.content, label) { return torn }
        try custodian.keep(copying: live.file.raw, as: torn.content, label)
        return torn
    }
}
