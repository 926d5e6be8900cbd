// Edits that were made while the container was not mounted, and whose size and time are those of the version before:
// a file that was changed since it was recorded, or is another one, is compared with its version when it is touched.

import Glibc
import SystemPackage
import VersionModel
import VersionStore

extension LiveContainer {
    /// Whether a file that looks like its version may hold something else: it is another file than the catalog says,
    /// or one of its attributes, its names or its content has changed since. Copies of containers and files whose mode
    /// was changed look the same.
    func isSuspect(_ state: Document.State, _ stat: FileStat) -> Bool {
        guard !options.isReadOnly, let recorded = state.recorded, let current = state.current,
            current.size == stat.size, current.modified == stat.modified,
            // Of these the file was never all that the version is.
            current.flags.isDisjoint(with: [.contentLost, .unfinished, .beside])
        else { return false }
        if recorded.id != FileID(0), recorded.id != fileID(stat) { return true }
        guard let changed = recorded.changed, changed != stat.changed else { return false }
        // Our own marks and chmod(2) change that time as well. A big file is not read for these.
        if stat.size > Self.hashedAtOnce, let closed = store.closed, stat.changed <= closed { return false }
        return true
    }

    func openSuspect(_ node: Node, _ stat: FileStat) -> SharedDescriptor? {
        guard let name = nodes.location(node).name, let directory = try? descriptor(of: name.parent),
            let file = try? Backing.openQuietly(name.name.bytes, in: directory.raw, stat.key)
        else { return nil }
        return SharedDescriptor(file)
    }

    /// Whether a suspect file holds a version still. Where nothing tells, because that was never hashed and is kept
    /// nowhere, a file that has changed since the container was closed counts as edited, and another file as a copy.
    func holds(_ version: Version, _ file: Int32, _ stat: FileStat, _ recorded: Item.LiveFile?) -> Bool {
        guard let known = version.hash ?? hashOfObject(version) else {
            guard recorded?.id == fileID(stat), let closed = store.closed else { return true }
            return stat.changed <= closed
        }
        // A file that cannot be read is not known to have another content.
        return ContentHash.sha256(of: file, size: version.size).map { $0 == known } ?? true
    }

    private func hashOfObject(_ version: Version) -> [UInt8]? {
        guard let object = try? store.contents.open(version.content) else { return nil }
        let file = SharedDescriptor(object.rawValue)
        return ContentHash.sha256(of: file.raw, size: version.size)
    }

    /// Records in the catalog how the file looks now, so that it is no suspect the next time.
    func renew(_ state: Document.State, _ stat: FileStat, wasSuspect: Bool) {
        guard !options.isReadOnly, let recorded = state.recorded, recorded.id != FileID(0),
            wasSuspect || recorded.changed == nil, let row = itemRow(state, stat)
        else { return }
        commit([row])
    }
}
