// The deleted area: deleted/xx/<deletion id>, the deleted file itself with a label that holds its whole record.

import CLinux
import Glibc
import SystemPackage
import VersionModel

/// Holds deleted entries. Thread-safe in the same way as ``ContentStore``.
public final class DeletedArea: Sendable {
    let shelf: Shelf
    private let contents: Shelf

    /// For new files that are moved in afterwards.
    var staging: FileDescriptor { shelf.staging }

    init(shelf: Shelf, contents: Shelf) {
        self.shelf = shelf
        self.contents = contents
    }

    /// Moves an entry here under `label.id`. A directory must be empty, as for rmdir(2).
    ///
    /// - Throws: the error of renameat(2) (ENOTEMPTY is not checked); nothing was changed then.
    public func moveIn(_ name: FileName, of directory: FileDescriptor, _ label: Deletion) throws(Errno) {
        let (source, entry) = (name.cName, Shelf.name(label.id))
        // Only files and directories can have user attributes (xattr(7)); for other types the call would fail.
        let labelsInode = label.type == .file || label.type == .directory
        try shelf.put(
            source, of: directory, as: entry, label: LabelCoding.encode(label), labelsInode: labelsInode
        ) { place, leaf throws(Errno) in
            try System.rename(source, in: directory, to: leaf, in: place)
        }
    }

    /// Records the removal of one of several names of a file: an empty file with the name's label, owner and mode
    /// represents it. The caller removes the name itself.
    public func note(_ label: Deletion) throws(Errno) {
        let (temporary, entry) = (Shelf.temporaryName(), Shelf.name(label.id))
        let file = try System.open(temporary, in: shelf.staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { System.close(file) }
        do throws(Errno) {
            // A daemon that may not change the owner stays the owner, as with copies.
            _ = fchown(file.rawValue, label.attributes.owner, label.attributes.group)
            try System.call { fchmod(file.rawValue, mode_t(label.attributes.mode & 0o777)) }
            try shelf.put(temporary, of: shelf.staging, as: entry, label: LabelCoding.encode(label)) {
                place, leaf throws(Errno) in
                try System.rename(temporary, in: self.shelf.staging, to: leaf, in: place)
            }
        } catch {
            try? System.unlink(temporary, in: shelf.staging)
            throw error
        }
    }

    /// Moves the file of one entry to the entry of another of its names, and replaces that one's placeholder.
    public func hand(_ id: DeletionID, to label: Deletion) throws(Errno) {
        let (source, entry) = (Shelf.name(id), Shelf.name(label.id))
        let (moved, replaced) = (shelf.allocated(source), shelf.allocated(entry))
        try shelf.relabel(source, LabelCoding.encode(label))
        let place = try shelf.place(of: source)
        try shelf.take(Shelf.leaf(source), of: place, as: entry)
        if (try? shelf.take(Shelf.leaf(Shelf.sidecar(source)), of: place, as: Shelf.sidecar(entry))) == nil {
            shelf.removeSidecar(of: entry)
        }
        shelf.space.removed(source, allocated: moved)
        shelf.space.added(entry, allocated: moved - replaced)
    }

    /// Replaces the file of an entry; the new file gets the entry's label.
    public func replace(_ label: Deletion, moving name: FileName, in directory: FileDescriptor) throws(Errno) {
        let (source, entry) = (name.cName, Shelf.name(label.id))
        let replaced = shelf.allocated(entry)
        let bytes = LabelCoding.encode(label)
        // A label in a sidecar is read only if the file has none.
        let attached = try shelf.attach(bytes, to: source, in: directory)
        if !attached { try shelf.writeSidecar(bytes, for: entry) }
        try shelf.take(source, of: directory, as: entry)
        if attached { shelf.removeSidecar(of: entry) }
        shelf.space.added(entry, allocated: shelf.allocated(entry) - replaced)
    }

    /// Moves an entry back into the tree, without its label.
    ///
    /// - Throws: EEXIST if the name is taken; nothing was changed then.
    public func moveOut(_ id: DeletionID, to name: FileName, of directory: FileDescriptor) throws(Errno) {
        let (entry, target) = (Shelf.name(id), name.cName)
        let allocated = shelf.allocated(entry)
        let flag = linux_RENAME_NOREPLACE
        let (place, leaf) = (try shelf.place(of: entry), Shelf.leaf(entry))
        do throws(Errno) {
            try System.call {
                linux_renameat2(place.rawValue, leaf, directory.rawValue, target, flag)
            }
        } catch .invalidArgument { try moveOutByLink(entry, to: target, of: directory) }
        detach(entry, from: target, in: directory, allocated: allocated)
    }

    /// For file systems without RENAME_NOREPLACE.
    private func moveOutByLink(_ entry: CName, to target: CName, of directory: FileDescriptor) throws(Errno) {
        let (place, leaf) = (try shelf.place(of: entry), Shelf.leaf(entry))
        let status = try System.status(leaf, in: place)
        if status.st_mode & S_IFMT == S_IFDIR {
            // rename(2) of a directory replaces only an empty one. So an empty one is made first, which fails if the
            // name is taken.
            try System.call { mkdirat(directory.rawValue, target, 0o700) }
            try System.rename(leaf, in: place, to: target, in: directory)
        } else {
            try System.call { linkat(place.rawValue, leaf, directory.rawValue, target, 0) }
            try System.unlink(leaf, in: place)
        }
    }

    private func detach(_ entry: CName, from target: CName, in directory: FileDescriptor, allocated: Int64) {
        shelf.detach(from: target, in: directory)
        shelf.removeSidecar(of: entry)
        shelf.space.removed(entry, allocated: allocated)
    }

    /// Turns a deleted file into a kept content, when its name has come back and it is a version of the new file's
    /// document.
    public func moveToContents(
        _ id: DeletionID, as content: ContentID, _ label: ContentStore.Label, also: [ContentStore.Label] = []
    ) throws(Errno) {
        let (entry, object) = (Shelf.name(id), Shelf.name(content))
        // The content may be kept already, for a later version of an item that continues this one: it starts with these
        // bytes.
        if let kept = try? contents.status(of: object), kept.st_size > (try shelf.status(of: entry)).st_size
        {
            return try remove(id)
        }
        let allocated = shelf.allocated(entry)
        let (place, leaf) = (try shelf.place(of: entry), Shelf.leaf(entry))
        try contents.put(
            leaf, of: place, as: object, label: LabelCoding.encode([label] + also)
        ) { newPlace, newLeaf throws(Errno) in
            try System.rename(leaf, in: place, to: newLeaf, in: newPlace)
        }
        shelf.removeSidecar(of: entry)
        shelf.space.removed(entry, allocated: allocated)
    }

    /// Turns a kept content into a deleted file: the rest of a document whose file was removed outside the mount.
    public func moveFromContents(_ content: ContentID, _ label: Deletion) throws(Errno) {
        let (object, entry) = (Shelf.name(content), Shelf.name(label.id))
        let (allocated, former) = (contents.allocated(object), try contents.label(of: object))
        do throws(Errno) {
            let (place, leaf) = (try contents.place(of: object), Shelf.leaf(object))
            try shelf.put(leaf, of: place, as: entry, label: LabelCoding.encode(label)) {
                newPlace, newLeaf throws(Errno) in
                try System.rename(leaf, in: place, to: newLeaf, in: newPlace)
            }
        } catch {
            try? contents.relabel(object, former)
            throw error
        }
        contents.removeSidecar(of: object)
        contents.space.removed(object, allocated: allocated)
    }

    /// Opens a deleted file for reading; the caller closes it.
    public func open(_ id: DeletionID) throws(Errno) -> FileDescriptor {
        try shelf.open(Shelf.name(id))
    }

    /// The place of the entry, for `…at` calls: a descriptor that is open as long as the store, and a name in it.
    /// The disk usage of an entry; 0 if it is not here.
    public func allocated(_ id: DeletionID) -> UInt64 { UInt64(max(0, shelf.allocated(Shelf.name(id)))) }

    public func place(of id: DeletionID) -> (directory: FileDescriptor, name: String) { shelf.whereabouts(of: id) }

    /// The same as a path from `deleted`, for users.
    public func name(of id: DeletionID) -> (directory: FileDescriptor, name: String) {
        let hex = id.hex
        return (shelf.directory, "\(hex.prefix(2))/\(hex)")
    }

    /// Replaces the label of an entry.
    public func relabel(_ label: Deletion) throws(Errno) {
        try shelf.relabel(Shelf.name(label.id), LabelCoding.encode(label))
    }

    /// The label of an entry.
    ///
    /// - Throws: ENOENT if the entry is not there, ENODATA without a label, EILSEQ for one that cannot be read.
    public func label(of id: DeletionID) throws(Errno) -> Deletion {
        let bytes = try shelf.label(of: Shelf.name(id))
        do { return try LabelCoding.deletion(bytes) } catch { throw .illegalByteSequence }
    }

    /// Removes an entry for good.
    public func remove(_ id: DeletionID) throws(Errno) { try shelf.remove(Shelf.name(id)) }

    /// Calls `body` for every entry, in no order.
    public func forEach(_ body: (DeletionID) -> Void) throws(Errno) { try shelf.forEach(body) }
}
