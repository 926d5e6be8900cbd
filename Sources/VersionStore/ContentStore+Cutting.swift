// Removes the end of a content that no version has any more. An object never changes, so a new one replaces it.

import Glibc
import SystemPackage
import VersionModel

extension ContentStore {
    /// The beginning of a content, as a replacement for the whole. It is in the staging directory, which is emptied at
    /// mount, until it is put or dropped.
    public struct Beginning: Sendable {
        public let content: ContentID
        public let size: UInt64
        fileprivate let name: CName
    }

    /// Copies the first bytes of a content, durably; the content itself stays unchanged.
    public func beginning(of id: ContentID, size: UInt64) throws(Errno) -> Beginning {
        let source = try open(id)
        defer { System.close(source) }
        let name = Shelf.temporaryName()
        let copy = try System.open(name, in: shelf.staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { System.close(copy) }
        do throws(Errno) {
            _ = try FileCopy.copy(source, to: copy, reflink: canReflink, upTo: size)
            try synchronizing { () throws(Errno) in _ = try System.call { fsync(copy.rawValue) } }
        } catch {
            try? System.unlink(name, in: shelf.staging)
            throw error
        }
        return Beginning(content: id, size: size, name: name)
    }

    public func drop(_ beginning: Beginning) { try? System.unlink(beginning.name, in: shelf.staging) }

    /// Replaces a content with its beginning, in one step: programs that have the content open continue to read it, and
    /// after a crash one of the two exists.
    ///
    /// - Parameter labels: the labels of all versions that have the content from now on.
    /// - Throws: ENOENT if the content is gone. The beginning is dropped then.
    public func put(_ beginning: Beginning, _ labels: [Label]) throws(Errno) {
        let entry = Shelf.name(beginning.content)
        do throws(Errno) {
            let former = try Occupied.bytes(Shelf.leaf(entry), in: shelf.place(of: entry))
            let bytes = LabelCoding.encode(labels)
            let isAttached = try shelf.attach(bytes, to: beginning.name, in: shelf.staging)
            // A label of the old object has precedence over this one as long as it exists.
            if !isAttached { try shelf.writeSidecar(bytes, for: entry) }
            try shelf.take(beginning.name, of: shelf.staging, as: entry)
            if isAttached { shelf.removeSidecar(of: entry) }
            shelf.space.removed(entry, allocated: former)
            shelf.space.added(entry, allocated: shelf.allocated(entry))
        } catch {
            drop(beginning)
            throw error
        }
    }
}
