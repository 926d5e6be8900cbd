// The contents of versions other than the current one: objects/xx/<content id>, each with its label.

import CLinux
import Glibc
import Synchronization
import SystemPackage
import VersionModel

/// Keeps contents. Thread-safe: each operation is a few system calls relative to descriptors, without a lock across
/// them.
public final class ContentStore: Sendable {
    /// An object's description of itself.
    public struct Label: Hashable, Sendable {
        /// The whole record as of when the content is kept (its kind is no longer `current`).
        public var version: Version
        /// The document's path, which locates it if the catalog is lost.
        public var path: TreePath
        public var place: Place
        /// The same and more, in a container of facts; nil for one of format 1.
        var facts: FactLabel?

        public init(version: Version, path: TreePath, place: Place) {
            self.version = version
            self.path = path
            self.place = place
        }
    }

    /// The way of the copy.
    public enum Copying: Sendable {
        case reflinked, copied
    }

    let shelf: Shelf
    private let arrivals = Arrivals()
    private let ordering: linux_ordering
    /// Whether the state's file system can reflink; tested when the store opens.
    public let canReflink: Bool

    init(shelf: Shelf, readOnly: Bool) {
        self.shelf = shelf
        ordering = linux_ordering_of(shelf.staging.rawValue)
        canReflink = readOnly ? false : Self.probeReflink(in: shelf.staging)
    }

    /// Gives a file a second name as an object, which keeps its content when the file is unlinked or replaced. `also`:
    /// the other versions that share the content.
    ///
    /// - Throws: the error of linkat(2): EPERM, EMLINK, EXDEV and others; nothing was changed then.
    public func keep(
        linking name: FileName, in directory: FileDescriptor, as id: ContentID, _ label: Label, also: [Label] = []
    ) throws(Errno) {
        let (source, entry) = (name.cName, Shelf.name(id))
        try shelf.put(source, of: directory, as: entry, label: LabelCoding.encode([label] + also)) {
            place, leaf throws(Errno) in
            try System.call { linkat(directory.rawValue, source, place.rawValue, leaf, 0) }
        }
    }

    /// Moves a file to the objects: its name is gone, its content is kept.
    ///
    /// - Throws: the error of renameat(2); nothing was changed then.
    public func keep(
        moving name: FileName, in directory: FileDescriptor, as id: ContentID, _ label: Label, also: [Label] = []
    ) throws(Errno) {
        let (source, entry) = (name.cName, Shelf.name(id))
        try shelf.put(source, of: directory, as: entry, label: LabelCoding.encode([label] + also)) {
            place, leaf throws(Errno) in
            try System.rename(source, in: directory, to: leaf, in: place)
        }
    }

    /// Keeps a copy of an open file's present state: content, owner, mode, ACL, attributes and times. The copy shares
    /// blocks if the file system can, and has the same holes.
    ///
    /// - Parameters:
    ///   - file: open for reading.
    ///   - isDurable: whether to synchronize the copy, because an in-place write follows, and no journal orders the
    ///     two.
    ///   - limit: the length of the content; later bytes were appended since.
    public func keep(
        copying file: FileDescriptor, as id: ContentID, _ label: Label, also: [Label] = [], isDurable: Bool = false,
        upTo limit: UInt64 = .max
    ) throws(Errno) -> Copying {
        let entry = Shelf.name(id)
        let temporary = Shelf.temporaryName()
        let copy = try System.openBeneath(temporary, in: shelf.staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        defer { System.close(copy) }
        do throws(Errno) {
            let copying = try FileCopy.copy(file, to: copy, reflink: canReflink, upTo: limit)
            // The next change may be a truncation that the file system makes durable before this copy
            // (docs/decisions/0003).
            if copying == .copied, !isDurable { try FileCopy.order(copy, ordering, arrivals) }
            let bytes = LabelCoding.encode([label] + also)
            if !shelf.attach(bytes, to: copy) { try shelf.writeSidecar(bytes, for: entry) }
            try shelf.take(temporary, of: shelf.staging, as: entry)
            if copying == .copied, isDurable, ordering != linux_ordering_none {
                try synchronizing { () throws(Errno) in _ = try System.call { fsync(copy.rawValue) } }
            }
            shelf.space.added(entry, allocated: try Occupied.bytes(of: copy))
            return copying
        } catch {
            try? System.unlink(temporary, in: shelf.staging)
            throw error
        }
    }

    /// Runs a call that makes files durable, such as fsync(2), but not before their kept contents.
    public func synchronizing<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
        try shelf.settling.synchronizing { () throws(Errno) in try arrivals.synchronizing(body) }
    }

    /// Whether fsync(2) of a file makes no other file durable, not even the copy of its older content.
    public var synchronizesOneFile: Bool { shelf.settling.isNeeded }

    /// Makes kept contents durable, if the file system does not order them before later changes of their files.
    public func settle() { shelf.settling.settle() }

    /// The same for a file that a program may synchronize without a request to the daemon.
    public func settleUnseen() {
        shelf.settling.settle()
        shelf.settling.noteUnseen()
    }

    /// Whether a truncation may become durable before the copy made for it, if a program synchronizes the whole file
    /// system at that moment.
    public var mayBeOvertaken: Bool { ordering == linux_ordering_journal && !canReflink }

    /// A new file that is about to be kept is durable no later than changes that follow.
    public func order(_ file: FileDescriptor) throws(Errno) { try FileCopy.order(file, ordering, arrivals) }

    /// The number of copies that no thread has waited for.
    var unawaited: Int { arrivals.unawaited }

    /// Frees the room of files at once that were removed on their way to the disk.
    public func closeRemoved() { arrivals.closeRemoved() }

    /// Whether a rename over a file starts the write of the new file, if it has not started, and waits for the disk to
    /// accept the request.
    public var renamingOverWrites: Bool { ordering == linux_ordering_journal }

    /// On ext4, the process that closes a truncated file starts its write and waits for the disk to accept the request.
    /// Called right after the truncation, this takes over that duty for ``hasten(_:)``.
    public func takeOverWriting(of file: FileDescriptor) {
        guard ordering == linux_ordering_journal,
            let again = try? System.open("/proc/self/fd/\(file.rawValue)", in: file, O_WRONLY)
        else { return }
        // The first close after the truncation has the duty; there is no data to write yet.
        System.close(again)
    }

    /// Starts the write of a file soon that was truncated or has replaced another one; no thread waits for it.
    /// - Parameter number: identifies the file.
    public func hasten(_ file: FileDescriptor, number: UInt64) {
        if ordering == linux_ordering_journal { arrivals.hasten(file, number: number) }
    }

    /// Finishes the started writes; a later copy waits for its own data.
    func close() { arrivals.end() }

    /// Opens a content for reading; the caller closes it.
    public func open(_ id: ContentID) throws(Errno) -> FileDescriptor {
        try shelf.open(Shelf.name(id))
    }

    /// The disk usage of a content; 0 if it is not here.
    public func allocated(_ id: ContentID) -> UInt64 { UInt64(max(0, shelf.allocated(Shelf.name(id)))) }

    /// Whether the store has the content.
    public func contains(_ id: ContentID) -> Bool { (try? shelf.status(of: Shelf.name(id))) != nil }

    /// The place of the object, for `…at` calls: a descriptor that is open as long as the store, and a name in it.
    public func place(of id: ContentID) -> (directory: FileDescriptor, name: String) { shelf.whereabouts(of: id) }

    /// The same as a path from `objects`, for users.
    public func name(of id: ContentID) -> (directory: FileDescriptor, name: String) {
        let hex = id.hex
        return (shelf.directory, "\(hex.prefix(2))/\(hex)")
    }

    /// Replaces the label, e.g. after a version's kind changed.
    public func relabel(_ id: ContentID, _ label: Label, also: [Label] = []) throws(Errno) {
        try shelf.relabel(Shelf.name(id), LabelCoding.encode([label] + also))
    }

    /// The first label of an object.
    ///
    /// - Throws: ENOENT if the object is not there, ENODATA without a label, EILSEQ for one that cannot be read.
    public func label(of id: ContentID) throws(Errno) -> Label {
        guard let label = try labels(of: id).first else { throw .noData }
        return label
    }

    /// The labels of all versions that share the content.
    public func labels(of id: ContentID) throws(Errno) -> [Label] {
        let bytes = try shelf.label(of: Shelf.name(id))
        do { return try LabelCoding.contents(bytes) } catch { throw .illegalByteSequence }
    }

    /// Removes a content for good.
    public func remove(_ id: ContentID) throws(Errno) { try shelf.remove(Shelf.name(id)) }

    /// Calls `body` for every object, in no order.
    public func forEach(_ body: (ContentID) -> Void) throws(Errno) { try shelf.forEach(body) }

    /// The same for the objects that have come since a time, by the clock of files.
    public func forEach(since time: Timestamp, _ body: (ContentID) -> Void) throws(Errno) {
        try shelf.forEach(since: time, body)
    }

    private static func probeReflink(in staging: FileDescriptor) -> Bool {
        let names = (Shelf.temporaryName(), Shelf.temporaryName())
        defer {
            try? System.unlink(names.0, in: staging)
            try? System.unlink(names.1, in: staging)
        }
        guard let one = try? System.open(names.0, in: staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600) else {
            return false
        }
        defer { System.close(one) }
        guard let two = try? System.open(names.1, in: staging, O_RDWR | O_CREAT | O_EXCL, mode: 0o600) else {
            return false
        }
        defer { System.close(two) }
        return linux_clone_file(two.rawValue, one.rawValue) == 0
    }
}
