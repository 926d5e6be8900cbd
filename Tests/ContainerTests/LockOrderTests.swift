// The order of docs/locks.md is checked in builds for tests: a lock that is taken out of it ends the process.

import Foundation
import Support
import Testing
import VersionModel

@testable import Container

@Suite struct LockOrderTests {
    /// The end that a wrong order has: both locks and where they were taken.
    private func report(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("a lock that is taken under a later one ends the process, and both are named")
    func wrongOrder() async throws {
        try Data().write(to: URL(filePath: Self.reports))
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            setenv("VERSIONSFS_LOCK_REPORTS", Self.reports, 1)
            Self.lockDocumentLast()
        }
        let report = report(result)
        let place = "taken at ContainerTests/LockOrderTests.swift:\(Self.line)"
        #expect(report.contains("Swift.String (rank document), \(place), is taken under"))
        #expect(report.contains("is taken under Swift.Int (rank nodes), \(place)"))
        // The file that a run of tests has for it says the same.
        let line = try String(contentsOfFile: Self.reports, encoding: .utf8)
        #expect(line.hasSuffix("see docs/locks.md for the order\n"))
        #expect(report.contains(line))
    }

    private static func lockDocumentLast() {
        let nodes = RankedMutex(1, .nodes)
        let document = RankedMutex("", .document)
        nodes.withLock { _ in document.withLock { _ in } }
    }
    private static let line = #line - 2
    private static let reports = Workplace.root + "/reports-of-LockOrderTests"

    @Test("no thread takes two of the same rank at once")
    func twoTables() async {
        await #expect(processExitsWith: .failure) {
            let lock = RankedMutex(())
            let tombstones = Tombstones()
            lock.withLock { _ in _ = tombstones.document(of: .random()) }
        }
    }

    @Test("two documents are locked at once only while the names are held alone", arguments: [true, false])
    func twoDocuments(isAlone: Bool) async {
        if isAlone {
            await #expect(processExitsWith: .success) { Self.lockTwo { names, body in names.writing { _ in body() } } }
        } else {
            await #expect(processExitsWith: .failure) { Self.lockTwo { names, body in names.reading(body) } }
        }
    }

    private static func lockTwo(_ holding: (ReadWriteLock, () -> Void) -> Void) {
        let documents = [Document(.init(item: .random(), places: [])), Document(.init(item: .random(), places: []))]
        holding(ReadWriteLock()) { documents[0].state.withLock { _ in documents[1].state.withLock { _ in } } }
    }

    @Test("names are not locked again by a thread that has them, and not under a document")
    func namesLast() async {
        await #expect(processExitsWith: .failure) {
            let names = ReadWriteLock()
            names.reading { names.reading {} }
        }
        await #expect(processExitsWith: .failure) {
            let (names, document) = (ReadWriteLock(), Document(.init(item: .random(), places: [])))
            document.state.withLock { _ in names.reading {} }
        }
    }

    @Test("what is let go is held no more, and what is tried or excepted has no order")
    func rightOrder() {
        let (names, document) = (ReadWriteLock(), Document(.init(item: .random(), places: [])))
        let index = RankedMutex(0, .index)
        for _ in 0..<2 { names.writing { _ in document.state.withLock { _ in index.withLock { $0 += 1 } } } }
        index.withLock { _ in
            #expect(document.state.withLockIfAvailable { _ in true } == true)
            document.state.withLock(outOfOrder: Document.unreferenced) { _ in }
        }
        names.reading {}
    }
}
