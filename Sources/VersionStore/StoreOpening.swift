// The steps of opening a container: lock, identity, catalog (moved aside and rebuilt if it is lost), recovery.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

struct StoreOpening {
    static let cleanKey = "clean"
    /// Set from a disorderly end until the container has checked its live files (``VersionStore/settled()``).
    static let unsettledKey = "unsettled"
    /// The time of the catalog's last change before that end. Changes by recovery, possibly much later, do not count.
    private static let lastChangeKey = "unsettled-since"
    static let spaceKey = "occupied"
    /// The time of the last orderly close, by the clock of the container's files: later changes were not seen.
    static let closedKey = "closed"
    /// The largest number of events of an epoch; with 13 bits of epochs the numbers are exact in JavaScript, too.
    private static let epochBits: UInt64 = 40
    private static let containerKey = "container"
    private static let catalogName = "catalog.sqlite"
    /// The mark of damage that was noticed while the catalog was in use.
    private static let damageMark = "catalog.damaged"

    let root: FileDescriptor
    let options: VersionStore.Options
    var directory: StateDirectory
    let catalog: Catalog
    let contents: ContentStore
    let deletedArea: DeletedArea
    private(set) var identity: VersionStore.Identity
    private(set) var fileIdentity: FileIdentity
    /// The number of the catalog's last call.
    private(set) var applied: UInt64 = 0
    /// The time of the catalog's last change before a disorderly end; nil if it is unknown.
    private(set) var lastChange: Timestamp?
    /// The time of the orderly close; nil after a disorderly end, for a copy, or if the clock was set back.
    let closed: Timestamp?
    /// The identities before the copy, whose FileIDs are still in the catalog.
    private let previous: FormatLine?

    init(root: FileDescriptor, options: VersionStore.Options) throws(StoreError) {
        self.root = root
        self.options = options
        directory = try StateDirectory(root: root, readOnly: options.readOnly)
        do throws(StoreError) {
            var isNew = directory.wasCreated
            (catalog, isNew) = try Self.openCatalog(directory, options)
            previous = directory.line
            let isCopy = directory.isCopy
            let isLost = isNew && Self.hasState(directory)
            let isFresh = directory.line == nil || isCopy
            let line = FormatLine(
                container: isFresh ? .random() : directory.line?.container ?? .random(),
                device: isFresh ? .random() : directory.line?.device ?? .random(),
                epoch: (directory.line?.epoch ?? 0) + (isFresh || isLost ? 1 : 0), location: directory.location)
            let clean = (try? catalog.meta(Self.cleanKey)) == [1]
            let isUnsettled = !isNew && (!clean || (try? catalog.meta(Self.unsettledKey)) == [1])
            identity = VersionStore.Identity(
                container: line.container, device: line.device, epoch: line.epoch, deviceName: Self.hostName(),
                wasCopied: isCopy, wasCreated: isNew && !isLost, rebuilt: isLost, cleanShutdown: clean,
                isUnsettled: isUnsettled)
            closed = clean && !isCopy ? Self.closing(catalog) : nil
            let rootDevice = try? System.extendedStatus("", in: root).device
            fileIdentity = FileIdentity(container: line.container, rootDevice: rootDevice)
            let settling = Settling(on: directory.staging, readOnly: options.readOnly)
            catalog.connection.settling.withLock { $0 = settling }
            catalog.connection.takeOverCheckpoints()
            let objects = Shelf(
                directory: directory.objects, staging: directory.staging, space: SpaceMeter(), settling: settling)
            contents = ContentStore(shelf: objects, readOnly: options.readOnly)
            deletedArea = DeletedArea(
                shelf: Shelf(
                    directory: directory.deleted, staging: directory.staging, space: SpaceMeter(), settling: settling),
                contents: objects)
            if !options.readOnly, line != directory.line { try directory.write(line) }
        } catch {
            directory.close()
            throw error
        }
    }

    /// Runs the necessary recovery, and notes that the container is open.
    mutating func run() throws(StoreError) {
        do throws(StoreError) { try recover() } catch {
            catalog.close()
            directory.close()
            throw error
        }
    }

    private mutating func recover() throws(StoreError) {
        restoreSpace()
        guard !options.readOnly else { return }
        do {
            if !identity.cleanShutdown, !identity.rebuilt { try redo() }
            if identity.isUnsettled { try noteLastChange() }
            // The lost catalog has its numbers. The feed continues above all possible ones, so that a client with such
            // a number hears of the loss.
            if identity.rebuilt { try catalog.beginFeed(after: (max(1, identity.epoch) - 1) << Self.epochBits) }
            var recovery = Recovery(opening: self)
            applied = number(RedoLog.appliedKey)
            if identity.wasCopied, !identity.rebuilt { try recovery.translateFileIDs() }
            if identity.rebuilt || identity.wasCopied || !identity.cleanShutdown && !identity.wasCreated {
                try recovery.finishRenames()
                if !identity.rebuilt, !identity.wasCopied {
                    recovery = try recovery.relocated(now: options.clock.now())
                }
                try recovery.readLabels()
            } else if !identity.wasCreated {
                try recovery.follow(since: time(Self.closedKey), now: options.clock.now()) {
                    try catalog.setMeta(Self.cleanKey, [0])
                }
            }
            try catalog.setMeta(Self.containerKey, identity.container.bytes)
            if identity.isUnsettled { try catalog.setMeta(Self.unsettledKey, [1]) }
            try catalog.setMeta(Self.cleanKey, [0])
            // Otherwise a power cut a moment later would leave an apparently orderly end.
            if identity.cleanShutdown { catalog.makeDurable() }
        } catch let error as StoreError { throw error } catch let error as Errno {
            throw .io(error, "recovering the container's state")
        } catch let failure as SQLFailure { throw .catalog(code: failure.code, failure.message) } catch {
            throw .catalog(code: 1, "\(error)")
        }
        directory.emptyStaging()
    }

    /// Applies calls that were committed before a kill and are not in the catalog.
    private func redo() throws {
        let (calls, last) = RedoLog.calls(in: directory.state, after: number(RedoLog.appliedKey))
        guard !calls.isEmpty else { return }
        _ = try catalog.stage(calls[...], applied: last)
        try catalog.commitStaged()
        // Before a new log is started: from then on only the catalog has these calls.
        catalog.makeDurable()
        options.logger.notice(
            "brought the catalog up to date after a crash", metadata: ["transactions": "\(calls.count)"])
    }

    /// For an interrupted recovery, the first time counts.
    private mutating func noteLastChange() throws {
        if try catalog.meta(Self.unsettledKey) == [1], let bytes = try catalog.meta(Self.lastChangeKey) {
            var reader = ByteReader(bytes)
            lastChange = try? Timestamp(nanoseconds: reader.signed64())
            return
        }
        lastChange = try catalog.access { try Query.lastChange($0) }?.time
        guard let lastChange else { return }
        var writer = ByteWriter(capacity: 8)
        writer.fixed(lastChange.nanoseconds)
        try catalog.setMeta(Self.lastChangeKey, writer.bytes)
        try catalog.setMeta(Self.unsettledKey, [1])
    }

    private func number(_ key: String) -> UInt64 {
        guard let bytes = try? catalog.access({ try Query.setting(key, $0) }) else { return 0 }
        var reader = ByteReader(bytes)
        return min((try? reader.fixed64()) ?? 0, RedoLog.mostNumber)
    }

    private func time(_ key: String) throws -> Timestamp? {
        guard let bytes = try catalog.meta(key) else { return nil }
        var reader = ByteReader(bytes)
        return try? Timestamp(nanoseconds: reader.signed64())
    }

    private static func closing(_ catalog: Catalog) -> Timestamp? {
        guard let bytes = try? catalog.meta(closedKey) else { return nil }
        var reader = ByteReader(bytes)
        return (try? Timestamp(nanoseconds: reader.signed64())).flatMap { $0 <= SystemClock().now() ? $0 : nil }
    }

    private func restoreSpace() {
        if identity.wasCreated {
            contents.shelf.space.restore(0)
            deletedArea.shelf.space.restore(0)
        }
        guard identity.cleanShutdown, !identity.wasCopied, let bytes = try? catalog.meta(Self.spaceKey) else { return }
        var reader = ByteReader(bytes)
        guard let history = try? reader.signed64(), let deleted = try? reader.signed64() else { return }
        contents.shelf.space.restore(history)
        deletedArea.shelf.space.restore(deleted)
    }

    // MARK: The catalog's file

    private static func openCatalog(
        _ directory: StateDirectory, _ options: VersionStore.Options
    ) throws(StoreError) -> (Catalog, isNew: Bool) {
        let path = SQLitePath.path(of: catalogName, in: directory.state)
        let exists = (try? System.status(catalogName, in: directory.state)) != nil
        let isMarked = (try? System.status(damageMark, in: directory.state)) != nil
        if exists, !isMarked || options.readOnly {
            do {
                let catalog = try Catalog(path: path, readOnly: options.readOnly)
                guard try options.readOnly || isWhole(catalog, directory) else {
                    catalog.close()
                    throw SQLFailure(code: 11, message: "integrity check failed")
                }
                return (catalog, false)
            } catch let failure as SQLFailure where failure.isCorruption && !options.readOnly {
                options.logger.error("the catalog is damaged: set aside", metadata: ["error": "\(failure)"])
            } catch let failure as SQLFailure { throw .catalog(code: failure.code, failure.message) } catch {
                throw .catalog(code: 1, "\(error)")
            }
        }
        guard !options.readOnly else { throw .notAContainer }
        try setAside(directory, stamp: options.clock.now())
        do { return (try Catalog(path: path, readOnly: false), true) } catch let failure as SQLFailure {
            throw .catalog(code: failure.code, failure.message)
        } catch { throw .catalog(code: 1, "\(error)") }
    }

    /// Checks a catalog completely after a disorderly end, if it is small enough for one read.
    private static func isWhole(_ catalog: Catalog, _ directory: StateDirectory) throws -> Bool {
        if try catalog.meta(cleanKey) == [1] { return true }
        guard let status = try? System.status(catalogName, in: directory.state), status.st_size < 32 << 20 else {
            return true
        }
        return try catalog.damage().isEmpty
    }

    private static func setAside(_ directory: StateDirectory, stamp: Timestamp) throws(StoreError) {
        for suffix in ["", "-wal", "-shm"] {
            do throws(Errno) {
                try System.rename(
                    catalogName + suffix, in: directory.state,
                    to: "\(catalogName).damaged-\(stamp.nanoseconds)\(suffix)",
                    in: directory.state)
            } catch .noSuchFileOrDirectory {} catch { throw .io(error, "moving the damaged catalog aside") }
        }
        try? System.unlink(damageMark, in: directory.state)
    }

    static func markDamaged(_ state: FileDescriptor) {
        if let file = try? System.openRegular(damageMark, in: state, O_WRONLY | O_CREAT, mode: 0o600) {
            System.close(file)
        }
    }

    /// Whether there is state that a lost catalog must have known.
    private static func hasState(_ directory: StateDirectory) -> Bool {
        if directory.line != nil { return true }
        return [directory.objects, directory.deleted].contains { !((try? System.names(in: $0)) ?? []).isEmpty }
    }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.prefix { $0 != 46 }
        let letters = bytes.map { byte -> UInt8 in
            switch byte {
            case 48...57, 65...90, 97...122, 45: byte
            default: 45
            }
        }
        return letters.isEmpty ? "device" : String(decoding: letters.prefix(32), as: UTF8.self)
    }
}
