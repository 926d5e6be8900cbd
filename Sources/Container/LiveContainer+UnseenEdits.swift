// Edits from outside the mount, and whether a content is still in its place.

import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// An edit that was made while the container was not mounted becomes a version of its own.
    /// - Parameter recorded: the file as the catalog has it.
    func adoptUnseenEdit(
        _ document: Document, _ node: Node, in parent: Node, _ stat: FileStat, _ recorded: Item.LiveFile?
    ) {
        guard let name = nodes.location(node).name, let directory = try? descriptor(of: name.parent),
            let file = try? Backing.openQuietly(name.name.bytes, in: directory.raw, stat.key)
        else { return }
        defer { Glibc.close(file) }
        if DatabaseRule.hasLog(name.name, file: file, in: directory) {
            let unknown = Requester(actor: nil, author: callers.owner(of: stat))
            return databases.captureLater(node, unknown)
        }
        document.state.withLock { state in
            guard let current = state.current else { return }
            let isWritten = node.openings.state.withLock(\.maybeMapped)
            defer { state.provisional = isWritten ? state.current?.id : nil }
            let isAppended = !store.contents.contains(current.content)
                && (current.hash == nil ? mayBegin(stat, with: current, recorded) : begins(file, stat, with: current))
            if isAppended, current.hash == nil {
                // Only its times were set.
                if stat.size == current.size, isAsRecorded(stat, recorded) { return state.stamp = Stamp(stat) }
                let mayBeOverwritten = isWritten && !current.flags.contains(.sealed)
                // After a power cut, data that did not arrive is a hole.
                if mayBeOverwritten || !SaveMark.isWithoutHoles(file, size: current.size) {
                    state.current?.flags.insert(.unfinished)
                }
            }
            if !isAppended {
                // The content that was current is gone, unless a copy was kept.
                state.current = withoutFile(current)
                state.isKept = true
            }
            _ = try? save(
                &state, node, in: name.parent, name.name, file: file,
                PendingSave(
                    kind: isAppended ? .appendOrInPlace : .replacing, isAppend: isAppended, requester: nil,
                    isSealed: !isWritten))
        }
    }

    /// A version whose file holds something else now. Its content may have been kept, or be in another item's file;
    /// else another version of the document may hold the same bytes, and it shares that one's content. Otherwise it is
    /// lost.
    func withoutFile(_ version: Version) -> Version {
        if isElsewhere(version) { return version }
        var version = version
        guard let equal = try? store.equal(to: version) else {
            version.flags.insert(.contentLost)
            return version
        }
        version.content = equal.content
        custodian.addLabels(to: equal.content) { [custodian.label(of: version)] }
        return version
    }

    /// Whether a version's content is among the objects, or in the file of another item that shares it.
    func isElsewhere(_ version: Version) -> Bool {
        if store.contents.contains(version.content) { return true }
        let sharing = (try? store.versions(sharing: version.content)) ?? []
        return sharing.contains { $0.item != version.item && $0.kind == .current }
    }

    /// Whether nothing speaks against it that a file begins with a version whose content was never hashed. A content is
    /// kept before it is written over through the mount: a file whose version is kept nowhere was appended to, or its
    /// times were set. Not so if it is another file, if it was changed behind an orderly end, or if the version is one
    /// of those that are given up.
    private func mayBegin(_ stat: FileStat, with version: Version, _ recorded: Item.LiveFile?) -> Bool {
        guard stat.size >= version.size, recorded?.id == fileID(stat),
            version.flags.isDisjoint(with: [.contentLost, .unfinished, .beside]),
            store.contents.canReflink || version.size <= settings.maxFile
        else { return false }
        guard store.identity.cleanShutdown, !isAsRecorded(stat, recorded) else { return true }
        return store.closed.map { stat.changed <= $0 } ?? false
    }

    /// Whether a file has not changed since the catalog was told of it.
    private func isAsRecorded(_ stat: FileStat, _ recorded: Item.LiveFile?) -> Bool {
        guard let recorded, recorded.changed == stat.changed else { return false }
        return recorded.id == fileID(stat) && recorded.size == stat.size && recorded.modified == stat.modified
    }

    /// Whether a file is what a version was with something appended, as its hash says.
    func begins(_ file: Int32, _ stat: FileStat, with version: Version) -> Bool {
        guard stat.size >= version.size, let hash = version.hash else { return false }
        return ContentHash.sha256(of: file, size: version.size) == hash
    }
}
