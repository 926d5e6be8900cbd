// NSMetadataQuery on a mount: gathering, updates, batches, scopes, order, and a daemon that goes and comes back.

import FileCoordination
import Foundation
import Glibc
import Support
import Synchronization
import Testing

/// Runs a query on a queue of its own and keeps what it posts.
private final class Listener: @unchecked Sendable {
    struct Told: Sendable {
        var name: String
        var added: [String]
        var changed: [String]
        var removed: [String]
        /// The results at that moment.
        var results: [String]
    }

    let query = NSMetadataQuery()
    private let condition = NSCondition()
    private var told: [Told] = []
    private var observers: [any NSObjectProtocol] = []

    init(_ scopes: [Any], _ predicate: String = "", interval: TimeInterval = 0.05, descriptors: [NSSortDescriptor] = [])
        throws
    {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        query.operationQueue = queue
        query.searchScopes = scopes
        query.predicate = try NSMetadataPredicate(parsing: predicate)
        query.notificationBatchingInterval = interval
        query.sortDescriptors = descriptors
        let names: [NSNotification.Name] = [
            .NSMetadataQueryDidStartGathering, .NSMetadataQueryGatheringProgress, .NSMetadataQueryDidFinishGathering,
            .NSMetadataQueryDidUpdate,
        ]
        for name in names {
            observers.append(NotificationCenter.default.addObserver(
                forName: name, object: query, queue: nil
            ) { [weak self] note in
                self?.heard(note)
            })
        }
    }

    deinit {
        query.stop()
        observers.forEach { NotificationCenter.default.removeObserver($0) }
    }

    private func heard(_ note: Notification) {
        func names(_ key: String) -> [String] {
            (note.userInfo?[key] as? [NSMetadataItem] ?? []).map { path($0) }.sorted()
        }
        let told = Told(
            name: note.name.rawValue, added: names(NSMetadataQueryUpdateAddedItemsKey),
            changed: names(NSMetadataQueryUpdateChangedItemsKey), removed: names(NSMetadataQueryUpdateRemovedItemsKey),
            results: results)
        condition.lock()
        self.told.append(told)
        condition.broadcast()
        condition.unlock()
    }

    func path(_ item: NSMetadataItem) -> String { item.value(forAttribute: "path") as? String ?? "?" }

    var results: [String] { (query.results as? [NSMetadataItem] ?? []).map { path($0) } }

    var all: [Told] {
        condition.lock()
        defer { condition.unlock() }
        return told
    }

    /// Waits until what was told so far is as wanted.
    @discardableResult
    func wait(_ what: String, _ isWanted: ([Told]) -> Bool) -> [Told] {
        let end = Date(timeIntervalSinceNow: 20)
        condition.lock()
        defer { condition.unlock() }
        while !isWanted(told) {
            guard condition.wait(until: end) else {
                Issue.record(
                    """
                    \(what) did not come: \
                    \(told.map { "\($0.name.dropFirst(15)) \($0.added) \($0.changed) \($0.removed)" })
                    """)
                break
            }
        }
        return told
    }

    /// Waits until it has these, and has been told that it has all: they are there a moment before that.
    func waitForResults(_ paths: [String]) {
        let finished = NSNotification.Name.NSMetadataQueryDidFinishGathering.rawValue
        wait("results \(paths), but \(results)") { told in
            results.sorted() == paths.sorted() && told.contains { $0.name == finished }
        }
    }
}

@Suite("NSMetadataQuery") struct MetadataQueryTests {
    private func withPictures(_ body: (TestContainer) throws -> Void) throws {
        try withContainer(named: "metadata", files: ["a.sicd": "1", "b.txt": "2", "d/c.sicd": "333"]) { container in
            if container.isVersioned { try body(container) }
            return []
        }
    }

    @Test("results are gathered, then kept up to date, and each notification says what it changed")
    func updates() throws {
        try withPictures { container in
            let listener = try Listener([URL(fileURLWithPath: container.path)], "name LIKE \"*.sicd\"")
            #expect(listener.query.start() && !listener.query.start())
            listener.waitForResults(["a.sicd", "d/c.sicd"])
            let names = listener.all.map(\.name)
            #expect(names.first == "NSMetadataQueryDidStartGatheringNotification")
            #expect(names.last == "NSMetadataQueryDidFinishGatheringNotification")
            let first = try #require(listener.query.result(at: 0) as? NSMetadataItem)
            #expect(listener.query.index(ofResult: first) == 0 && listener.query.index(ofResult: "x") == NSNotFound)
            #expect(listener.query.resultCount == 2 && listener.query.isStarted && !listener.query.isStopped)

            try shell("echo more >> a.sicd", in: container.path)
            listener.wait("change") { $0.last?.changed == ["a.sicd"] }
            #expect(first.value(forAttribute: NSMetadataItemFSSizeKey) as? Int == 6)
            try shell("mv d e; echo x > other.sicd; rm a.sicd", in: container.path)
            listener.waitForResults(["e/c.sicd", "other.sicd"])
            let told = listener.all.filter { $0.name.hasSuffix("DidUpdateNotification") }
            #expect(told.flatMap(\.added) == ["other.sicd"] && told.flatMap(\.removed).count == 1)
            #expect(told.flatMap(\.changed).contains("e/c.sicd"))
            #expect(first.value(forAttribute: NSMetadataItemFSNameKey) as? String == "a.sicd")
            // Each handler saw the results as they were told.
            var known: Set<String> = []
            for one in listener.all
            where one.name.hasSuffix("GatheringNotification") || one.name.hasSuffix("ProgressNotification") {
                known.formUnion(one.added)
            }
            #expect(known == ["a.sicd", "d/c.sicd"])
            listener.query.stop()
            try shell("echo x > late.sicd", in: container.path)
            #expect(listener.query.isStopped && listener.results.sorted() == ["e/c.sicd", "other.sicd"])
            // It begins again, from what is there then.
            #expect(listener.query.start())
            listener.waitForResults(["e/c.sicd", "late.sicd", "other.sicd"])
        }
    }

    @Test("a conflict shows in an item's attributes, and goes")
    func conflicts() throws {
        try withPictures { container in
            let key = NSMetadataUbiquitousItemHasUnresolvedConflictsKey
            let listener = try Listener([container.path], "type = file AND conflicts > 0")
            listener.query.start()
            listener.waitForResults([])
            try container.must("simulate", "conflict", "a.sicd")
            listener.waitForResults(["a.sicd"])
            let item = try #require(listener.query.results.first as? NSMetadataItem)
            #expect(item.value(forAttribute: key) as? Bool == true)
            #expect(
                item.value(forAttribute: NSMetadataItemURLKey) as? URL
                    == URL(fileURLWithPath: container.file("a.sicd")))
            let url = try #require(item.value(forAttribute: NSMetadataItemURLKey) as? URL)
            for loser in NSFileVersion.unresolvedConflictVersionsOfItem(at: url) ?? [] { loser.isResolved = true }
            listener.waitForResults([])
            let alone = try #require(NSMetadataItem(url: url))
            #expect(alone.value(forAttribute: key) as? Bool == false)
            // With what the two were made to part from.
            #expect(alone.value(forAttribute: NSMetadataItemVersionCountKey) as? Int == 3)
            #expect(alone.attributes.contains(NSMetadataItemFSContentChangeDateKey))
            #expect(NSMetadataItem(url: URL(fileURLWithPath: container.file("nothing"))) == nil)
        }
    }

    @Test("what changes while updates are disabled comes in one notification once they are enabled as often")
    func disabled() throws {
        try withPictures { container in
            let listener = try Listener([container.path], "name LIKE '*.sicd'")
            listener.query.start()
            listener.waitForResults(["a.sicd", "d/c.sicd"])
            let before = listener.all.count
            listener.query.disableUpdates()
            listener.query.disableUpdates()
            for number in 0..<20 { try shell("echo \(number) > n\(number).sicd", in: container.path) }
            try shell("rm n3.sicd", in: container.path)
            // Another query that is told the same shows that time enough has passed.
            let other = try Listener([container.path], "name LIKE 'n*.sicd' AND NOT name = n3.sicd")
            other.query.start()
            other.wait("19") { _ in other.results.count == 19 }
            listener.query.enableUpdates()
            #expect(listener.results.count == 2 && listener.all.count == before)
            listener.query.enableUpdates()
            let told = listener.wait("all") { $0.count > before }
            #expect(told.count == before + 1 && told[before].added.count == 19 && listener.results.count == 21)
        }
    }

    @Test("changes within the batching interval come together")
    func batches() throws {
        try withPictures { container in
            let listener = try Listener([container.path], "name LIKE 'n*'", interval: 0.7)
            listener.query.start()
            listener.waitForResults([])
            let before = listener.all.count
            for number in 0..<10 { try shell("echo \(number) > n\(number)", in: container.path) }
            listener.wait("ten") { _ in listener.results.count == 10 }
            #expect(listener.all.count - before <= 2)
        }
    }

    @Test("results have the order of the descriptors, and attributes by Apple's keys")
    func order() throws {
        try withPictures { container in
            let listener = try Listener(
                [container.path], "type = file",
                descriptors: [
                    NSSortDescriptor(key: NSMetadataItemFSSizeKey, ascending: false),
                    NSSortDescriptor(key: NSMetadataItemFSNameKey, ascending: false),
                ])
            listener.query.start()
            listener.wait("three") { _ in
                listener.results == ["d/c.sicd", "b.txt", "a.sicd"] && !listener.query.isGathering
            }
            var seen: [String] = []
            listener.query.enumerateResults { item, index, stop in
                seen.append("\(index) \((item as? NSMetadataItem).map { listener.path($0) } ?? "")")
                stop.pointee = ObjCBool(index == 1)
            }
            #expect(seen == ["0 d/c.sicd", "1 b.txt"])
            var places: [Int] = []
            listener.query.enumerateResults(options: .reverse) { _, index, _ in places.append(index) }
            #expect(places == [2, 1, 0])
            #expect(listener.query.value(ofAttribute: NSMetadataItemFSNameKey, forResultAt: 1) as? String == "b.txt")
            #expect(listener.query.value(ofAttribute: NSMetadataItemFSNameKey, forResultAt: 9) == nil)
        }
    }

    @Test("results are listed and grouped by their values")
    func groups() throws {
        try withPictures { container in
            let listener = try Listener(
                [container.path], "type = file",
                descriptors: [NSSortDescriptor(key: NSMetadataItemFSSizeKey, ascending: false)])
            let query = listener.query
            #expect(query.valueLists.isEmpty && query.groupedResults.isEmpty && query.groupingAttributes == nil)
            query.valueListAttributes = [NSMetadataItemFSSizeKey, NSMetadataItemFSCreationDateKey]
            query.groupingAttributes = [NSMetadataItemFSSizeKey, NSMetadataItemFSNameKey]
            query.start()
            listener.waitForResults(["a.sicd", "b.txt", "d/c.sicd"])
            let sizes = try #require(query.valueLists[NSMetadataItemFSSizeKey])
            #expect(sizes.map { $0.value as? Int } == [3, 1] && sizes.map(\.count) == [1, 2])
            #expect(sizes.allSatisfy { $0.attribute == NSMetadataItemFSSizeKey })
            // Nothing has a creation date.
            let dates = try #require(query.valueLists[NSMetadataItemFSCreationDateKey])
            #expect(dates.map(\.count) == [3] && dates[0].value == nil)
            let groups = query.groupedResults
            #expect(groups.map(\.resultCount) == [1, 2] && groups.map { $0.value as? Int } == [3, 1])
            #expect((groups[0].result(at: 0) as? NSMetadataItem).map { listener.path($0) } == "d/c.sicd")
            let names = try #require(groups[1].subgroups)
            #expect(names.map { $0.value as? String } == ["a.sicd", "b.txt"] && names[0].subgroups == nil)
            #expect(names[0].attribute == NSMetadataItemFSNameKey && names[0].results.count == 1)
            try shell("rm b.txt", in: container.path)
            listener.waitForResults(["a.sicd", "d/c.sicd"])
            #expect(query.groupedResults.map(\.resultCount) == [1, 1] && groups[1].resultCount == 2)
        }
    }

    @Test("formats are read as NSPredicate reads them")
    func formats() throws {
        let predicate = try NSMetadataPredicate(format: "%K LIKE %@", NSMetadataItemFSNameKey, "*." + "sicd")
        #expect(predicate == .like(.name, "*.sicd"))
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let other = try NSMetadataPredicate(
            format: "%K > %ld AND %K < %@ AND NOT name = %@", NSMetadataItemFSSizeKey, 10, "modified", date,
            "a \"b\" %")
        #expect("\(other)" == #"size > 10 AND modified < 2023-11-14T22:13:20.000000000Z AND NOT name = "a \"b\" %""#)
        #expect(throws: QuerySyntaxError.self) { try NSMetadataPredicate(format: "%K = %@", "no such key", "x") }
        #expect(throws: QuerySyntaxError.self) { try NSMetadataPredicate(format: "name = %@") }
        #expect(
            try NSMetadataPredicate(format: #"name = "100%" AND size > %d"#, 2)
                == NSMetadataPredicate(parsing: #"name = "100%" AND size > 2"#))
        #expect(
            try NSMetadataPredicate(format: #"name = '%@"' AND size > %@"#, 3)
                == NSMetadataPredicate(parsing: #"name = '%@"' AND size > 3"#))
        #expect(try NSMetadataPredicate(format: "size > %@", 2.0) == NSMetadataPredicate(parsing: "size > 2"))
        // Cut to a whole number it would leave files out.
        let cut = #expect(throws: QuerySyntaxError.self) { try NSMetadataPredicate(format: "size < %@", 2.9) }
        #expect(cut?.localizedDescription == #"at character 8, "%@": 2.9 is no whole number"#)
    }

    @Test("scopes: documents and data of the container, directories, nothing")
    func scopes() throws {
        try withContainer(
            named: "metadata", files: ["Documents/a": "1", "b": "2"], settings: ["scopes.documents": "[\"/Documents\"]"]
        ) {
            container in
            guard container.isVersioned else { return [] }
            setenv(FileManager.ubiquityContainerVariable, container.path, 1)
            defer { unsetenv(FileManager.ubiquityContainerVariable) }
            let rows: [([Any], [String])] = [
                ([NSMetadataQueryUbiquitousDocumentsScope], ["Documents/a"]),
                ([NSMetadataQueryUbiquitousDataScope], ["b"]),
                ([NSMetadataQueryUbiquitousDocumentsScope, NSMetadataQueryUbiquitousDataScope], ["Documents/a", "b"]),
                ([], ["Documents/a", "b"]), ([URL(fileURLWithPath: container.file("Documents"))], ["Documents/a"]),
                ([container.file("Documents"), URL(fileURLWithPath: container.path)], ["Documents/a", "b"]),
                ([NSMetadataQueryUbiquitousDocumentsScope, container.file("Documents")], ["Documents/a"]),
                ([NSMetadataQueryUbiquitousDataScope, container.file("Documents")], ["Documents/a", "b"]),
                ([NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope], []), (["/no/such/directory"], []),
                ([NSMetadataQueryNetworkScope, NSMetadataQueryIndexedNetworkScope], []),
            ]
            for (scopes, expected) in rows {
                let listener = try Listener(scopes, "type = file AND (name = a OR name = b)")
                listener.query.start()
                listener.waitForResults(expected)
                let names = (0..<expected.count).map {
                    listener.query.value(ofAttribute: NSMetadataUbiquitousItemContainerDisplayNameKey, forResultAt: $0)
                        as? String
                }
                let root = URL(fileURLWithPath: container.path).lastPathComponent
                #expect(names.allSatisfy { $0 == root }, "\(names)")
            }
            // Containers of other tests may be mounted, too.
            let everywhere = try Listener([NSMetadataQueryLocalComputerScope], "name = b AND type = file")
            everywhere.query.start()
            everywhere.wait("b") { _ in everywhere.results.contains("b") }
            try overlap(in: container)
            return []
        }
    }

    /// What lies in two scopes is one result, and goes when it lies in neither.
    private func overlap(in container: TestContainer) throws {
        try shell("mkdir Documents/Sub; mv Documents/a Documents/Sub/a", in: container.path)
        let scopes = [NSMetadataQueryUbiquitousDocumentsScope, container.file("Documents/Sub")]
        let listener = try Listener(scopes, "type = file")
        listener.query.start()
        listener.waitForResults(["Documents/Sub/a"])
        try shell("mv Documents/Sub/a Documents/a; echo 2 > Documents/Sub/c", in: container.path)
        listener.waitForResults(["Documents/a", "Documents/Sub/c"])
        try shell("mv Documents/a a; rm Documents/Sub/c", in: container.path)
        listener.waitForResults([])
        #expect(listener.all.flatMap(\.added).count == 2)
    }

    @Test("a query whose queue is cleared tells all the same, then and later")
    func clearedQueue() throws {
        try withPictures { container in
            let listener = try Listener([container.path], "name LIKE '*.sicd'")
            listener.query.start()
            listener.waitForResults(["a.sicd", "d/c.sicd"])
            let queue = try #require(listener.query.operationQueue)
            let (isBusy, goOn) = (Gate(), Gate())
            queue.addOperation {
                isBusy.open()
                goOn.pass()
            }
            isBusy.pass()
            try shell("echo x > new.sicd", in: container.path)
            // Until it is about to tell.
            let deadline = Deadline.after(seconds: 20)
            while queue.operationCount < 2, !deadline.isOver {}
            queue.cancelAllOperations()
            goOn.open()
            listener.waitForResults(["a.sicd", "d/c.sicd", "new.sicd"])
            try shell("rm new.sicd", in: container.path)
            listener.waitForResults(["a.sicd", "d/c.sicd"])
        }
    }

    @Test("a daemon that is killed and comes back: nothing is missed, and nothing told twice")
    func restarted() throws {
        try withPictures { container in
            let listener = try Listener([container.path], "name LIKE '*.sicd'")
            listener.query.start()
            listener.waitForResults(["a.sicd", "d/c.sicd"])
            // It is told behind the results.
            listener.wait("the end of gathering") { $0.last?.name == "NSMetadataQueryDidFinishGatheringNotification" }
            let before = listener.all.count
            try container.kill()
            try container.mount()
            try shell("echo x > new.sicd; rm a.sicd", in: container.path)
            listener.waitForResults(["d/c.sicd", "new.sicd"])
            let told = listener.all[before...]
            #expect(told.flatMap(\.added) == ["new.sicd"] && told.flatMap(\.removed) == ["a.sicd"])
            #expect(!told.contains { $0.name.hasSuffix("GatheringNotification") })
        }
    }
}
