// Reading the content of any version, wherever its bytes are: live file, object, or deleted entry.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel
import VersionStore

/// The bytes of a version, open for reading.
public struct OpenContent: Sendable {
    let descriptor: SharedDescriptor
    /// Only so many of the file's bytes are the version's: appended versions share one file.
    public let size: UInt64

    /// The open file; it lives as long as this value.
    public var raw: Int32 { descriptor.raw }
}

extension LiveContainer {
    /// Opens the content of a version.
    ///
    /// - Throws: `contentMissing` if it was given up or lost. Rights are not looked at.
    public func content(of version: Version, in document: DocumentRecord) throws(OperationError) -> OpenContent {
        try operation {
            guard !version.flags.contains(.contentLost) else { throw missing(version, document) }
            if version.kind == .current, document.deletion == nil, !isKeptBeside(version, of: document),
                let file = liveFile(at: document.path, version.id) {
                return OpenContent(descriptor: file, size: version.size)
            }
            if let object = try? store.contents.open(version.content) {
                return OpenContent(descriptor: SharedDescriptor(object.rawValue), size: version.size)
            }
            for other in try [version] + store.versions(sharing: version.content) {
                if let file = try liveFile(of: other) ?? deletedFile(of: other) {
                    return OpenContent(descriptor: file, size: version.size)
                }
            }
            throw missing(version, document)
        }
    }

    private func missing(_ version: Version, _ document: DocumentRecord) -> OperationError {
        let limit = settings.maxFile
        if version.flags.contains(.contentLost), version.size > limit, !store.contents.canReflink {
            return OperationError(
                .contentMissing,
                "the content of version \(version.id.short) was not kept: its \(version.size) bytes are over "
                    + "history.max-file (\(limit)), and it was overwritten in place",
                path: document.path,
                advice: "`versionsctl config history.max-file SIZE` keeps larger files from now on")
        }
        return OperationError(
            .contentMissing, "the content of version \(version.id.short) is lost", path: document.path)
    }

    /// The live file of the item if its current version has the same content.
    private func liveFile(of version: Version) throws -> SharedDescriptor? {
        guard let item = try store.item(version.item), let path = try store.path(of: item),
            let current = try store.version(item.current), current.content == version.content
        else { return nil }
        return liveFile(at: path, current.id)
    }

    /// The live document if it holds this version; its kept copy during a change.
    private func liveFile(at path: TreePath, _ version: VersionID) -> SharedDescriptor? {
        try? looking(as: .container) { walk -> SharedDescriptor? in
            let (spot, node, stat) = try walk.document(path)
            let document = try document(of: node, stat, at: spot.place, in: spot.parent)
            return try document.state.withLock { state in
                guard let current = state.current, current.id == version, !state.isReturning else { return nil }
                let now = try Backing.stat(spot.name.bytes, in: spot.directory.raw)
                if state.isKept, state.differs(from: now), let kept = try? store.contents.open(current.content) {
                    return SharedDescriptor(kept.rawValue)
                }
                return try spot.open(flags: O_RDONLY)
            }
        }
    }

    /// The same in the deleted area.
    private func deletedFile(of version: Version) throws -> SharedDescriptor? {
        if let item = try store.item(version.item), let last = try store.version(item.current),
            last.content != version.content
        {
            return nil
        }
        return try deletedFile(of: version.item)
    }

    func deletedFile(of item: ItemID) throws -> SharedDescriptor? {
        for deletion in try store.deletions(of: item) where deletion.type == .file {
            if let file = try? store.deletedArea.open(deletion.id) { return SharedDescriptor(file.rawValue) }
        }
        return nil
    }
}
