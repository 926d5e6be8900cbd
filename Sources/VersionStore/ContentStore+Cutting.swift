// Taking off the end of a content what no version has any more: an object never changes, so a new one takes its place.

import Glibc
import SystemPackage
import VersionModel

extension ContentStore {
    /// The beginning of a content that is to take the place of the whole. It lies in the staging directory, which is
    /// emptied at mount, until it is put or dropped.
    public struct Beginning: Sendable {
        public let content: ContentID
        public let size: UInt64
        fileprivate let name: CName
    }

    /// Copies the first bytes of a content, durably; the content stays as it is.
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

    /// Puts a beginning in the place of its content, in one step: whoever has the content open reads on, and after a
    /// crash there is the one or the other.
    ///
    /// - Parameter labels: of all versions that have the content from now on.
    /// - Throws: ENOENT if the content is not there any more. The beginning is dropped then.
    public func put(_ beginning: Beginning, _ labels: [Label]) throws(Errno) {
        let entry = Shelf.name(beginning.content)
        do throws(Errno) {
            let former = try Occupied.bytes(Shelf.leaf(entry), in: shelf.place(of: entry))
            let bytes = LabelCoding.encode(labels)
            let isAttached = try shelf.attach(bytes, to: beginning.name, in: shelf.staging)
            // A label of the old object counts before this one as long as that is there.
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
