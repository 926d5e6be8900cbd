// What the mount asks of a container.

import Glibc
import SystemPackage

/// The requests of the kernel, by nodes and handles. Each throws the error that the program gets.
public protocol ContainerRequests: AnyObject, Sendable {
    /// - Throws: EROFS if nothing may change.
    func refuseIfReadOnly() throws(Errno)
    /// Tells the container of the mount that serves it.
    func connect(_ kernel: any KernelSide)

    // MARK: Names

    func lookup(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno) -> Found?
    func forget(_ id: UInt64, lookups: UInt64)
    func makeNode(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, device: dev_t) throws(Errno) -> Found
    func makeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t) throws(Errno) -> Found
    func makeSymlink(_ caller: Caller, parent: UInt64, name: [UInt8], target: [UInt8]) throws(Errno) -> Found
    func link(_ caller: Caller, node: UInt64, parent: UInt64, name: [UInt8]) throws(Errno) -> Found
    func unlink(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno)
    func removeDirectory(_ caller: Caller, parent: UInt64, name: [UInt8]) throws(Errno)
    /// `flags` as in renameat2(2).
    func rename(
        _ caller: Caller, parent: UInt64, name: [UInt8], newParent: UInt64, newName: [UInt8], flags: UInt32
    ) throws(Errno)

    // MARK: Attributes

    func readLink(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8]
    func attributes(_ caller: Caller, node: UInt64, handle: UInt64?) throws(Errno) -> FileAttributes
    func setAttributes(
        _ caller: Caller, node: UInt64, handle: UInt64?, _ edit: AttributeEdit
    ) throws(Errno) -> FileAttributes
    func extendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno) -> [UInt8]
    func extendedAttributes(_ caller: Caller, node: UInt64) throws(Errno) -> [UInt8]
    func setExtendedAttribute(
        _ caller: Caller, node: UInt64, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno)
    func removeExtendedAttribute(_ caller: Caller, node: UInt64, name: [UInt8]) throws(Errno)
    /// The kernel is about to write to a file with set-id bits by itself.
    func willWriteUnseen(_ caller: Caller, node: UInt64)
    func statistics() throws(Errno) -> statvfs
    /// ioctl(2), as far as it concerns attributes of files.
    func control(
        node: UInt64, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8]

    // MARK: Files

    /// - Parameter waiting: answers later if the open has to wait; without one it never waits.
    /// - Returns: nil if it waits.
    func open(
        _ caller: Caller, node: UInt64, flags: Int32, waiting: (any WaitingOpen)?
    ) throws(Errno) -> OpenReply?
    func create(_ caller: Caller, parent: UInt64, name: [UInt8], mode: mode_t, flags: Int32) throws(Errno) -> Creation
    func createTemporary(_ caller: Caller, parent: UInt64, mode: mode_t, flags: Int32) throws(Errno) -> Creation
    func read(
        node: UInt64, handle: UInt64, into buffer: UnsafeMutableRawBufferPointer, offset: off_t
    ) throws(Errno) -> Int
    /// - Parameter flags: the open file's as they are by now; nil: as it was opened.
    func write(
        _ caller: Caller, node: UInt64, handle: UInt64, _ bytes: UnsafeRawBufferPointer, offset: off_t, flags: Int32?
    ) throws(Errno) -> Int
    /// close(2) of a descriptor.
    func flush(_ caller: Caller, handle: UInt64)
    /// The last close of an open handle.
    func release(node: UInt64, handle: UInt64)
    func synchronize(node: UInt64, handle: UInt64, dataOnly: Bool) throws(Errno)
    func allocate(
        _ caller: Caller, node: UInt64, handle: UInt64, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno)
    func seek(node: UInt64, handle: UInt64, offset: off_t, whence: Int32) throws(Errno) -> off_t
    func copyRange(_ caller: Caller, from source: CopyEnd, to target: CopyEnd, length: Int) throws(Errno) -> Int

    // MARK: Directories

    func openDirectory(_ caller: Caller, node: UInt64) throws(Errno) -> UInt64
    /// Whether the kernel may keep a directory's listing.
    func mayCacheListing(_ node: UInt64) -> Bool
    /// Gives entries behind `offset` to `take` until it answers false.
    func list(
        _ caller: Caller, node: UInt64, handle: UInt64, offset: off_t, withAttributes: Bool,
        take: (ListedEntry) -> Bool
    ) throws(Errno)
    func releaseDirectory(node: UInt64, handle: UInt64)
    func synchronizeDirectory(node: UInt64) throws(Errno)
}

/// One side of a copy within the mount.
public struct CopyEnd: Sendable {
    public var node: UInt64
    public var handle: UInt64
    public var offset: off_t

    public init(node: UInt64, handle: UInt64, offset: off_t) {
        self.node = node
        self.handle = handle
        self.offset = offset
    }
}
