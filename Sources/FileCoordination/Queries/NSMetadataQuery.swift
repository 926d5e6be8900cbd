// NSMetadataQuery: the items of a container, once and with later changes, with the names of Apple's Foundation.

import ControlProtocol
import Foundation

/// Finds files and directories by their attributes, and reports new, changed and removed ones.
///
///     let query = NSMetadataQuery()
///     query.searchScopes = [NSMetadataQueryUbiquitousDocumentsScope]
///     query.predicate = try NSMetadataPredicate(parsing: #"name LIKE "*.sicd""#)
///     query.sortDescriptors = [NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: true)]
///     query.start()
///
/// Notifications are posted to `NotificationCenter.default`, as operations of ``operationQueue``:
/// `NSMetadataQueryDidStartGathering`, `NSMetadataQueryGatheringProgress` while the first set comes,
/// `NSMetadataQueryDidFinishGathering`, then `NSMetadataQueryDidUpdate` with the added, changed and removed items.
/// Results change only in those operations, so a handler sees the reported state. Other code calls ``disableUpdates()``
/// and ``enableUpdates()`` around its reads. No change is missed between the first set and the updates, nor while the
/// daemon is away. `docs/apple-differences.md` lists the differences from Apple's class.
open class NSMetadataQuery: NSObject, @unchecked Sendable {
    /// An entry, independent of its scopes.
    struct Key: Hashable, Sendable {
        /// The mount point of its container.
        var root: Path
        var path: Path
    }

    struct Settings {
        var predicate: NSMetadataPredicate?
        var sortDescriptors: [NSSortDescriptor] = []
        var valueListAttributes: [String] = []
        var groupingAttributes: [String]?
        var interval: TimeInterval = 1
        var scopes: [Any] = []
        var queue: OperationQueue?
    }

    struct Run {
        enum Phase { case idle, gathering, live, stopped }

        var phase = Phase.idle
        /// The number of the start: late reports of an earlier start are dropped.
        var number = 0
        var feeds: [MetadataFeed] = []
        var gathered: Set<Int> = []
        /// Entries that may differ from the results.
        var dirty: Set<Key> = []
        var results: [Key: NSMetadataItem] = [:]
        /// The results in order, and the index of each; nil after a change.
        var order: (items: [NSMetadataItem], places: [ObjectIdentifier: Int])?
        var disabled = 0
        /// Work that its queue has not started; one operation for each.
        var turns = Backlog<@Sendable (NSMetadataQuery) -> Void>()
        var isPublishing = false

        var isGathered: Bool { gathered.count >= feeds.count }
    }

    /// Guards the settings. No callback runs under it.
    let settings = Guarded(Settings())
    /// Guards the results. The feeds' entries are read under it.
    let run = Guarded(Run())

    public override init() { super.init() }

    deinit { run.withLock { $0.feeds }.forEach { $0.stop() } }

    // MARK: - Search

    /// The predicate of the results; nil: all items. Takes effect with the next ``start()``.
    open var predicate: NSMetadataPredicate? {
        get { settings.withLock { $0.predicate } }
        set { settings.withLock { $0.predicate = newValue } }
    }

    /// The order of the results; by path if it is empty.
    open var sortDescriptors: [NSSortDescriptor] {
        get { settings.withLock { $0.sortDescriptors } }
        set {
            settings.withLock { $0.sortDescriptors = newValue }
            run.withLock { $0.order = nil }
        }
    }

    /// The scopes of the search: the ubiquitous scopes, which belong to the container that
    /// `FileManager.url(forUbiquityContainerIdentifier:)` returns for nil, and URLs and paths of directories in any
    /// container. Both ubiquitous scopes if it is empty. Other objects are ignored.
    open var searchScopes: [Any] {
        get { settings.withLock { $0.scopes } }
        set { settings.withLock { $0.scopes = newValue } }
    }

    /// Seconds between notifications of one kind. One notification reports all changes in between.
    open var notificationBatchingInterval: TimeInterval {
        get { settings.withLock { $0.interval } }
        set { settings.withLock { $0.interval = newValue } }
    }

    /// The queue of changes and notifications; nil: the main queue.
    open var operationQueue: OperationQueue? {
        get { settings.withLock { $0.queue } }
        set { settings.withLock { $0.queue = newValue } }
    }

    // MARK: - Running

    /// Starts the query, also after ``stop()``.
    /// - Returns: false if it is running.
    @discardableResult
    open func start() -> Bool {
        let number = run.withLock { run -> Int? in
            guard run.phase == .idle || run.phase == .stopped else { return nil }
            let next = run.number + 1
            run = Run(phase: .gathering, number: next, disabled: run.disabled, turns: run.turns)
            return next
        }
        guard let number else { return false }
        let (predicate, scopes) = settings.withLock { ($0.predicate ?? .always(true), $0.scopes) }
        let feeds = MetadataScopes(scopes).directories.enumerated().map { index, scope in
            MetadataFeed(scope.directory, scope.narrowed(predicate)) { [weak self] root, paths, isGathered in
                self?.noted(paths, in: root, isGathered, of: index, run: number)
            }
        }
        let isWanted = run.withLock { run in
            // Another thread may have stopped the query meanwhile.
            guard run.number == number, run.phase == .gathering else { return false }
            run.feeds = feeds
            return true
        }
        guard isWanted else { return true }
        post(.NSMetadataQueryDidStartGathering, run: number)
        feeds.forEach { $0.start() }
        if feeds.isEmpty { publishSoon(run: number, after: 0) }
        return true
    }

    /// Stops the query; the results stay.
    open func stop() {
        let feeds = run.withLock { run -> [MetadataFeed] in
            guard run.phase == .gathering || run.phase == .live else { return [] }
            run.phase = .stopped
            return run.feeds
        }
        feeds.forEach { $0.stop() }
    }

    /// Whether it was started.
    open var isStarted: Bool { run.withLock { $0.phase != .idle } }
    /// Whether the first set is still incomplete.
    open var isGathering: Bool { run.withLock { $0.phase == .gathering } }
    /// Whether it was stopped.
    open var isStopped: Bool { run.withLock { $0.phase == .stopped } }

    /// Keeps the results unchanged until the same number of calls of ``enableUpdates()``.
    open func disableUpdates() { run.withLock { $0.disabled += 1 } }

    /// Lets results change again; one notification reports all changes meanwhile.
    open func enableUpdates() {
        let (number, isDue) = run.withLock { run in
            run.disabled = max(0, run.disabled - 1)
            let isWaiting = !run.dirty.isEmpty || run.phase == .gathering && run.isGathered
            return (run.number, run.disabled == 0 && isWaiting)
        }
        if isDue { publishSoon(run: number, after: 0) }
    }

    // MARK: - Results

    /// The number of results.
    open var resultCount: Int { run.withLock { $0.results.count } }

    /// All results, in order.
    open var results: [Any] { ordered().items }

    /// The result at an index, which must be valid.
    open func result(at index: Int) -> Any { ordered().items[index] }

    /// The index of a result; `NSNotFound` for other objects.
    open func index(ofResult result: Any) -> Int {
        (result as? NSMetadataItem).flatMap { ordered().places[ObjectIdentifier($0)] } ?? NSNotFound
    }

    /// An attribute of the result at an index.
    open func value(ofAttribute attribute: String, forResultAt index: Int) -> Any? {
        let items = ordered().items
        return items.indices.contains(index) ? items[index].value(forAttribute: attribute) : nil
    }

    /// Calls a block for each result, in order, until it sets its last parameter. Results do not change meanwhile.
    open func enumerateResults(_ block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void) {
        enumerateResults(options: [], using: block)
    }

    /// The same, from the last to the first with `reverse`. `concurrent` has no effect.
    open func enumerateResults(
        options: NSEnumerationOptions, using block: (Any, Int, UnsafeMutablePointer<ObjCBool>) -> Void
    ) {
        disableUpdates()
        defer { enableUpdates() }
        let results = Array(ordered().items.enumerated())
        var shallStop = ObjCBool(false)
        for (index, item) in options.contains(.reverse) ? results.reversed() : results where !shallStop.boolValue {
            block(item, index, &shallStop)
        }
    }

    private func ordered() -> (items: [NSMetadataItem], places: [ObjectIdentifier: Int]) {
        let descriptors = settings.withLock { $0.sortDescriptors }
        return run.withLock { run in
            if let order = run.order { return order }
            let items = run.results.values.map { ($0, $0.item.file.bytes) }.sorted { left, right in
                for descriptor in descriptors {
                    let order = descriptor.compare(left.0, to: right.0)
                    if order != .orderedSame { return order == .orderedAscending }
                }
                return left.1.lexicographicallyPrecedes(right.1)
            }.map(\.0)
            let places = Dictionary(
                items.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
            run.order = (items, places)
            return (items, places)
        }
    }

    // MARK: - Notifications

    /// Takes a report of a feed.
    private func noted(_ paths: [Path], in root: Path?, _ isGathered: Bool, of feed: Int, run number: Int) {
        let isDue = run.withLock { run -> (Bool, atOnce: Bool) in
            guard run.number == number, run.phase == .gathering || run.phase == .live else { return (false, false) }
            if let root { for path in paths { run.dirty.insert(Key(root: root, path: path)) } }
            if isGathered { run.gathered.insert(feed) }
            let isComplete = run.phase == .gathering && run.isGathered
            return (isComplete || !run.dirty.isEmpty && !run.isPublishing, isComplete)
        }
        guard isDue.0 else { return }
        publishSoon(run: number, after: isDue.atOnce ? 0 : notificationBatchingInterval)
    }

    private func publishSoon(run number: Int, after interval: TimeInterval) {
        let isWanted = run.withLock { run in
            // A report of an earlier start: no operation would end its publication.
            guard run.number == number else { return false }
            run.isPublishing = true
            return true
        }
        guard isWanted else { return }
        guard interval > 0 else { return enqueue { $0.publish(run: number) } }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in
            self?.enqueue { $0.publish(run: number) }
        }
    }

    private func enqueue(_ body: @escaping @Sendable (NSMetadataQuery) -> Void) {
        run.withLock { $0.turns.append(body) }
        takeTurnLater()
    }

    /// A cancelled operation is added again, behind the operations that wait by then. The order of the work is the
    /// same.
    private func takeTurnLater() {
        let queue = operationQueue ?? OperationQueue.main
        queue.add({ [weak self] in self?.takeTurn() }, ifCancelled: { [weak self] in self?.takeTurnLater() })
    }

    private func takeTurn() { run.withLock { $0.turns.popFirst() }?(self) }

    private func post(_ name: NSNotification.Name, run number: Int) {
        enqueue { query in
            guard query.run.withLock({ $0.number }) == number else { return }
            NotificationCenter.default.post(name: name, object: query)
        }
    }

    /// Takes the reports into the results, and posts the notification.
    private func publish(run number: Int) {
        let told = run.withLock { $0.publish(number) }
        guard let (name, changes) = told else { return }
        NotificationCenter.default.post(name: name, object: self, userInfo: changes.userInfo)
    }
}
