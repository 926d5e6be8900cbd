// The container as the driver's file system: translates requests and answers, and makes no decisions.

import Container
import ControlProtocol
import FUSE
import Glibc
import Synchronization
import SystemPackage

/// Serves a container to the kernel.
final class ContainerFileSystem: FileSystem {
    let container: any ServedContainer
    /// The tree under `.versions`; the ranges of its node and handle numbers mark them.
    private let browser: Browser
    private let negotiated = Mutex(Features())

    /// `list-versions`: the root's listing includes `.versions`.
    private let listsVersions: Bool
    /// An offset behind every entry of a listing.
    private static let behindAll = off_t(1) << 40

    let diligence: Diligence

    init(_ container: any ServedContainer, listsVersions: Bool = false, diligence: Diligence = .ordinary) {
        (self.container, browser) = (container, container.makeBrowser())
        (self.listsVersions, self.diligence) = (listsVersions, diligence)
    }

    /// Who answers for a node: nil if it is of the live tree.
    private func browser(of node: NodeID) -> Browser? { Browser.owns(node) ? browser : nil }

    /// Refuses changes below `.versions`, and all changes to a read-only container.
    private func live(_ nodes: NodeID...) throws(Errno) {
        try container.refuseIfReadOnly()
        if nodes.contains(where: { Browser.owns($0) }) { throw .readOnlyFileSystem }
    }

    func started(_ session: any Session, features: Features) {
        negotiated.withLock { $0 = features }
        container.connect(SessionLink(session, features: features))
    }

    /// The features that the kernel and libfuse agreed on, for `status`.
    var transport: ContainerStatus.Transport {
        let features = negotiated.withLock { $0 }
        return .init(passthrough: features.passthrough, ring: features.ring)
    }

    /// Notes on the mount for `status`.
    var notes: [String] {
        transport.passthrough ? [] : ["reads and writes go through the daemon: passthrough needs root and Linux 6.9"]
    }

    // MARK: Names

    func lookup(_ caller: FUSE.Caller, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry {
        // A directory's own `.versions`, from before the mount, is listed and can be removed.
        if name == Browser.name, !Browser.owns(parent),
            let own = try container.lookup(caller.inContainer, parent: parent, name: name)
        {
            return Entry(own)
        }
        if Browser.owns(parent) || name == Browser.name {
            let found = try browser.lookup(caller.inContainer, parent: parent, name: name)
            return found.map { Entry($0) } ?? Entry(missingFor: Browser.missingNameValid)
        }
        let found = try container.lookup(caller.inContainer, parent: parent, name: name)
        return found.map { Entry($0) } ?? Entry(missingFor: LiveContainer.missingNameValid)
    }

    func forget(_ node: NodeID, lookups: UInt64) {
        if let browser = browser(of: node) { return browser.forget(node, lookups: lookups) }
        container.forget(node, lookups: lookups)
    }

    func makeNode(
        _ caller: FUSE.Caller, parent: NodeID, name: [UInt8], mode: mode_t, device: dev_t
    ) throws(Errno) -> Entry {
        try live(parent)
        defer { settle(parent) }
        return Entry(try container.makeNode(caller.inContainer, parent: parent, name: name, mode: mode, device: device))
    }

    func makeDirectory(_ caller: FUSE.Caller, parent: NodeID, name: [UInt8], mode: mode_t) throws(Errno) -> Entry {
        try live(parent)
        defer { settle(parent) }
        return Entry(try container.makeDirectory(caller.inContainer, parent: parent, name: name, mode: mode))
    }

    func makeSymlink(_ caller: FUSE.Caller, parent: NodeID, name: [UInt8], target: [UInt8]) throws(Errno) -> Entry {
        try live(parent)
        defer { settle(parent) }
        return Entry(try container.makeSymlink(caller.inContainer, parent: parent, name: name, target: target))
    }

    func link(_ caller: FUSE.Caller, node: NodeID, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry {
        try live(node, parent)
        defer { settle(parent) }
        return Entry(try container.link(caller.inContainer, node: node, parent: parent, name: name))
    }

    func unlink(_ caller: FUSE.Caller, parent: NodeID, name: [UInt8]) throws(Errno) {
        try live(parent)
        try container.unlink(caller.inContainer, parent: parent, name: name)
        settle(parent)
    }

    func removeDirectory(_ caller: FUSE.Caller, parent: NodeID, name: [UInt8]) throws(Errno) {
        try live(parent)
        try container.removeDirectory(caller.inContainer, parent: parent, name: name)
        settle(parent)
    }

    func rename(
        _ caller: FUSE.Caller, parent: NodeID, name: [UInt8], newParent: NodeID, newName: [UInt8], flags: UInt32
    ) throws(Errno) {
        try container.refuseIfReadOnly()
        if Browser.owns(parent) || Browser.owns(newParent) {
            return try browser.rename(
                caller.inContainer, parent: parent, name: name, newParent: newParent, newName: newName, flags: flags)
        }
        try container.rename(
            caller.inContainer, parent: parent, name: name, newParent: newParent, newName: newName, flags: flags)
        settle(parent, newParent)
    }

    func readLink(_ caller: FUSE.Caller, node: NodeID) throws(Errno) -> [UInt8] {
        if let browser = browser(of: node) { return try browser.readLink(caller.inContainer, node: node) }
        return try container.readLink(caller.inContainer, node: node)
    }

    // MARK: Attributes

    func attributes(_ caller: FUSE.Caller, node: NodeID, handle: Handle?) throws(Errno) -> NodeAttributes {
        if let browser = browser(of: node) {
            return NodeAttributes(try browser.attributes(caller.inContainer, node: node, handle: handle))
        }
        return NodeAttributes(try container.attributes(caller.inContainer, node: node, handle: handle))
    }

    func setAttributes(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle?, _ change: AttributeChange
    ) throws(Errno) -> NodeAttributes {
        try live(node)
        return NodeAttributes(
            try container.setAttributes(caller.inContainer, node: node, handle: handle, AttributeEdit(change)))
    }

    func extendedAttribute(
        _ caller: FUSE.Caller, node: NodeID, name: [UInt8], size: Int
    ) throws(Errno) -> [UInt8] {
        if let browser = browser(of: node) {
            return try browser.extendedAttribute(caller.inContainer, node: node, name: name)
        }
        // The kernel sends this request before a write.
        if size == 0, name == LiveContainer.capability { container.willWriteUnseen(caller.inContainer, node: node) }
        return try container.extendedAttribute(caller.inContainer, node: node, name: name)
    }

    func extendedAttributes(_ caller: FUSE.Caller, node: NodeID) throws(Errno) -> [UInt8] {
        if let browser = browser(of: node) { return try browser.extendedAttributes(caller.inContainer, node: node) }
        return try container.extendedAttributes(caller.inContainer, node: node)
    }

    func setExtendedAttribute(
        _ caller: FUSE.Caller, node: NodeID, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        try live(node)
        try container.setExtendedAttribute(caller.inContainer, node: node, name: name, value: value, flags: flags)
    }

    func removeExtendedAttribute(_ caller: FUSE.Caller, node: NodeID, name: [UInt8]) throws(Errno) {
        try live(node)
        try container.removeExtendedAttribute(caller.inContainer, node: node, name: name)
    }

    // MARK: Files

    func open(
        _ caller: FUSE.Caller, node: NodeID, flags: Int32, deferred: Deferred<Opened>
    ) throws(Errno) -> Opened? {
        if let browser = browser(of: node) {
            return Opened(try browser.open(caller.inContainer, node: node, flags: flags))
        }
        if flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 { try container.refuseIfReadOnly() }
        return try container.open(caller.inContainer, node: node, flags: flags, waiting: ParkedOpen(deferred)).map {
            Opened($0)
        }
    }

    func create(
        _ caller: FUSE.Caller, parent: NodeID, name: [UInt8], mode: mode_t, flags: Int32
    ) throws(Errno) -> Created {
        try live(parent)
        defer { settle(parent) }
        return Created(try container.create(caller.inContainer, parent: parent, name: name, mode: mode, flags: flags))
    }

    func createTemporary(_ caller: FUSE.Caller, parent: NodeID, mode: mode_t, flags: Int32) throws(Errno) -> Created {
        try live(parent)
        return Created(try container.createTemporary(caller.inContainer, parent: parent, mode: mode, flags: flags))
    }

    func read(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int {
        if let browser = browser(of: node) {
            return try browser.read(node: node, handle: handle, into: buffer, offset: offset)
        }
        return try container.read(node: node, handle: handle, into: buffer, offset: offset)
    }

    func write(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, _ bytes: UnsafeRawBufferPointer, offset: off_t,
        flags: Int32
    ) throws(Errno) -> Int {
        try live(node)
        let count = try container.write(
            caller.inContainer, node: node, handle: handle, bytes, offset: offset, flags: flags)
        settleContent(of: node, handle)
        return count
    }

    func flush(_ caller: FUSE.Caller, node: NodeID, handle: Handle, lockOwner: UInt64) throws(Errno) {
        if Browser.owns(node) { return }
        container.flush(caller.inContainer, handle: handle)
    }

    func release(node: NodeID, handle: Handle) {
        if let browser = browser(of: node) { return browser.release(node: node, handle: handle) }
        container.release(node: node, handle: handle)
    }

    func synchronize(_ caller: FUSE.Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno) {
        if Browser.owns(node) { return }
        try container.synchronize(node: node, handle: handle, dataOnly: dataOnly)
    }

    func allocate(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno) {
        try live(node)
        try container.allocate(
            caller.inContainer, node: node, handle: handle, mode: mode, offset: offset, length: length)
    }

    func seek(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, offset: off_t, whence: Int32
    ) throws(Errno) -> off_t {
        if let browser = browser(of: node) {
            return try browser.seek(node: node, handle: handle, offset: offset, whence: whence)
        }
        return try container.seek(node: node, handle: handle, offset: offset, whence: whence)
    }

    func copyRange(
        _ caller: FUSE.Caller, from: FileRange, to: FileRange, length: Int, flags: Int32
    ) throws(Errno) -> Int {
        try live(to.node)
        // The kernel copies from `.versions` by reading.
        if Browser.owns(from.node) { throw .improperLink }
        return try container.copyRange(caller.inContainer, from: .init(from), to: .init(to), length: length)
    }

    // MARK: Directories

    func openDirectory(_ caller: FUSE.Caller, node: NodeID) throws(Errno) -> OpenedDirectory {
        if let browser = browser(of: node) {
            return OpenedDirectory(handle: try browser.openDirectory(caller.inContainer, node: node), flags: [])
        }
        return OpenedDirectory(
            handle: try container.openDirectory(caller.inContainer, node: node),
            flags: container.mayCacheListing(node) ? [.keepCache, .cacheDirectory] : [])
    }

    func list(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, offset: off_t, into listing: inout Listing
    ) throws(Errno) {
        var output = listing
        let plus = listing.wantsAttributes
        defer { listing = output }
        let take = { (item: ListedEntry) -> Bool in
            guard plus else {
                return output.add(name: item.name, node: item.inode, mode: item.type, nextOffset: item.nextOffset)
            }
            let entry = item.found.map { Entry($0) } ?? Entry(dots: item)
            return output.add(name: item.name, entry: entry, nextOffset: item.nextOffset)
        }
        if let browser = browser(of: node) {
            return try browser.list(
                caller.inContainer, node: node, handle: handle, offset: offset, withAttributes: plus, take: take)
        }
        guard offset < Self.behindAll else { return }
        var isFull = false
        try container.list(
            caller.inContainer, node: node, handle: handle, offset: offset, withAttributes: plus
        ) { item in
            isFull = !take(item)
            return !isFull
        }
        guard listsVersions, !isFull, node == LiveContainer.rootNode,
            let entry = browser.rootEntry(withAttributes: plus, nextOffset: Self.behindAll)
        else { return }
        if !take(entry), let found = entry.found { browser.forget(found.node, lookups: 1) }
    }

    func releaseDirectory(node: NodeID, handle: Handle) {
        if let browser = browser(of: node) { return browser.releaseDirectory(node: node, handle: handle) }
        container.releaseDirectory(node: node, handle: handle)
    }

    func synchronizeDirectory(_ caller: FUSE.Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno) {
        if Browser.owns(node) { return }
        try container.synchronizeDirectory(node: node)
    }

    func statistics(_ caller: FUSE.Caller, node: NodeID) throws(Errno) -> statvfs { try container.statistics() }

    func control(
        _ caller: FUSE.Caller, node: NodeID, handle: Handle, command: UInt32, input: UnsafeRawBufferPointer,
        outputSize: Int
    ) throws(Errno) -> [UInt8] {
        guard !Browser.owns(node) else { throw .inappropriateIOCTLForDevice }
        return try container.control(node: node, command: command, input: input, outputSize: outputSize)
    }
}
