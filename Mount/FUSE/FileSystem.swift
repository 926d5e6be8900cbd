// The file system that the driver serves: one requirement per kernel request. Each returns its answer or throws the
// errno. There are no default implementations, so the compiler finds a missing operation.

public import Glibc
public import SystemPackage

/// A file system as the kernel calls it. Calls come from several threads at once. A call may block only on the file
/// system below; an open that has to wait returns `nil` and completes its ``Deferred`` later.
///
/// Each calling thread has its own umask and working directory (CLONE_FS is unshared). So a call that creates a file
/// can set ``Caller/umask`` with umask(2) first. The kernel leaves the umask to the file system, because default ACLs
/// replace it.
public protocol FileSystem: AnyObject, Sendable {
    /// The session has begun. `features` are the negotiated features. `session` is valid until the mount is gone and
    /// has no effect afterwards. The driver serves no request before this call returns, so the call must not use the
    /// mount.
    func started(_ session: any Session, features: Features)

    func lookup(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry
    func forget(_ node: NodeID, lookups: UInt64)
    func attributes(_ caller: Caller, node: NodeID, handle: Handle?) throws(Errno) -> NodeAttributes
    func setAttributes(_ caller: Caller, node: NodeID, handle: Handle?, _ change: AttributeChange) throws(Errno)
        -> NodeAttributes
    func readLink(_ caller: Caller, node: NodeID) throws(Errno) -> [UInt8]
    func makeNode(_ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t, device: dev_t) throws(Errno) -> Entry
    func makeDirectory(_ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t) throws(Errno) -> Entry
    func makeSymlink(_ caller: Caller, parent: NodeID, name: [UInt8], target: [UInt8]) throws(Errno) -> Entry
    func link(_ caller: Caller, node: NodeID, parent: NodeID, name: [UInt8]) throws(Errno) -> Entry
    func unlink(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno)
    func removeDirectory(_ caller: Caller, parent: NodeID, name: [UInt8]) throws(Errno)
    /// `flags` as in renameat2(2).
    func rename(
        _ caller: Caller, parent: NodeID, name: [UInt8], newParent: NodeID, newName: [UInt8], flags: UInt32
    ) throws(Errno)

    /// `flags` as in open(2), including O_TRUNC (truncation precedes the answer). `nil`: the answer comes through
    /// `deferred`.
    func open(_ caller: Caller, node: NodeID, flags: Int32, deferred: Deferred<Opened>) throws(Errno) -> Opened?
    func create(
        _ caller: Caller, parent: NodeID, name: [UInt8], mode: mode_t, flags: Int32
    ) throws(Errno) -> Created
    /// O_TMPFILE: a file without a name in `parent`.
    func createTemporary(_ caller: Caller, parent: NodeID, mode: mode_t, flags: Int32) throws(Errno) -> Created
    func read(_ caller: Caller, node: NodeID, handle: Handle, into buffer: UnsafeMutableRawBufferPointer, offset: off_t)
        throws(Errno) -> Int
    /// `flags`: the current flags of the open file; none for bytes that a program wrote through a mapping.
    func write(
        _ caller: Caller, node: NodeID, handle: Handle, _ bytes: UnsafeRawBufferPointer, offset: off_t, flags: Int32
    ) throws(Errno) -> Int
    func flush(_ caller: Caller, node: NodeID, handle: Handle, lockOwner: UInt64) throws(Errno)
    func release(node: NodeID, handle: Handle)
    func synchronize(_ caller: Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno)
    func allocate(
        _ caller: Caller, node: NodeID, handle: Handle, mode: Int32, offset: off_t, length: off_t
    ) throws(Errno)
    func seek(_ caller: Caller, node: NodeID, handle: Handle, offset: off_t, whence: Int32) throws(Errno) -> off_t
    func copyRange(_ caller: Caller, from: FileRange, to: FileRange, length: Int, flags: Int32) throws(Errno) -> Int

    func openDirectory(_ caller: Caller, node: NodeID) throws(Errno) -> OpenedDirectory
    /// Adds entries behind `offset` until `listing` is full. With `listing.wantsAttributes`, the kernel counts each
    /// added entry as one lookup of its node, except `.` and `..`.
    func list(_ caller: Caller, node: NodeID, handle: Handle, offset: off_t, into listing: inout Listing) throws(Errno)
    func releaseDirectory(node: NodeID, handle: Handle)
    func synchronizeDirectory(_ caller: Caller, node: NodeID, handle: Handle, dataOnly: Bool) throws(Errno)

    func statistics(_ caller: Caller, node: NodeID) throws(Errno) -> statvfs
    /// The value, which may be empty. `size` is the room for it; a size of 0 asks only for the length.
    func extendedAttribute(
        _ caller: Caller, node: NodeID, name: [UInt8], size: Int
    ) throws(Errno) -> [UInt8]
    /// The names, each ended by a NUL.
    func extendedAttributes(_ caller: Caller, node: NodeID) throws(Errno) -> [UInt8]
    func setExtendedAttribute(
        _ caller: Caller, node: NodeID, name: [UInt8], value: UnsafeRawBufferPointer, flags: Int32
    ) throws(Errno)
    func removeExtendedAttribute(_ caller: Caller, node: NodeID, name: [UInt8]) throws(Errno)
    /// ioctl(2) as far as the kernel passes it on (the size and direction of `_IOC` apply); ENOTTY for unknown
    /// commands.
    func control(
        _ caller: Caller, node: NodeID, handle: Handle, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int
    ) throws(Errno) -> [UInt8]
}

/// The number of an inode, chosen by the file system: never 0; the root is 1.
public typealias NodeID = UInt64
/// The number of an open file or directory, chosen by the file system.
public typealias Handle = UInt64

/// The caller of a request: its file-system user and group, its thread (in the daemon's pid namespace; 0 if outside)
/// and its umask.
public struct Caller: Sendable {
    public var user: uid_t
    public var group: gid_t
    public var thread: pid_t
    public var umask: mode_t
    /// In an open that truncates and in a write: the caller may not keep set-id bits, so drop them.
    public var dropsSetID: Bool
    public init(user: uid_t, group: gid_t, thread: pid_t, umask: mode_t = 0, dropsSetID: Bool = false) {
        self.user = user
        self.group = group
        self.thread = thread
        self.umask = umask
        self.dropsSetID = dropsSetID
    }
}

/// Attributes of a node and for how many seconds the kernel may keep them.
public struct NodeAttributes {
    public var stat: stat
    public var valid: Double
    /// The birth time of the file; nil if it is unknown.
    public var born: timespec?
    public init(stat: stat, valid: Double, born: timespec? = nil) {
        self.stat = stat
        self.valid = valid
        self.born = born
    }
}

/// The answer to a lookup. A `node` of 0 says that the name does not exist, for `entryValid` seconds.
public struct Entry {
    public var node: NodeID
    public var generation: UInt64
    public var attributes: NodeAttributes
    public var entryValid: Double
    public init(node: NodeID, generation: UInt64, attributes: NodeAttributes, entryValid: Double) {
        self.node = node
        self.generation = generation
        self.attributes = attributes
        self.entryValid = entryValid
    }
}

/// What SETATTR may change; nil leaves a field as it is.
public struct AttributeChange: Sendable {
    /// A time to set: a given one, or the moment of the request.
    public enum Time: Sendable {
        case now
        case at(timespec)
    }
    public var mode: mode_t?
    public var user: uid_t?
    public var group: gid_t?
    public var size: off_t?
    public var accessed: Time?
    public var modified: Time?
    /// The set-id bits must go: the content or owner changes, and the caller may not keep them.
    public var dropsSetID: Bool
    public init() { dropsSetID = false }
}

/// How an open file is served.
public struct Opened: Sendable {
    public var handle: Handle
    /// FOPEN_* of the kernel's protocol, see ``OpenFlags``.
    public var flags: OpenFlags
    /// The result of ``Session/register(backing:)``, for ``OpenFlags/passthrough``.
    public var backing: Int32
    public init(handle: Handle, flags: OpenFlags = [], backing: Int32 = 0) {
        self.handle = handle
        self.flags = flags
        self.backing = backing
    }
}

/// The answer to CREATE.
public struct Created {
    public var entry: Entry
    public var opened: Opened
    public init(entry: Entry, opened: Opened) {
        self.entry = entry
        self.opened = opened
    }
}

/// FOPEN_* bits (include/uapi/linux/fuse.h).
public struct OpenFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let directIO = OpenFlags(rawValue: 0x01)
    public static let keepCache = OpenFlags(rawValue: 0x02)
    public static let nonSeekable = OpenFlags(rawValue: 0x04)
    public static let cacheDirectory = OpenFlags(rawValue: 0x08)
    public static let noFlush = OpenFlags(rawValue: 0x20)
    public static let parallelDirectWrites = OpenFlags(rawValue: 0x40)
    public static let passthrough = OpenFlags(rawValue: 0x80)
}

/// The answer to OPENDIR.
public struct OpenedDirectory: Sendable {
    public var handle: Handle
    public var flags: OpenFlags
    public init(handle: Handle, flags: OpenFlags) {
        self.handle = handle
        self.flags = flags
    }
}

/// One side of a copy_file_range(2).
public struct FileRange: Sendable {
    public var node: NodeID
    public var handle: Handle
    public var offset: off_t
    public init(node: NodeID, handle: Handle, offset: off_t) {
        self.node = node
        self.handle = handle
        self.offset = offset
    }
}

/// What the kernel and libfuse agreed to.
public struct Features: Sendable, Equatable {
    /// Reads and writes may go to a backing file.
    public var passthrough = false
    /// FUSE over io_uring.
    public var ring = false
    public var parallelDirectoryOperations = false
    public var killPrivileges = false
    public var accessLists = false
    public init() {}
}

/// The services of a session, for any thread that holds no lock that a request needs.
public protocol Session: AnyObject, Sendable {
    /// Registers a regular file for passthrough; the descriptor may be closed afterwards.
    func register(backing descriptor: FileDescriptor) throws(Errno) -> Int32
    /// Gives a registration back.
    func unregister(backing: Int32)
    /// Drops a name in a directory from the kernel's cache.
    func invalidate(entry name: [UInt8], in parent: NodeID)
    /// Drops the kernel's cached attributes, and with `data` the cached content.
    func invalidate(node: NodeID, data: Bool)
    /// Waits until no system call holds a directory's names, so that those that were answered have shown their effect.
    /// A system call that waits for an answer may hold them: never wait without a limit for this.
    func awaitNames(of directory: NodeID)
    /// Reports that a name is gone, so that watchers get an event.
    func deleted(entry name: [UInt8], of node: NodeID, in parent: NodeID)
}
