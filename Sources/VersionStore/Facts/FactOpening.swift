// The steps of opening the catalog of facts: its check, the redo log, and where numbers go on.

import Glibc
import Logging
import Synchronization
import SystemPackage
import VersionModel

struct FactOpening {
    static let cleanKey = "clean"
    /// The next number at an orderly end: names that are only in memory have numbers, too.
    static let nextKey = "next"
    static let epochKey = "epoch"
    /// The last number of a fact that may have another identity than the one that derives from it.
    static let formerKey = "former"
    static let spaceKey = "occupied"
    /// Until when the mount before saw each change of the tree, by the clock of its files.
    static let watchedKey = "watched"
    /// A catalog of this size is checked as a whole after a disorderly end.
    private static let checkedSize = 32 << 20
    /// Set from a rebuild until the facts are what the tree has.
    static let rebuiltKey = "rebuilt"
    /// The ids of the container and its device, which the numbers of its files depend on.
    static let idsKey = "ids"

    let catalog: FactCatalog
    let identity: FactStore.Identity
    /// The number of the catalog's last call.
    let applied: UInt64
    /// The first number that nothing has.
    let next: UInt64
    let subjects: SubjectNumbers
    let lastFormer: UInt64

    /// - Parameter container: whose catalog it is; nil in tests that have a catalog alone.
    init(
        _ state: FileDescriptor, _ options: FactStore.Options, of container: ContainerState?
    ) throws(StoreError) {
        if container?.hasFacts ?? false { try Self.finishUpgrade(state, options) }
        let (catalog, isDamaged) = try Self.openCatalog(state, options)
        self.catalog = catalog
        do {
            catalog.connection.settling.withLock { $0 = container?.settling }
            catalog.connection.takeOverCheckpoints()
            // The first opening writes it as its last step.
            let clean = try catalog.meta(Self.cleanKey)
            let isNew = try clean == nil && catalog.access { try FactTables.lastNumber($0) } == 0
            let wasLost = try isNew && !options.readOnly && Self.isLost(isDamaged: isDamaged, container, state)
            if wasLost, let container { try Self.rebuild(catalog, container, options.logger) }
            let wasClean = isNew || clean == [1]
            var applied = try catalog.number(FactCatalog.appliedKey) ?? 0
            if !wasClean, !options.readOnly { applied = try Self.redo(state, catalog, applied, options.logger) }
            self.applied = applied
            let last = try catalog.access { try FactTables.lastNumber($0) }
            let noted = try catalog.number(Self.nextKey) ?? 0
            next = max(noted, min(last, FactNumbers.most) + 1) + (wasClean ? 0 : FactNumbers.skipped)
            let epoch = try Self.epoch(catalog, options)
            if let container, !options.readOnly { try Self.noteIDs(of: container, in: catalog, isNew: isNew) }
            identity = FactStore.Identity(
                epoch: epoch, wasCreated: isNew && !wasLost, wasLost: wasLost, cleanShutdown: wasClean && !isNew,
                isRebuilt: try catalog.meta(Self.rebuiltKey) != nil)
            subjects = try Self.subjects(catalog, options)
            lastFormer = try catalog.number(Self.formerKey) ?? 0
            guard !options.readOnly else { return }
            if isNew { try Self.removeLog(state) }
            try catalog.setMeta(Self.cleanKey, [0])
            // Otherwise a power cut a moment later would leave an apparently orderly end.
            if wasClean { catalog.makeDurable() }
            catalog.noteDurable(next)
            try container?.beginFacts()
        } catch {
            catalog.connection.close()
            throw CatalogConnection.storeError(error)
        }
    }

    // MARK: A lost catalog

    /// An upgrade ends with the format line: the new catalog is complete by then, and may lack its name.
    private static func finishUpgrade(_ state: FileDescriptor, _ options: FactStore.Options) throws(StoreError) {
        do throws(Errno) {
            guard !options.readOnly, try !System.exists(FactCatalog.fileName, in: state),
                try System.exists(Upgrade.temporaryName, in: state)
            else { return }
            try System.rename(Upgrade.temporaryName, in: state, to: FactCatalog.fileName, in: state)
            try System.call { fsync(state.rawValue) }
        } catch { throw .io(error, "naming the new catalog") }
    }

    /// A catalog without facts is a lost one where there were some, or where something is kept that no catalog of
    /// format 1 tells of. It stays so until the rebuild is recorded as a whole.
    private static func isLost(
        isDamaged: Bool, _ container: ContainerState?, _ state: FileDescriptor
    ) throws -> Bool {
        guard !isDamaged, let container else { return isDamaged }
        if container.hasFacts { return true }
        return try container.keepsAny && !System.exists(StoreOpening.catalogName, in: state)
    }

    private static func rebuild(_ catalog: FactCatalog, _ container: ContainerState, _ logger: Logger) throws {
        try container.beginFacts(isLost: true)
        let rebuild = try Rebuild(container, logger)
        try catalog.access { database in
            try CatalogConnection.stage(database) {
                try rebuild.write(database)
                let last = FactCatalog.bytes(of: rebuild.next)
                // Clients with a number of the lost catalog hear that they have missed something.
                for (key, value) in [
                    (epochKey, rebuild.epoch.bytes), (nextKey, FactCatalog.bytes(of: rebuild.next + 1)),
                    (formerKey, last), (FactCatalog.forgottenKey, last), (rebuiltKey, [1]), (cleanKey, [0]),
                ] { try FactCatalog.set("meta", key, value, database) }
            }
            try CatalogConnection.commitStaged(database)
        }
        catalog.makeDurable()
    }

    /// Under other ids each file has another number: no name is where the facts have it until all are compared.
    private static func noteIDs(of container: ContainerState, in catalog: FactCatalog, isNew: Bool) throws {
        let ids = container.identity.container.bytes + container.identity.device.bytes
        let former = try catalog.meta(idsKey)
        if former == ids { return }
        if former != nil, !isNew { try catalog.setMeta(rebuiltKey, [1]) }
        try catalog.setMeta(idsKey, ids)
    }

    private static func epoch(_ catalog: FactCatalog, _ options: FactStore.Options) throws -> ContainerID {
        if let bytes = try catalog.meta(epochKey), let epoch = ContainerID(bytes: bytes) { return epoch }
        let epoch = ContainerID.random()
        if !options.readOnly { try catalog.setMeta(epochKey, epoch.bytes) }
        return epoch
    }

    /// Applies calls that were committed before a kill and are not in the catalog.
    private static func redo(
        _ state: FileDescriptor, _ catalog: FactCatalog, _ applied: UInt64, _ logger: Logger
    ) throws -> UInt64 {
        let (calls, last) = RedoFile<FactTransaction>.calls(in: state, after: applied)
        guard !calls.isEmpty else { return applied }
        _ = try catalog.stage(calls[...], applied: last)
        try catalog.commitStaged()
        // Before a new log is started: from then on only the catalog has these calls.
        catalog.makeDurable()
        logger.notice("brought the catalog up to date after a crash", metadata: ["transactions": "\(calls.count)"])
        return last
    }

    /// The redo log of a catalog that is gone: its transactions alone would be facts without the ones that they name.
    private static func removeLog(_ state: FileDescriptor) throws(StoreError) {
        do throws(Errno) {
            try System.unlink(RedoFile<FactTransaction>.name, in: state)
        } catch .noSuchFileOrDirectory {} catch { throw .io(error, "removing the redo log of another catalog") }
    }

    private static func subjects(_ catalog: FactCatalog, _ options: FactStore.Options) throws -> SubjectNumbers {
        let id = options.boot ?? presentBoot()
        return try catalog.access { database in
            let isKnown = try FactTables.number(ofBoot: id, isGiven: false, database) != 0
            let boot = try FactTables.number(ofBoot: id, isGiven: !options.readOnly, database)
            let place = try FactTables.lastNumber(in: "place", database)
            return SubjectNumbers(
                places: .init(after: place, isComplete: place == 0, limit: SubjectNumbers.limit),
                actors: .init(
                    after: try FactTables.lastNumber(in: "actor", database), isComplete: !isKnown,
                    limit: SubjectNumbers.limit),
                boot: boot)
        }
    }

    /// Where it cannot be read, each opening counts as a boot.
    private static func presentBoot() -> [UInt8] {
        let directory = FileDescriptor(rawValue: AT_FDCWD)
        let text = (try? System.contents(of: "/proc/sys/kernel/random/boot_id", in: directory, limit: 100)) ?? []
        let digits = String(decoding: text.filter { $0 != 45 && $0 != 10 }, as: UTF8.self)
        return (ContainerID(hex: digits) ?? .random()).bytes
    }

    // MARK: The catalog's file

    private static func openCatalog(
        _ state: FileDescriptor, _ options: FactStore.Options
    ) throws(StoreError) -> (FactCatalog, isDamaged: Bool) {
        let path = SQLitePath.path(of: FactCatalog.fileName, in: state)
        let status = try? System.status(FactCatalog.fileName, in: state)
        guard status != nil || !options.readOnly else { throw .notAContainer }
        let isMarked = (try? System.status(StoreOpening.damageMark, in: state)) != nil
        if status == nil || isMarked, !options.readOnly { try setAside(state, stamp: options.clock.now()) }
        do {
            let catalog = try FactCatalog(path: path, readOnly: options.readOnly)
            guard try options.readOnly || isWhole(catalog, Int(status?.st_size ?? 0)) else {
                catalog.connection.close()
                throw SQLFailure(code: 11, message: "integrity check failed")
            }
            return (catalog, isMarked)
        } catch let failure as SQLFailure where failure.isCorruption && !options.readOnly {
            options.logger.error("the catalog is damaged: set aside", metadata: ["error": "\(failure)"])
        } catch { throw CatalogConnection.storeError(error) }
        try setAside(state, stamp: options.clock.now())
        do { return (try FactCatalog(path: path, readOnly: false), true) } catch {
            throw CatalogConnection.storeError(error)
        }
    }

    private static func isWhole(_ catalog: FactCatalog, _ size: Int) throws -> Bool {
        if try catalog.wasCreated || catalog.meta(cleanKey) == [1] || size >= checkedSize { return true }
        return try catalog.damage().isEmpty
    }

    private static func setAside(_ state: FileDescriptor, stamp: Timestamp) throws(StoreError) {
        let name = FactCatalog.fileName
        for suffix in ["", "-wal", "-shm"] {
            do throws(Errno) {
                try System.rename(
                    name + suffix, in: state, to: "\(name).damaged-\(stamp.nanoseconds)\(suffix)", in: state)
            } catch .noSuchFileOrDirectory {} catch { throw .io(error, "moving the damaged catalog aside") }
        }
        try? System.unlink(StoreOpening.damageMark, in: state)
    }
}
