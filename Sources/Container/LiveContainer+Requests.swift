// Requests that other classes answer.

import Glibc
import SystemPackage

extension LiveContainer: ContainerRequests {
    // MARK: Callers

    func requester(_ caller: Caller, isOpening: Bool = false) -> Requester {
        callers.requester(caller, isOpening: isOpening)
    }

    func requester(_ principal: Principal) -> Requester { callers.requester(principal) }
    func learn(_ caller: Caller) { callers.learn(caller) }

    // MARK: Directories

    public func openDirectory(_ caller: Caller, node: UInt64) throws(Errno) -> UInt64 {
        try directoryRequests.open(node)
    }

    public func releaseDirectory(node: UInt64, handle: UInt64) { directoryRequests.release(handle) }

    /// Whether the kernel may keep a directory's listing: every change of it comes through the mount.
    public func mayCacheListing(_ node: UInt64) -> Bool { directoryRequests.mayCacheListing(node) }

    /// Gives entries behind `offset` to `take` until it answers false.
    public func list(
        _ caller: Caller, node: UInt64, handle: UInt64, offset: off_t, withAttributes: Bool,
        take: (ListedEntry) -> Bool
    ) throws(Errno) {
        try directoryRequests.list(handle, offset: offset, withAttributes: withAttributes, take: take)
    }

    public func synchronizeDirectory(node: UInt64) throws(Errno) { try directoryRequests.synchronize(node) }

    // MARK: Metadata

    public static let capability = SetIDRule.capability

    public func attributes(_ caller: Caller, node: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes {
        try metadata.attributes(node, handle: handle)
    }

    func stat(_ node: Node, handle: UInt64? = nil) throws(Errno) -> FileStat {
        try metadata.stat(node, handle: handle)
    }

    /// As ``stat(_:handle:)`` for who holds the name lock already.
    func statLocked(_ node: Node, handle: UInt64? = nil) throws(Errno) -> FileStat {
        try metadata.statLocked(node, handle: handle)
    }

    public func setAttributes(
        _ caller: Caller, node: UInt64, handle: UInt64?, _ edit: AttributeEdit
    ) throws(Errno) -> FileAttributes {
        try metadata.setAttributes(caller, node, handle: handle, edit)
    }

    public func readLink(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8] { try metadata.readLink(node) }

    /// What the file system says of itself, with what we would give up counted as free above the reserve.
    public func statistics() throws(Errno) -> statvfs { try space.counts.statistics() }

    public func extendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno) -> [UInt8] {
        try metadata.extendedAttribute(node, name: name)
    }

    public func extendedAttributes(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8] {
        try metadata.extendedAttributes(caller, node)
    }

    public func setExtendedAttribute(
        _ caller: Caller, node: UInt64, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno) {
        try metadata.setExtendedAttribute(caller, node, name: name, value: value, flags: flags)
    }

    public func removeExtendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno) {
        try metadata.removeExtendedAttribute(caller, node, name: name)
    }

    /// The kernel is about to write to a file with set-id bits by itself.
    public func willWriteUnseen(_ caller: Caller, node: UInt64) { metadata.willWriteUnseen(caller, node) }

    /// ioctl(2), as far as it concerns attributes of files.
    public func control(
        node: UInt64, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8] {
        try metadata.control(node, command: command, input: input, outputSize: outputSize)
    }
}
