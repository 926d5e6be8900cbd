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

    /// Whether another content of the same size has the same bytes.
    func isEqual(to other: OpenContent) -> Bool {
        let length = 1 << 17
        var (first, second) = ([UInt8](repeating: 0, count: length), [UInt8](repeating: 0, count: length))
        var offset: UInt64 = 0
        while offset < size {
            let wanted = Int(min(UInt64(length), size - offset))
            let count = pread(raw, &first, wanted, off_t(offset))
            guard count > 0, pread(other.raw, &second, count, off_t(offset)) == count,
                first.prefix(count) == second.prefix(count)
            else { return false }
            offset += UInt64(count)
        }
        return true
    }
}

extension Finder {
    /// Opens the content of a version.
    ///
    /// - Throws: `contentMissing` if it was given up or lost. Rights are not looked at.
    public func content(of version: Version, in document: DocumentRecord) throws(OperationError) -> OpenContent {
        try operation {
            guard !version.flags.contains(.contentLost) else { throw missing(version, document) }
            if version.kind == .current, document.deletion == nil, !host.isKeptBeside(version, of: document),
                let file = host.liveFile(at: document.path, version.id) {
                return OpenContent(descriptor: file, size: version.size)
            }
            if let object = try? host.state.contents.open(version.content) {
                return OpenContent(descriptor: SharedDescriptor(object.rawValue), size: version.size)
            }
            for other in try [version] + history.versions(sharing: version.content) {
                if let file = try liveFile(of: other) ?? deletedFile(of: other) {
                    return OpenContent(descriptor: file, size: version.size)
                }
            }
            throw missing(version, document)
        }
    }

    /// Whether a current version is an image of a database (docs/decisions/0013), and the file lacks what the log has.
    func isBesideLog(_ version: Version, _ document: DocumentRecord) -> Bool {
        guard version.kind == .current, host.state.contents.contains(version.content) else { return false }
        let found = try? looking(as: .container) { walk in
            let (spot, _, _) = try walk.document(document.path)
            guard let file = SharedDescriptor.forLook(spot.name, in: spot.directory) else { return false }
            return withExtendedLifetime(file) { DatabaseRule.hasLog(spot.name, file: file.raw, in: spot.directory) }
        }
        return found ?? false
    }

    private func missing(_ version: Version, _ document: DocumentRecord) -> OperationError {
        let limit = host.maxFile
        if version.flags.contains(.contentLost), version.size > limit, !host.state.contents.canReflink {
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
        guard let item = try history.item(version.item), let path = try history.path(of: item),
            let current = try history.version(item.current), current.content == version.content
        else { return nil }
        return host.liveFile(at: path, current.id)
    }

    /// The same in the deleted area.
    private func deletedFile(of version: Version) throws -> SharedDescriptor? {
        if let item = try history.item(version.item), let last = try history.version(item.current),
            last.content != version.content
        {
            return nil
        }
        return try deletedFile(of: version.item)
    }

    func deletedFile(of item: ItemID) throws -> SharedDescriptor? {
        for deletion in try history.deletions(of: item) where deletion.type == .file {
            if let file = try? host.state.deletedArea.open(deletion.id) { return SharedDescriptor(file.rawValue) }
        }
        return nil
    }
}
