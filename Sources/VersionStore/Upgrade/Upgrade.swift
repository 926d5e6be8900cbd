// The upgrade of a container of format 1 to schema 2, at the first mount.

internal import GRDB
import Glibc
import Logging
import SystemPackage
import VersionModel

/// Makes the catalog of schema 2 beside the one of format 1.
///
/// | step | what there is after a crash |
/// |---|---|
/// | the new catalog is filled under a name of its own | format 1, and a file that the next attempt removes |
/// | it is compared with format 1 (``UpgradeCheck``), and made durable | the same |
/// | the format line says 2 (``FormatLine``) | schema 2: the next opening gives the new catalog its name |
/// | it gets its name | schema 2, with entries to move |
/// | deleted files become objects (``EntryMoves``) | schema 2; the rest is moved at the next opening |
///
/// Until the format line says 2 nothing of format 1 is changed, and a failure leaves format 1 in use.
public struct Upgrade {
    static let temporaryName = "catalog2.new"
    /// What may lie beside the new catalog.
    private static let suffixes = ["", "-journal", "-wal", "-shm"]

    public enum Step: String, CaseIterable, Sendable {
        case reading, deciding, writing, indexing, checking, synchronizing, naming
    }

    /// How far it is: of a step, so much of so much.
    public typealias Progress = (Step, _ done: Int, _ all: Int) -> Void

    let container: ContainerState
    let state: FileDescriptor
    let catalog: Catalog
    let contents: ContentStore
    let deletedArea: DeletedArea
    let tree: LiveTree
    let clock: any WallClock
    let logger: Logger
    /// Whether live files have not been looked at since a disorderly end: that is left to the mount.
    let isUnsettled: Bool
    /// Called before each step, and now and then while it goes on; for tests, which end it there.
    var interrupt: (Step) throws -> Void = { _ in }

    /// - Parameter store: a container of format 1, which is not changed meanwhile.
    public init(_ store: VersionStore) {
        store.flush()
        (container, state) = (store.base, store.state)
        (catalog, contents, deletedArea) = (store.catalog, store.contents, store.deletedArea)
        tree = LiveTree(root: store.root, identity: store.fileIdentity)
        (clock, logger) = (store.options.clock, store.options.logger)
        isUnsettled = store.identity.isUnsettled
    }

    /// Whether a container has records of format 1, and no catalog of schema 2 yet.
    public static func isNeeded(_ state: ContainerState) throws(StoreError) -> Bool {
        if state.hasFacts { return false }
        do throws(Errno) {
            return try System.exists(FactCatalog.fileName, in: state.directory)
                ? false : System.exists(StoreOpening.catalogName, in: state.directory)
        } catch { throw .io(error, "looking for the catalog") }
    }

    /// Makes the new catalog, compared and durable, under its name.
    ///
    /// - Throws: the cause. Then nothing has changed, and the container stays in format 1.
    @discardableResult
    public func run(_ progress: @escaping Progress = { _, _, _ in }) throws(UpgradeFailure) -> UpgradeCounts {
        var step = Step.reading
        do {
            try requireRoom()
            Self.removeNew(in: state)
            let counts = try make { next, done, all in
                step = next
                try interrupt(next)
                progress(next, done, all)
            }
            logger.notice(
                "made the catalog of schema 2",
                metadata: ["names": "\(counts.names)", "versions": "\(counts.versions)", "lost": "\(counts.lost)"])
            return counts
        } catch {
            let failure = UpgradeFailure(error, during: step)
            // A test that ends it as a kill does leaves all as it is.
            // Nor may the only catalog go once the format line counts on it: the next opening names it.
            if !(error is UpgradeKilled), !container.hasFacts { Self.removeNew(in: state) }
            logger.error("\(failure)")
            throw failure
        }
    }

    private func make(_ tell: @escaping (Step, Int, Int) throws -> Void) throws -> UpgradeCounts {
        try tell(.reading, 0, 0)
        let files = try ContainerFiles(tree, contents, deletedArea)
        let records = try catalog.access { try FormerRecords($0) { try tell(.reading, $0, $1) } }
        try tell(.deciding, 0, 0)
        let last = min(records.lastSequence, Self.mostSequence)
        var facts = FormerFacts(records, files, after: last, now: clock.now())
        try tell(.writing, 0, 0)
        let path = SQLitePath.path(of: Self.temporaryName, in: state)
        try use(NewCatalog(path: path)) { new in
            try fill(new, &facts, tell)
            try tell(.indexing, 0, 0)
            try new.makeIndexes()
        }
        try tell(.checking, 0, 0)
        // What the file has counts, not what memory has of it.
        try use(NewCatalog(path: path, isFilled: true)) { new in
            let check = UpgradeCheck(records, files, new)
            try check.run({ row in try catalog.access { try FormerRecords.version(row: row, $0) } }) {
                try tell(.checking, $0, $1)
            }
        }
        try tell(.synchronizing, 0, 0)
        try synchronize()
        try tell(.naming, 0, 0)
        // A build without facts that came between the two would go on with what is past.
        try System.call { fsync(state.rawValue) }
        try container.beginFacts()
        try tell(.naming, 1, 1)
        try System.rename(Self.temporaryName, in: state, to: FactCatalog.fileName, in: state)
        try System.call { fsync(state.rawValue) }
        return facts.written
    }

    private func use(_ new: NewCatalog, _ body: (NewCatalog) throws -> Void) throws {
        do { try body(new) } catch {
            try? new.close()
            throw error
        }
        try new.close()
    }

    /// Numbers of facts have 48 bits. A feed that has gone on with many epochs has larger ones: then facts begin anew,
    /// and clients with such a number hear that they have missed something.
    private static let mostSequence: UInt64 = 1 << 46

    private func fill(
        _ new: NewCatalog, _ facts: inout FormerFacts, _ tell: (Step, Int, Int) throws -> Void
    ) throws {
        var sink = new
        try new.begin()
        let catalog = catalog
        try facts.write(to: &sink, version: { row in
            try catalog.access { try FormerRecords.version(row: row, $0) }
        }, { try tell(.writing, $0, $1) })
        try new.takeOver(try catalog.access { try FormerRecords.settings($0) })
        let last = facts.next - 1
        var feed = ByteWriter(capacity: 16)
        feed.fixed(facts.records.lastSequence)
        feed.fixed(last)
        var horizon = ByteWriter(capacity: 8)
        horizon.fixed(facts.horizon.nanoseconds)
        try new.set([
            (FactOpening.epochKey, ContainerID.random().bytes), (FactOpening.cleanKey, [isUnsettled ? 0 : 1]),
            (FactOpening.nextKey, FactCatalog.bytes(of: last + 1)),
            (FactOpening.formerKey, FactCatalog.bytes(of: last)), (FactCatalog.appliedKey, FactCatalog.bytes(of: 0)),
            (FactCatalog.forgottenKey, FactCatalog.bytes(of: last)),
            (UpgradeTables.feedKey, feed.bytes), (UpgradeTables.horizonKey, horizon.bytes),
        ])
        try new.commit()
    }

    // MARK: The files

    /// The two catalogs are about as large as one another.
    private func requireRoom() throws {
        let size = (try? System.status("catalog.sqlite", in: state).st_size) ?? 0
        let log = (try? System.status("catalog.sqlite-wal", in: state).st_size) ?? 0
        let wanted = UInt64(clamping: size + log) + 1 << 20
        var system = statvfs()
        try System.call { fstatvfs(state.rawValue, &system) }
        let room = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
        guard room.overflow || room.partialValue >= wanted else {
            throw UpgradeFailure.noRoom(wanted: wanted, room: room.partialValue)
        }
    }

    private func synchronize() throws {
        let file = try System.openRegular(Self.temporaryName, in: state, O_RDWR)
        defer { System.close(file) }
        try System.call { fsync(file.rawValue) }
    }

    /// Removes what an attempt has left, and a redo log of facts that are not in the new catalog.
    private static func removeNew(in state: FileDescriptor) {
        for name in suffixes.map({ temporaryName + $0 }) + suffixes.map({ FactCatalog.fileName + $0 }) {
            try? System.unlink(name, in: state)
        }
        try? System.unlink(RedoFile<FactTransaction>.name, in: state)
    }
}

/// Ends an upgrade as a kill does; for tests.
struct UpgradeKilled: Error {}

/// Why a container stays in format 1.
public enum UpgradeFailure: Error, CustomStringConvertible {
    case noRoom(wanted: UInt64, room: UInt64)
    case failed(String, during: Upgrade.Step)

    init(_ error: any Error, during step: Upgrade.Step) {
        switch error {
        case let failure as UpgradeFailure: self = failure
        case let failure as SQLFailure where failure.code & 0xff == 13: self = .full(step)
        case let failure as DatabaseError where failure.resultCode == .SQLITE_FULL: self = .full(step)
        case let failure as Errno where failure == .noSpace: self = .full(step)
        default: self = .failed("\(error)", during: step)
        }
    }

    private static func full(_ step: Upgrade.Step) -> Self { .failed("the file system is full", during: step) }

    public var description: String {
        switch self {
        case .noRoom(let wanted, let room):
            "the container stays in format 1: the new catalog takes about \(wanted >> 20) MiB, and there are "
                + "\(room >> 20) MiB"
        case .failed(let cause, let step): "the container stays in format 1: \(cause) (\(step.rawValue))"
        }
    }
}
