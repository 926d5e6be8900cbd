// The check of a container's facts: follows every reference and reads every kept content, while the container is in
// use.

internal import GRDB
import Lineage
import SystemPackage
import VersionModel

/// One run of the check, for one thread. It reads the catalog in short accesses. A suspected error is looked at again
/// before it is told.
///
/// A repair never removes content: an unknown content gets its version back from its label, or is entered in
/// ``FactStore/lostObjects()``. An object of versions that were given up, and an entry that was purged, are known: a
/// kill may leave them.
public final class FactCheck {
    static let lostKey = "lost-objects"
    /// The number of rows in one access.
    static let portion = 1024
    /// A younger object may be kept already and get its row in a moment.
    private static let settledNanoseconds: Int64 = 5_000_000_000

    let facts: FactStore
    let store: ContainerState
    let history: FactHistory
    let container: any CheckedContainer
    let repairs: Bool
    private let isAtRest: Bool
    private(set) var findings: [Finding] = []
    private var lost: Set<String> = []

    /// - Parameters:
    ///   - store: of the same container: its contents.
    ///   - isAtRest: whether no program uses the container: an object without a row will then not get one in a moment.
    public init(
        _ facts: FactStore, _ store: ContainerState, of container: any CheckedContainer, repairs: Bool, isAtRest: Bool
    ) {
        (self.facts, self.store, self.container) = (facts, store, container)
        (self.repairs, self.isAtRest) = (repairs && !facts.options.readOnly, isAtRest)
        history = FactHistory(facts, of: store)
    }

    /// - Parameter progress: called now and then with the number of checked versions and the total.
    public func run(_ progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }) throws(StoreError) -> [Finding] {
        lost = Set(try facts.lostObjects())
        let known = lost
        try checkCatalog()
        try checkNames()
        try checkVersions()
        try checkContents(progress)
        try checkUnknownObjects()
        try checkEntries()
        try checkUnknownEntries()
        if repairs, lost != known {
            let list = Array(lost.sorted().joined(separator: "\n").utf8)
            var transaction = FactTransaction()
            transaction.changes = [.setting(key: Self.lostKey, value: list)]
            facts.commit(transaction)
        }
        facts.flush()
        return findings
    }

    private func checkCatalog() throws(StoreError) {
        facts.flush()
        let found: [String]
        do { found = try facts.catalog.damage() } catch { throw CatalogConnection.storeError(error) }
        // A check reads the whole catalog in one access; what it finds is there for good.
        for text in found {
            let repair = "rebuild the catalog from labels at the next mount"
            try report(.catalogDamaged, FactCatalog.fileName, text, repair: repair) {
                StoreOpening.markDamaged(store.directory)
            }
        }
    }

    // MARK: Telling

    /// An error that cannot be repaired.
    func report(_ kind: Finding.Kind, _ subject: String, path: TreePath? = nil, _ text: String) {
        findings.append(Finding(kind: kind, subject: subject, path: path, text: text))
    }

    func report(
        _ kind: Finding.Kind, _ subject: String, path: TreePath? = nil, _ text: String, repair: String,
        _ mend: () throws(StoreError) -> Void
    ) throws(StoreError) {
        if repairs { try mend() }
        findings.append(
            Finding(kind: kind, subject: subject, path: path, text: text, repair: repair, isRepaired: repairs))
    }

    /// An entry of `objects/` or `deleted/` stays, and is entered in the list, once.
    func reportLost(
        _ kind: Finding.Kind, _ shelf: String, _ hex: String, path: TreePath? = nil, _ text: String
    ) {
        let name = "\(shelf)/\(hex.prefix(2))/\(hex)"
        guard !lost.contains(name) else { return }
        if repairs { lost.insert(name) }
        findings.append(
            Finding(
                kind: kind, subject: hex, path: path, text: text,
                repair: "keep it and enter it in the list of lost objects", isRepaired: repairs))
    }

    /// The path of a version's document, now or when it had its last name.
    func path(of version: VersionNumber) throws(StoreError) -> TreePath? {
        guard let version = try history.version(version) else { return nil }
        let item = try history.item(version.item)
        if let path = try item.flatMap({ item throws(StoreError) in try history.path(of: item) }) { return path }
        return try history.lastPath(of: version.item)
    }

    /// The identity of a version in hex.
    func hex(_ version: VersionNumber) throws(StoreError) -> String {
        try facts.lists.id(of: version)?.hex ?? "\(version)"
    }

    /// Whether an entry still exists and has existed for a while.
    func isSettled(_ entry: (directory: FileDescriptor, name: String)) -> Bool {
        guard let status = try? System.extendedStatus(entry.name, in: entry.directory) else { return false }
        if isAtRest { return true }
        let age = facts.options.clock.now().since(status.change)
        return age <= -Self.settledNanoseconds || age >= Self.settledNanoseconds
    }

    // MARK: Mending

    /// Records facts about a file. The body makes them, with numbers from the given one on.
    func record(
        aboutFile file: FileID, count: UInt64, _ body: (_ first: UInt64) throws(StoreError) -> FactTransaction
    ) throws(StoreError) {
        try container.alone(with: file) { () throws(StoreError) in
            let first = facts.reserve(count)
            defer { facts.finish(first) }
            let transaction = try body(first)
            container.remember(transaction.facts)
            facts.commit(transaction, from: first, last: first + count - 1)
        }
    }
}

extension FactStore {
    /// Objects and deleted entries of which no fact tells and that could not be recorded. They are kept, and listed
    /// here by their names in the state (`objects/xx/ID`, `deleted/xx/ID`).
    public func lostObjects() throws(StoreError) -> [String] {
        let bytes = try setting(FactCheck.lostKey) ?? []
        return bytes.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }
}
