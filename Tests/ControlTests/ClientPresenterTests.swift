// Presenters of the client library whose handlers of news take long: answers do not wait for them, and the order is
// kept.

import ControlProtocol
import Foundation
import Synchronization
import Testing
import VersionModel

@testable import VersionsClient

@Suite("Questions and news of the client library's presenters", .timeLimit(.minutes(1)))
struct ClientPresenterTests {
    private func client(_ service: FakeService) async throws -> VersionsClient {
        try await VersionsClient.connect(
            socket: try UnixSocket.connect(to: Path(service.socket)), program: "test", version: "0.1.0")
    }

    /// Hears of each change as slowly as it is let, and writes down what it is asked and told.
    private final class SlowReader: ItemPresenter {
        private let told: AsyncStream<String>
        private let say: AsyncStream<String>.Continuation
        private let gate: AsyncStream<Void>
        private let letOn: AsyncStream<Void>.Continuation

        init() {
            (told, say) = AsyncStream.makeStream(of: String.self)
            (gate, letOn) = AsyncStream.makeStream(of: Void.self)
        }

        func relinquish(toWriter: Bool, claim: UInt64) async { say.yield("relinquish to \(claim)") }
        func reacquire(claim: UInt64) async { say.yield("reacquire from \(claim)") }
        func save(claim: UInt64) async throws { say.yield("save for \(claim)") }
        func changed(_ change: PresentedChange) async {
            say.yield("begins \(change.event.sequence)")
            for await _ in gate { break }
            say.yield("ends \(change.event.sequence)")
        }

        /// Lets it handle so many changes to their end.
        func handle(_ count: Int) { for _ in 0..<count { letOn.yield() } }

        func next(_ count: Int) async -> [String] {
            var words: [String] = []
            for await word in told {
                words.append(word)
                if words.count == count { break }
            }
            return words
        }
    }

    private let write = [AccessRequest(.writing, Path("a"))]
    private let read = [AccessRequest(.reading, Path("a"))]

    private func changes(_ sequences: ClosedRange<UInt64>) -> [WatchEvent] {
        sequences.map { WatchEvent(sequence: $0, event: .saved, path: Path("a"), time: Samples.noon) }
    }

    @Test(
        "a handler of news that is not done until others have had the item keeps them from nothing: they are answered")
    func slowNews() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let presenter = SlowReader()
        _ = try await one.present(Path("a"), presenter)
        service.backend.record(changes(8...10))
        #expect(await presenter.next(1) == ["begins 8"])
        let reader = try await other.claim(read).claim
        #expect(await presenter.next(2) == ["relinquish to \(reader)", "save for \(reader)"])
        other.release(reader)
        presenter.handle(1)
        #expect(await presenter.next(2) == ["ends 8", "begins 9"])
        // Between two of one piece of the feed, too.
        let writer = try await other.claim(write).claim
        #expect(await presenter.next(1) == ["relinquish to \(writer)"])
        other.release(writer)
        presenter.handle(2)
        // Each change once, in its order; and what was changed before an access was over, before that is told.
        let rest = ["ends 9", "begins 10", "ends 10", "reacquire from \(reader)", "reacquire from \(writer)"]
        #expect(await presenter.next(5) == rest)
    }

    @Test(
        "who has let go again before it could be told of the end of an access hears of that when the later one is over")
    func askedAgain() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let presenter = SlowReader()
        _ = try await one.present(Path("a"), presenter)
        service.backend.record(changes(8...8))
        #expect(await presenter.next(1) == ["begins 8"])
        let first = try await other.claim(write).claim
        other.release(first)
        let second = try await other.claim(write).claim
        #expect(await presenter.next(2) == ["relinquish to \(first)", "relinquish to \(second)"])
        // The first is over, and the second has the item: that is not the presenter's again.
        service.backend.record(changes(9...9))
        presenter.handle(1)
        #expect(await presenter.next(2) == ["ends 8", "begins 9"])
        other.release(second)
        presenter.handle(1)
        #expect(await presenter.next(3) == ["ends 9", "reacquire from \(first)", "reacquire from \(second)"])
    }

    @Test("two presenters that read the item when it has changed do not wait for one another")
    func readingInNews() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let clients = (try await client(service), try await client(service))
        let (done, say) = AsyncStream.makeStream(of: Void.self)
        for client in [clients.0, clients.1] {
            let presentation = Mutex<Presentation?>(nil)
            let presenter = ReaderOfNews {
                let own = presentation.withLock { $0 }
                try await client.coordinate(self.read, for: own) { _ in }
                say.yield()
            }
            let presented = try await client.present(Path("a"), presenter)
            presentation.withLock { $0 = presented }
        }
        service.backend.record(changes(8...8))
        var finished = done.makeAsyncIterator()
        for _ in 0..<2 { await finished.next() }
    }

    private struct ReaderOfNews: ItemPresenter {
        let read: @Sendable () async throws -> Void
        func changed(_ change: PresentedChange) async { try? await read() }
    }

    @Test("a daemon that ends gives a presenter its item back, for each access that was not over, behind the news")
    func daemonEnds() async throws {
        let service = try FakeService()
        let (one, other) = (try await client(service), try await client(service))
        let presenter = SlowReader()
        _ = try await one.present(Path("a"), presenter)
        let first = try await other.claim(read).claim
        let second = try await other.claim(read).claim
        let words = [first, second].flatMap { ["relinquish to \($0)", "save for \($0)"] }
        #expect(await presenter.next(4) == words)
        service.backend.record(changes(8...8))
        #expect(await presenter.next(1) == ["begins 8"])
        service.stop()
        presenter.handle(1)
        #expect(await presenter.next(3) == ["ends 8", "reacquire from \(first)", "reacquire from \(second)"])
    }

    @Test("with no news in between a presenter has its item back before it is asked for it again")
    func quickSuccession() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let presenter = SlowReader()
        _ = try await one.present(Path("a"), presenter)
        for _ in 0..<50 {
            let claim = try await other.claim(write).claim
            other.release(claim)
            let next = try await other.claim(write).claim
            other.release(next)
            let words = [claim, next].flatMap { ["relinquish to \($0)", "reacquire from \($0)"] }
            #expect(await presenter.next(4) == words)
        }
    }
}
