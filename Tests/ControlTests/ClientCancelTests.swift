// A client that gives up: what it had begun is ended at the daemon, which the test is.

import ControlProtocol
import Foundation
import Glibc
import Synchronization
import Testing
import VersionModel
import VersionsClient

/// The daemon's end of a connection: calls in, answers out, as the test wants them.
private final class Daemon: @unchecked Sendable {
    // Sendable because one test uses it, one thing after the other.
    private let peer: RawClient
    let clientSocket: CInt

    init() throws {
        var ends: [CInt] = [-1, -1]
        let result = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends)
        guard result == 0 else { throw ControlError(.system, "no sockets") }
        (peer, clientSocket) = (RawClient(taking: ends[0]), ends[1])
    }

    /// The next call of a method, and its number. Waits on a thread of its own: those of tasks may all be taken.
    func hear(_ method: String) async throws -> (line: [UInt8], id: RequestID) {
        let next = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.peer.line()) }
        }
        let line = try #require(next, "\(method) did not come")
        guard case .request(let id, let named) = try Message(line: line), named == method else {
            throw ControlError(.failed, "not \(method): \(String(decoding: line, as: UTF8.self))")
        }
        return (line, id)
    }

    func say(_ line: [UInt8]) { peer.send(line) }

    /// Says it all before it reads what the client answers, one line to each. Waits on a thread of its own.
    /// - Returns: the answers; fewer if they do not come in time.
    func say(_ lines: [[UInt8]], thenHearEach isAnswer: @escaping @Sendable ([UInt8]) -> Bool) async -> Int {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var limit = timeval(tv_sec: 30, tv_usec: 0)
                setsockopt(self.peer.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
                var count = 0
                if lines.allSatisfy({ self.peer.send($0) }) {
                    while count < lines.count, let line = self.peer.line(), isAnswer(line) { count += 1 }
                }
                continuation.resume(returning: count)
            }
        }
    }

    /// Whether the client has hung up.
    func isAtEnd() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var byte: UInt8 = 0
                continuation.resume(returning: recv(self.peer.socket, &byte, 1, 0) == 0)
            }
        }
    }

    /// A client that has been let in.
    func connect() async throws -> VersionsClient {
        async let client = VersionsClient.connect(socket: clientSocket, program: "test", version: "1")
        let hello = try await hear(Handshake.method)
        let reply = Handshake.Reply(version: "1", container: ContainerID(high: 1, low: 2), mountpoint: nil)
        say(try Wire.line(replying: reply, to: hello.id))
        return try await client
    }
}

/// How often something was told.
private final class Count: Sendable {
    private let number = Mutex(0)
    func add() { number.withLock { $0 += 1 } }
    var value: Int { number.withLock { $0 } }
}

@Suite("Calls that are given up", .timeLimit(.minutes(3))) struct ClientCancelTests {
    @Test("a query of a cancelled task is ended, while it runs or when its number comes; nothing more is told")
    func query() async throws {
        let daemon = try Daemon()
        let client = try await daemon.connect()
        let told = Count()
        for isLate in [false, true] {
            let (pieces, piece) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await client.query(QueryRequest(.path(Path("")), live: true)) { _ in
                    told.add()
                    piece.yield()
                }
            }
            let call = try await daemon.hear(QueryRequest.method)
            let first = QueryResultsNotification(query: 9, items: [], sequence: 7, gathered: true)
            let results = try Wire.line(notifying: first)
            if !isLate {
                daemon.say(try Wire.line(replying: QueryRequest.Reply(query: 9, sequence: 7), to: call.id) + results)
                _ = await pieces.first { _ in true }
            }
            task.cancel()
            await #expect(throws: ControlError.self) { try await task.value }
            if isLate {
                daemon.say(try Wire.line(replying: QueryRequest.Reply(query: 9, sequence: 7), to: call.id) + results)
            }
            let end = try await daemon.hear(EndQueryRequest.method)
            #expect(try Wire.parameters(EndQueryRequest.self, in: end.line).query == 9)
        }
        // What the daemon says next is taken behind those results.
        async let status = client.call(ClaimsRequest())
        daemon.say(try await Wire.line(replying: [ClaimInfo](), to: daemon.hear(ClaimsRequest.method).id))
        #expect(try await status.isEmpty && told.value == 1)
    }

    @Test(
        "a daemon that asks much and reads nothing meanwhile does not keep the client from reading; it gets all answers"
    )
    func unread() async throws {
        let daemon = try Daemon()
        let client = try await daemon.connect()
        // The kernel holds some three hundred of them.
        let questions = try (0..<5_000).map { try Wire.line(calling: ProbeRequest(), id: .number($0)) }
        let answers = await daemon.say(questions) { line in
            if case .reply(.number, nil)? = try? Message(line: line) { true } else { false }
        }
        #expect(answers == questions.count)
        withExtendedLifetime(client) {}
    }

    @Test("a subscription ends with its task, when its number comes late, and when nobody has its stream any more")
    func watch() async throws {
        let daemon = try Daemon()
        let client = try await daemon.connect()
        func answer() async throws {
            let call = try await daemon.hear(WatchRequest.method)
            daemon.say(try Wire.line(replying: WatchRequest.Reply(subscription: 5, sequence: 1), to: call.id))
        }
        func isEnded() async throws -> Bool {
            let call = try await daemon.hear(UnwatchRequest.method)
            return try Wire.parameters(UnwatchRequest.self, in: call.line).subscription == 5
        }
        // Its first event tells that it runs.
        let (events, event) = AsyncStream.makeStream(of: Void.self)
        let running = Task { try await client.watch(.path(Path(""))) { _ in event.yield() } }
        try await answer()
        let news = WatchEvent(sequence: 2, event: .saved, path: Path("a"), time: Samples.noon)
        daemon.say(try Wire.line(notifying: EventsNotification(subscription: 5, events: [news], sequence: 2)))
        _ = await events.first { _ in true }
        running.cancel()
        _ = try? await running.value
        #expect(try await isEnded())
        // Given up before it is answered.
        let late = Task { try await client.events(of: .path(Path(""))) }
        let call = try await daemon.hear(WatchRequest.method)
        late.cancel()
        await #expect(throws: ControlError.self) { _ = try await late.value }
        daemon.say(try Wire.line(replying: WatchRequest.Reply(subscription: 5, sequence: 1), to: call.id))
        #expect(try await isEnded())
        // Let go.
        do {
            async let stream = client.events(of: .path(Path("")))
            try await answer()
            _ = try await stream
        }
        #expect(try await isEnded())
    }

    @Test("who is refused, speaks another protocol or gives up hangs up")
    func refused() async throws {
        for story in ["refused", "other", "cancelled"] {
            let daemon = try Daemon()
            let task = Task {
                _ = try await VersionsClient.connect(socket: daemon.clientSocket, program: "test", version: "1")
            }
            let hello = try await daemon.hear(Handshake.method)
            var reply = Handshake.Reply(version: "1", container: ContainerID(high: 1, low: 2), mountpoint: nil)
            reply.protocolVersion += 1
            switch story {
            case "refused": daemon.say(Wire.line(failing: ControlError(.incompatible, "another one"), to: hello.id))
            case "other": daemon.say(try Wire.line(replying: reply, to: hello.id))
            default: task.cancel()
            }
            await #expect(throws: ControlError.self) { try await task.value }
            #expect(await daemon.isAtEnd(), "\(story)")
        }
    }
}
