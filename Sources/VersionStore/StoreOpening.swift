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
    static let catalogName = "catalog.sqlite"
    /// The mark of damage that was noticed while the catalog was in use.
    static let damageMark = "catalog.damaged"

    let base: ContainerState
    let catalog: Catalog
    private(set) var identity: VersionStore.Identity
    /// The number of the catalog's last call.
    private(set) var applied: UInt64 = 0
    /// The time of the catalog's last change before a disorderly end; nil if it is unknown.
    private(set) var lastChange: Timestamp?
    /// The time of the orderly close; nil after a disorderly end, for a copy, or if the clock was set back.
    let closed: Timestamp?
    var options: VersionStore.Options { base.options }

    init(root: FileDescriptor, options: VersionStore.Options) throws(StoreError) {
        let opening = try StateOpening(root: root, options: options)
        try opening.refuseFacts()
        let (catalog, isNew): (Catalog, Bool)
        do throws(StoreError) { (catalog, isNew) = try Self.openCatalog(opening.directory.state, options) } catch {
            opening.directory.close()
            throw error
        }
        let isLost = isNew && opening.hasState
        do throws(StoreError) {
            self.init(try ContainerState(opening, isLost: isLost), catalog, isNew: isNew, isLost: isLost)
        } catch {
            catalog.close()
            throw error
        }
    }

    /// Opens the catalog of a state that is open already, and stays so if it cannot be opened.
    init(over state: ContainerState) throws(StoreError) {
        let (catalog, isNew) = try Self.openCatalog(state.directory, state.options)
        self.init(state, catalog, isNew: isNew, isLost: isNew)
    }

    private init(_ state: ContainerState, _ catalog: Catalog, isNew: Bool, isLost: Bool) {
        (base, self.catalog) = (state, catalog)
        let clean = (try? catalog.meta(Self.cleanKey)) == [1]
        let isUnsettled = !isNew && (!clean || (try? catalog.meta(Self.unsettledKey)) == [1])
        identity = VersionStore.Identity(
            base.identity, wasCreated: isNew && !isLost, rebuilt: isLost, cleanShutdown: clean,
            isUnsettled: isUnsettled)
        closed = clean && !base.identity.wasCopied ? Self.closing(catalog) : nil
        catalog.connection.settling.withLock { $0 = base.settling }
        catalog.connection.takeOverCheckpoints()
    }

    /// Runs the necessary recovery, and notes that the container is open. A failure closes the catalog.
    mutating func run() throws(StoreError) {
        do throws(StoreError) { try recover() } catch {
            catalog.close()
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
        base.emptyStaging()
    }

    /// Applies calls that were committed before a kill and are not in the catalog.
    private func redo() throws {
        let (calls, last) = RedoLog.calls(in: base.directory, after: number(RedoLog.appliedKey))
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
        if identity.wasCreated { base.restoreEmptySpace() }
        guard identity.cleanShutdown, !identity.wasCopied, let bytes = try? catalog.meta(Self.spaceKey) else { return }
        base.restoreSpace(bytes)
    }

    // MARK: The catalog's file

    private static func openCatalog(
        _ directory: FileDescriptor, _ options: VersionStore.Options
    ) throws(StoreError) -> (Catalog, isNew: Bool) {
        let path = SQLitePath.path(of: catalogName, in: directory)
        let exists = (try? System.status(catalogName, in: directory)) != nil
        let isMarked = (try? System.status(damageMark, in: directory)) != nil
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
    private static func isWhole(_ catalog: Catalog, _ directory: FileDescriptor) throws -> Bool {
        if try catalog.meta(cleanKey) == [1] { return true }
        guard let status = try? System.status(catalogName, in: directory), status.st_size < 32 << 20 else {
            return true
        }
        return try catalog.damage().isEmpty
    }

    private static func setAside(_ directory: FileDescriptor, stamp: Timestamp) throws(StoreError) {
        for suffix in ["", "-wal", "-shm"] {
            do throws(Errno) {
                try System.rename(
                    catalogName + suffix, in: directory,
                    to: "\(catalogName).damaged-\(stamp.nanoseconds)\(suffix)",
                    in: directory)
            } catch .noSuchFileOrDirectory {} catch { throw .io(error, "moving the damaged catalog aside") }
        }
        try? System.unlink(damageMark, in: directory)
    }

    static func markDamaged(_ state: FileDescriptor) {
        if let file = try? System.openRegular(damageMark, in: state, O_WRONLY | O_CREAT, mode: 0o600) {
            System.close(file)
        }
    }
}
