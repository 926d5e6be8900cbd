// Finds the bytes of a version for the check, and verifies them.

import Crypto
import Glibc
import SystemPackage
import VersionModel

extension StoreCheck {
    /// The error in a kept content; nil if it is sound. Several versions of one content, with appends between them,
    /// each have the first bytes.
    func problem(_ version: Version) throws -> String? {
        guard let file = try open(version) else { return "the content is missing" }
        defer { System.close(file) }
        guard let status = try? System.status(file) else { return "the content cannot be read" }
        let length = UInt64(clamping: status.st_size)
        // The appended bytes may have been a version of a forgotten item; then the hash decides.
        let mayBeLonger =
            try version.hash != nil || store.versions(sharing: version.content).contains { $0.size > version.size }
        guard length == version.size || length > version.size && mayBeLonger else {
            return "the content has another length"
        }
        guard let hash = version.hash else { return nil }
        do throws(Errno) {
            return try Self.hash(file, version.size) == hash ? nil : "the content is not what was saved"
        } catch { return "the content cannot be read: \(error)" }
    }

    /// The content among the objects; else the file of a live or deleted item whose current version has this content.
    func open(_ version: Version) throws -> FileDescriptor? {
        if let file = try? store.contents.open(version.content) { return file }
        for other in try store.versions(sharing: version.content) {
            guard let item = try store.item(other.item), item.current == other.id, !item.isReturning else { continue }
            if let path = try store.path(of: item) {
                if let file = openLive(path) { return file }
            } else if let deletion = try store.deletions(of: item.id).first(where: { $0.type == .file }) {
                // The entry of a name that went while its file had others is an empty note.
                if let file = try? store.deletedArea.open(deletion.id) { return file }
            }
        }
        // It may have been kept meanwhile.
        return try? store.contents.open(version.content)
    }

    /// A file of the live tree. Another type of file under its name, such as a FIFO, does not count.
    private func openLive(_ path: TreePath) -> FileDescriptor? {
        guard let last = path.name,
            let directory = try? System.openDirectory(Array(path.names.dropLast()), in: store.root)
        else { return nil }
        defer { System.close(directory) }
        return try? System.openRegular(last.cName, in: directory, O_RDONLY)
    }

    static func hash(_ file: FileDescriptor, _ size: UInt64) throws(Errno) -> [UInt8] {
        var hasher = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var rest = size
        while rest > 0 {
            let wanted = Int(min(UInt64(buffer.count), rest))
            let count = try System.call { read(file.rawValue, &buffer, wanted) }
            if count == 0 { break }
            buffer.withUnsafeBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            rest -= UInt64(count)
        }
        return Array(hasher.finalize())
    }
}
