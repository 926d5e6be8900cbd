// The client library's claims and presenters against a service that coordinates without a container.

import ControlProtocol
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import VersionsClient

@Suite("Claims and presenters of the client library", .timeLimit(.minutes(2)))
struct ClientClaimTests {
    private func client(_ service: FakeService) async throws -> VersionsClient {
        let socket = try UnixSocket.connect(to: Path(service.socket))
        return try await VersionsClient.connect(socket: socket, program: "test", version: "0.1.0")
    }

    /// A presenter that writes down what happens to it, and does what it is told to meanwhile.
    private final class Recorder: ItemPresenter {
        let told: AsyncStream<String>
        private let say: AsyncStream<String>.Continuation
        private let saving: @Sendable () async throws -> Void

        init(saving: @escaping @Sendable () async throws -> Void = {}) {
            (told, say) = AsyncStream.makeStream(of: String.self)
            self.saving = saving
        }

        func relinquish(toWriter: Bool, claim: UInt64) async {
            say.yield("relinquish to \(toWriter ? "writer" : "reader")")
        }
        func reacquire(claim: UInt64) async { say.yield("reacquire") }
        func save(claim: UInt64) async throws {
            say.yield("save")
            try await saving()
        }
        func accommodateDeletion(of path: Path?, claim: UInt64) async throws { say.yield("accommodate") }
        func wasRevoked() async { say.yield("revoked") }

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

    @Test("a presenter relinquishes, saves by a claim of its own, and has its item back when the reader is done")
    func presenting() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let own = Mutex<Presentation?>(nil)
        let presenter = Recorder(saving: {
            let presentation = own.withLock { $0 }
            try await one.coordinate([AccessRequest(.writing, Path("a"))], for: presentation) { _ in }
        })
        let presentation = try await one.present(Path("a"), presenter)
        own.withLock { $0 = presentation }
        #expect(presentation.sequence == 7)
        let seen = try await other.coordinate(read) { paths in paths.map(\.description) }
        #expect(seen == ["a"])
        #expect(await presenter.next(3) == ["relinquish to reader", "save", "reacquire"])
        await presentation.withdraw()
        try await other.coordinate(read) { _ in }
        #expect(try await claimCount(service, one, other) == 0)
    }

    @Test("what a presenter throws fails the claim, and it has its item back all the same")
    func refusing() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let presenter = Recorder(saving: { throw ControlError(.failed, "disk full") })
        _ = try await one.present(Path("a"), presenter)
        let error = await #expect(throws: ControlError.self) { try await other.coordinate(read) { _ in } }
        #expect(error?.code == .refused)
        #expect(await presenter.next(3) == ["relinquish to reader", "save", "reacquire"])
    }

    @Test("a claim in a claim names it: two that take the same two items crosswise are a ring, and the younger fails")
    func nesting() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let (a, b) = ([AccessRequest(.writing, Path("a"))], [AccessRequest(.writing, Path("b"))])
        let (bothHold, say) = AsyncStream.makeStream(of: Void.self)
        let (goOn, tell) = AsyncStream.makeStream(of: Void.self)
        async let first: Void = one.coordinate(a) { _ in
            say.yield()
            for await _ in goOn { break }
            try await one.coordinate(b) { _ in }
        }
        let code = await #expect(throws: ControlError.self) {
            try await other.coordinate(b) { _ in
                for await _ in bothHold { break }
                tell.yield()
                // Whichever of the two comes second closes the ring; it is the younger.
                try await other.coordinate(a) { _ in }
                throw ControlError(.cancelled, "the other one failed")
            }
        }?.code
        let outcome: ControlError.Code?
        do {
            try await first
            outcome = nil
        } catch let error as ControlError {
            outcome = error.code
        }
        #expect([code, outcome].contains(.deadlock))
        #expect(try await claimCount(service, one, other) == 0)
    }

    @Test("a cancelled task gives up waiting and leaves no claim")
    func cancelling() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let held = try await one.claim(write)
        let (asked, say) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            // The daemon names the holder once it has waited.
            try await other.coordinate([AccessRequest(.writing, Path("a"))], heldUp: { _ in say.yield() }) { _ in }
        }
        while service.backend.coordination.claimCount < 2 { await Task.yield() }
        service.backend.coordination.tick(to: 2_000_000_000)
        for await _ in asked { break }
        waiting.cancel()
        let error = await #expect(throws: ControlError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        one.release(held.claim)
        #expect(try await one.claim(write).paths == [Path("a")])
    }

    @Test("a ticket that was cancelled before it was used asks for nothing")
    func cancelledTicket() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let client = try await client(service)
        let ticket = client.newTicket()
        ticket.cancel()
        let answer = Awaited<Result<ClaimRequest.Reply, ControlError>>()
        client.claim(write, ticket) { answer.set($0) }
        await #expect(throws: ControlError(.cancelled, "cancelled")) { try await value(of: answer).get() }
        #expect(service.backend.coordination.claimCount == 0)
    }

    @Test("who holds up a claim is heard of while it waits")
    func heldUp() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let held = try await one.claim(write)
        let (programs, say) = AsyncStream.makeStream(of: String.self)
        let waiting = Awaited<Result<ClaimRequest.Reply, ControlError>>()
        other.claim(read, other.newTicket { say.yield($0.program) }) { waiting.set($0) }
        _ = try await other.claim([AccessRequest(.writing, Path("b"))])
        service.backend.coordination.tick(to: 2_000_000_000)
        var heard = programs.makeAsyncIterator()
        #expect(await heard.next() == "three")
        one.release(held.claim)
        #expect(try await value(of: waiting).get().paths == [Path("a")])
    }

    @Test("what waits hears of the end of its connection, and so do presenters' inboxes")
    func ending() async throws {
        let service = try FakeService()
        let (one, other) = (try await client(service), try await client(service))
        _ = try await one.claim(write)
        let (ends, say) = AsyncStream.makeStream(of: ControlError.Code.self)
        let registered = Awaited<Result<Presentation, ControlError>>()
        let sink = PresenterSink(take: { $0.answer(.success(())) }, ended: { say.yield($0.code) })
        other.present(Path("b"), inbox: { _ in sink }) { registered.set($0) }
        _ = try await value(of: registered).get()
        other.whenEnded { say.yield($0.code) }
        let waiting = Awaited<Result<ClaimRequest.Reply, ControlError>>()
        other.claim(read, other.newTicket()) { waiting.set($0) }
        _ = try await other.claim([AccessRequest(.writing, Path("c"))])
        service.stop()
        let error = await #expect(throws: ControlError.self) { try await value(of: waiting).get() }
        #expect(error?.code == .disconnected)
        var heard = ends.makeAsyncIterator()
        #expect(await heard.next() == .disconnected)
        #expect(await heard.next() == .disconnected)
        other.whenEnded { say.yield($0.code) }
        #expect(await heard.next() == .disconnected)
    }

    @Test("threads that wait for claims need no thread of any pool: fifty of them, and the presenter they wait for")
    func manyThreads() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try await client(service), try await client(service))
        let asked = Mutex<[PresenterMessage]>([])
        let (questions, say) = AsyncStream.makeStream(of: Void.self)
        let sink = PresenterSink(
            take: { message in
                guard case .relinquish = message.content else { return message.answer(.success(())) }
                asked.withLock { $0.append(message) }
                say.yield()
            }, ended: { _ in })
        let registered = Awaited<Result<Presentation, ControlError>>()
        one.present(Path("a"), inbox: { _ in sink }) { registered.set($0) }
        _ = try await value(of: registered).get()
        let (results, done) = AsyncStream.makeStream(of: Bool.self)
        for _ in 0..<50 {
            Thread.detachNewThread {
                let answer = Awaited<Result<ClaimRequest.Reply, ControlError>>()
                other.claim([AccessRequest(.reading, Path("a"))], other.newTicket()) { answer.set($0) }
                let claim = try? answer.wait().get()
                if let claim { other.release(claim.claim) }
                done.yield(claim != nil)
            }
        }
        var heard = questions.makeAsyncIterator()
        for _ in 0..<50 { await heard.next() }
        for message in asked.withLock({ $0 }) { message.answer(.success(())) }
        var granted = 0
        for await result in results {
            granted += result ? 1 : 0
            if granted == 50 || !result { break }
        }
        #expect(granted == 50)
    }

    /// How many claims are left once all that the clients have sent is done.
    private func claimCount(_ service: FakeService, _ clients: VersionsClient...) async throws -> Int {
        for client in clients { _ = try await client.call(StatusRequest()) }
        return service.backend.coordination.claimCount
    }

    /// Waits on a thread that is not Swift's.
    private func value<Value: Sendable>(of awaited: Awaited<Value>) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: awaited.wait()) }
        }
    }
}
