// The state directory of an open container: its lock, its identity, and the contents that it keeps. Catalogs lie in it.

import CLinux
import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

/// The state of a container, without its history, which a catalog has. Thread-safe.
public final class ContainerState: Sendable {
    /// The options of an opening.
    public struct Options: Sendable {
        public var clock: any WallClock
        public var logger: Logger
        /// Whether nothing is changed: no state is made, nothing is recovered, and commits are dropped.
        public var readOnly: Bool

        public init(
            clock: any WallClock = SystemClock(), logger: Logger = Logger(label: "versionsfs.store"),
            readOnly: Bool = false
        ) {
            self.clock = clock
            self.logger = logger
            self.readOnly = readOnly
        }
    }

    /// Which container it is.
    public struct Identity: Hashable, Sendable {
        public var container: ContainerID
        public var device: VersionModel.DeviceID
        /// Grows with each loss of the catalog.
        public var epoch: UInt64
        /// The host's name, at most 32 letters, digits and `-`.
        public var deviceName: String
        /// Whether the state was made elsewhere; container and device ids are then new.
        public var wasCopied: Bool
    }

    private let found: Identity
    /// The root of the live tree, as given to the opening.
    public let root: FileDescriptor
    /// `.versionsfs`; stays open until ``close()``.
    public let directory: FileDescriptor
    public let contents: ContentStore
    public let deletedArea: DeletedArea
    /// Reserved space for records on a full disk.
    public let ballast: Ballast
    /// Gives the files of this container their ``FileID``.
    public let fileIdentity: FileIdentity
    let options: Options
    /// The contents that must be durable before a catalog.
    let settling: Settling
    /// Innermost; held while the format line is replaced.
    private let opened: Mutex<StateDirectory>
    private let isClosed = Mutex(false)
    /// When the mount has left its place, in nanoseconds; `max`: it has not, as far as is known.
    private let detached = Atomic<Int64>(.max)

    /// Opens the state of `root`, and makes it if it is missing.
    ///
    /// - Parameter root: an open descriptor of the directory, which must stay open as long as the state.
    public convenience init(root: FileDescriptor, options: Options = Options()) throws(StoreError) {
        try self.init(StateOpening(root: root, options: options), isLost: false)
    }

    /// - Parameter isLost: whether the catalog was lost, and a new epoch begins.
    init(_ opening: consuming StateOpening, isLost: Bool) throws(StoreError) {
        let line = try opening.begin(isLost: isLost)
        let opened = opening.directory
        (root, options) = (opening.root, opening.options)
        self.opened = Mutex(opened)
        directory = opened.state
        found = Identity(
            container: line.container, device: line.device, epoch: line.epoch, deviceName: StateOpening.hostName(),
            wasCopied: opening.directory.isCopy(of: opening.previous))
        let rootDevice = try? System.extendedStatus("", in: root).device
        fileIdentity = FileIdentity(container: line.container, rootDevice: rootDevice)
        settling = Settling(on: opened.staging, readOnly: options.readOnly)
        let objects = Shelf(
            directory: opened.objects, staging: opened.staging, space: SpaceMeter(), settling: settling)
        contents = ContentStore(shelf: objects, readOnly: options.readOnly)
        deletedArea = DeletedArea(
            shelf: Shelf(
                directory: opened.deleted, staging: opened.staging, space: SpaceMeter(), settling: settling),
            contents: objects)
        ballast = Ballast(in: opened.state, readOnly: options.readOnly)
    }

    deinit { close() }

    public var identity: Identity {
        var identity = found
        identity.epoch = opened.withLock(\.line)?.epoch ?? identity.epoch
        return identity
    }

    /// Marks, by a lock on `staging`, that this process only writes its last changes, for other processes.
    public func noteEnding() { _ = linux_flock(opened.withLock(\.staging).rawValue, LOCK_SH | LOCK_NB) }

    /// Unlocks the state. Its catalog must be closed. No call may follow; a second call has no effect.
    public func close() {
        let isFirst = isClosed.withLock { closed in
            defer { closed = true }
            return !closed
        }
        guard isFirst else { return }
        contents.close()
        opened.withLock { $0.close() }
    }

    /// Removes the remains of interrupted operations.
    func emptyStaging() { opened.withLock(\.self).emptyStaging() }

    // MARK: Facts

    /// Whether the container has facts, or had some.
    var hasFacts: Bool { opened.withLock(\.line)?.format == .facts }

    /// Whether contents or deleted entries are kept.
    var keepsAny: Bool {
        let opened = opened.withLock(\.self)
        return [opened.objects, opened.deleted].contains { !((try? System.names(in: $0)) ?? []).isEmpty }
    }

    /// From now on the container has facts, durably, and no build opens it that knows none.
    ///
    /// - Parameter isLost: whether the catalog of facts was lost, and a new epoch begins.
    func beginFacts(isLost: Bool = false) throws(StoreError) {
        try opened.withLock { (opened) throws(StoreError) in
            guard !options.readOnly, var line = opened.line, isLost || line.format != .facts else { return }
            line.format = .facts
            if isLost { line.epoch += 1 }
            try opened.write(line)
        }
    }

    // MARK: When the tree is watched

    /// The longest time that Linux keeps written data from the disk, with a margin.
    public static let dirtyNanoseconds: Int64 = 60_000_000_000

    /// Tells that the mount has left its place: from now on the tree below may change unseen, while programs that are
    /// still in the mount keep it at work.
    public func noteDetached() {
        detached.compareExchange(
            expected: .max, desired: SystemClock().now().nanoseconds, ordering: .sequentiallyConsistent)
    }

    /// Until when all changes of the tree were seen, by the clock of its files, if that ends now. A file's clock runs a
    /// tick behind.
    var watchedUntil: Timestamp {
        Timestamp(nanoseconds: min(SystemClock().now().nanoseconds, detached.load(ordering: .sequentiallyConsistent)))
            .advanced(byNanoseconds: -100_000_000)
    }

    // MARK: Space

    /// The state's disk usage.
    public var space: StateSpace {
        let (history, deleted) = (contents.shelf.space.value, deletedArea.shelf.space.value)
        return StateSpace(
            history: history.bytes, deleted: deleted.bytes, isComplete: history.isComplete && deleted.isComplete)
    }

    /// Computes ``space`` again.
    /// - Parameter onlyIfUnknown: whether to do it only for incomplete numbers, as after a disorderly end. The call
    ///   waits for another thread's scan.
    public func rescanSpace(onlyIfUnknown: Bool = false) throws(StoreError) {
        do throws(Errno) {
            try contents.shelf.space.scan(contents.shelf.directory, onlyIfUnknown: onlyIfUnknown)
            try deletedArea.shelf.space.scan(deletedArea.shelf.directory, onlyIfUnknown: onlyIfUnknown)
        } catch { throw .io(error, "adding up the space") }
    }

    /// The sums as a catalog keeps them from an orderly end to the next opening. With unknown numbers, those of an
    /// earlier end are no longer true either.
    var savedSpace: [UInt8] {
        let space = space
        var writer = ByteWriter()
        if space.isComplete {
            writer.fixed(space.history)
            writer.fixed(space.deleted)
        }
        return writer.bytes
    }

    /// A new catalog has kept nothing yet.
    func restoreEmptySpace() {
        contents.shelf.space.restore(0)
        deletedArea.shelf.space.restore(0)
    }

    /// Takes over what ``savedSpace`` was at the orderly end before; nothing without such an end.
    func restoreSpace(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let history = try? reader.signed64(), let deleted = try? reader.signed64() else { return }
        contents.shelf.space.restore(history)
        deletedArea.shelf.space.restore(deleted)
    }
}
