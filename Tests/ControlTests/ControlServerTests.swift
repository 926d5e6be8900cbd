// The control socket with real connections: who is calling, order, bounds, watching, and nonsense.

import ControlProtocol
import ControlService
import Foundation
import Glibc
import Logging
import Synchronization
import Testing
import VersionModel

@testable import VersionsClient

@Suite("The control socket", .timeLimit(.minutes(5)))
struct ControlServerTests {
    private func client(_ service: FakeService) async throws -> VersionsClient {
        let socket = try UnixSocket.connect(to: Path(service.socket))
        return try await VersionsClient.connect(socket: socket, program: "test", version: "0.1.0")
    }

    @Test("says who calls, as the kernel knows it")
    func peer() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let client = try await client(service)
        #expect(client.daemon.container == ContainerID(high: 5, low: 6))
        let peer = try #require(service.backend.state.withLock { $0.peers.first })
        #expect(peer.userID == geteuid() && peer.groupID == getegid() && peer.process == getpid())
        #expect(peer.groups.count == Int(getgroups(0, nil)))
    }

    @Test("results and errors arrive typed")
    func results() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let client = try await client(service)
        #expect(try await client.call(StatusRequest()) == Samples.status)
        await #expect(throws: ControlError(
            .invalidValue, "stale-writes cannot be maybe", advice: "keep, merge or refuse")
        ) {
            try await client.call(SetConfigRequest(key: "stale-writes", value: "maybe"))
        }
    }

    @Test("two hundred calls at once are each answered with their own")
    func many() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let client = try await client(service)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let path = Path("file \(number)")
                    let history = try await client.call(HistoryRequest(.path(path)))
                    #expect(history.path == path)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a long call does not hold up a short one, reports progress, and ends when its client goes")
    func long() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let service = try FakeService(FakeBackend { call throws(ControlError) in
            start.yield()
            while !call.isCancelled {
                call.report(done: 1, of: 2, unit: "bytes")
                usleep(1000)
            }
            end.yield()
            try call.checkCancellation()
        })
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":9,"method":"check","params":{"repair":false}}"# + "\n")
        for await _ in started { break }
        #expect(
            raw.text()
                == #"{"jsonrpc":"2.0","method":"progress","params":{"done":1,"request":9,"total":2,"unit":"bytes"}}"#)
        let client = try await client(service)
        #expect(try await client.call(StatusRequest()).items == 12)
        raw.close()
        for await _ in ended { break }
    }

    @Test("a client that shuts its end down still gets its answers, then the end")
    func halfClosed() throws {
        let service = try FakeService()
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"claims"}"# + "\n")
        raw.shutDownWriting()
        #expect(raw.text() == #"{"id":1,"jsonrpc":"2.0","result":[]}"#)
        #expect(raw.text() == nil)
    }

    @Test("a stopped server ends its connections")
    func stopped() async throws {
        let service = try FakeService()
        let client = try await client(service)
        service.stop()
        await #expect(throws: ControlError.self) { try await client.call(StatusRequest()) }
        #expect(access(service.socket, F_OK) != 0)
    }

    @Test("a watcher sees every change once and in order, and resumes by sequence")
    func watch() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let first = (1...100).map { WatchEvent(sequence: $0, event: .saved, path: Path("a/\($0)"), time: Samples.noon) }
        service.backend.record(first)
        let client = try await client(service)
        let events = try await client.events(of: .path(Path("a")), after: 40)
        let backend = service.backend
        let feeding = Task {
            for number in UInt64(101)...2000 {
                let path = number % 2 == 0 ? Path("a/\(number)") : Path("b/\(number)")
                backend.record([WatchEvent(sequence: number, event: .created, path: path, time: Samples.noon)])
            }
        }
        var seen: [UInt64] = []
        for try await event in events {
            seen.append(event.sequence)
            if event.sequence == 2000 { break }
        }
        await feeding.value
        #expect(seen == Array(41...100) + stride(from: 102, through: 2000, by: 2))
    }

    @Test("a subscriber that does not read holds up nobody and misses nothing")
    func slow() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"target":{"path":""},"after":0}}"# + "\n")
        let path = Path(String(repeating: "x", count: 1000))
        for start in stride(from: UInt64(1), to: 20_000, by: 100) {
            service.backend.record((start..<start + 100).map { number in
                WatchEvent(sequence: number, event: .saved, path: path, time: Samples.noon)
            })
        }
        let client = try await client(service)
        #expect(try await client.call(StatusRequest()).items == 12)
        _ = raw.line()
        var next: UInt64 = 1
        while next <= 20_000, let line = raw.line() {
            for event in try Wire.parameters(EventsNotification.self, in: line).events {
                guard event.sequence == next else {
                    Issue.record("\(event.sequence) after \(next - 1)")
                    return
                }
                next += 1
            }
        }
        #expect(next == 20_001)
    }

    @Test("a subscriber from before the feed's beginning is told so")
    func pruned() throws {
        let service = try FakeService()
        defer { service.stop() }
        service.backend.state.withLock { $0.pruned = 10 }
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"target":{"path":""},"after":3}}"# + "\n")
        _ = raw.line()
        let ended = try Wire.parameters(WatchEndedNotification.self, in: try #require(raw.line()))
        #expect(ended.sequence == 3 && ended.reason.contains("begins at 10"))
    }

    @Test("a line over the limit is refused and the next one served")
    func tooLong() throws {
        var limits = ControlServer.Limits()
        limits.lineByteCount = 1000
        let service = try FakeService(limits: limits)
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        raw.send(String(repeating: "x", count: 100_000) + "\n" + #"{"jsonrpc":"2.0","id":1,"method":"claims"}"# + "\n")
        #expect(raw.text()?.contains("a line over 1000 bytes") == true)
        #expect(raw.text() == #"{"id":1,"jsonrpc":"2.0","result":[]}"#)
    }

    @Test("a connection has so many subscriptions and no more; one that is ended makes room")
    func subscriptions() throws {
        var limits = ControlServer.Limits()
        limits.subscriptionCountPerConnection = 2
        let service = try FakeService(limits: limits)
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        func watch(_ id: Int) -> String? {
            raw.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"watch","params":{"target":{"path":""}}}"# + "\n")
            return raw.text()
        }
        for number in 1...3 { #expect(watch(number)?.contains("too many subscriptions") == (number == 3)) }
        raw.send(#"{"jsonrpc":"2.0","id":4,"method":"unwatch","params":{"subscription":1}}"# + "\n")
        #expect(raw.text() == #"{"id":4,"jsonrpc":"2.0","result":{}}"#)
        #expect(watch(5)?.contains("result") == true)
    }

    @Test("who names a change that is not in the feed yet is told that the feed ends before")
    func beyondTheEnd() throws {
        let service = try FakeService()
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"target":{"path":""},"after":999999}}"# + "\n")
        #expect(raw.text()?.contains("the change feed ends before 999999") == true)
    }

    @Test("while a long line is read others are served; its own connection's lines are answered in their order")
    func longLines() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (flooding, other) = (try RawClient(service.socket), try RawClient(service.socket))
        let accesses = Array(
            repeating: #"{"path":"\#(String(repeating: "a/", count: 1000))","mode":"reading"}"#, count: 1500)
        let claim =
            #"{"jsonrpc":"2.0","id":1,"method":"claim","params":{"accesses":["# + accesses.joined(separator: ",")
            + "]}}\n"
        let release = #"{"jsonrpc":"2.0","id":2,"method":"release","params":{"claim":77}}"# + "\n"
        let clock = ContinuousClock()
        let began = clock.now
        flooding.send(claim + release)
        // The last of the bytes are in the daemon, or on their way to it.
        var longest = Duration.zero
        var count = 0
        var hasAnswered = false
        while !hasAnswered {
            longest = max(longest, clock.measure {
                other.send(#"{"jsonrpc":"2.0","id":1,"method":"claims"}"# + "\n")
                #expect(other.text() == #"{"id":1,"jsonrpc":"2.0","result":[]}"#)
            })
            count += 1
            var poll = pollfd(fd: flooding.socket, events: Int16(POLLIN), revents: 0)
            hasAnswered = Glibc.poll(&poll, 1, 0) > 0
        }
        let all = clock.now - began
        #expect(longest < all / 3, "of \(all), \(longest) in one call of another connection, of \(count)")
        let answers = [flooding.text(), flooding.text()]
        #expect(
            answers.contains { $0?.contains(#""id":1"#) ?? false }
                && answers.contains { $0?.contains("no claim 77") ?? false })
    }

    @Test("malformed lines are each answered, nothing crashes and no descriptor is left")
    func malformed() async throws {
        // In a process of its own, where nobody else opens descriptors.
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try sendNonsense()
        }
        if let words = result?.standardErrorContent, !words.isEmpty { print(String(decoding: words, as: UTF8.self)) }
    }
}

/// Lines that are no calls, or calls that do not fit.
struct Nonsense {
    private var state: UInt64
    init(seed: UInt64) { state = seed | 1 }

    private mutating func next() -> UInt64 {
        // xorshift64: anything that a printed seed repeats will do.
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    private mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    private static let calls = [
        #"{"jsonrpc":"2.0","id":1,"method":"history","params":{"target":{"path":"a"}}}"#,
        #"{"jsonrpc":"2.0","id":2,"method":"resolve","params":{"target":{"id":"abcdef"},"keep":"all"}}"#,
        #"""
        {"jsonrpc":"2.0","id":"x","method":"restoreDirectory","params":{"target":{"path":""},\#
        "at":"2026-11-21T10:33:12Z"}}
        """#,
        #"{"jsonrpc":"2.0","id":4,"method":"watch","params":{"target":{"path":"","pathBytes":"/w=="},"after":3}}"#,
        #"{"jsonrpc":"2.0","id":5,"method":"unwatch","params":{"subscription":99999999999999999999}}"#,
        #"{"jsonrpc":"2.0","id":6,"method":"pin","params":{"target":{"path":"\ud800"},"version":"","pinned":1}}"#,
    ]

    mutating func line() -> [UInt8] {
        var line = Array(Self.calls[next(Self.calls.count)].utf8)
        switch next(6) {
        case 0:
            line = (0..<next(200) + 1).map { _ in UInt8(truncatingIfNeeded: next()) }
        case 1:
            line = Array(line.prefix(next(line.count) + 1))
        case 2:
            line = [UInt8](repeating: next(2) == 0 ? 91 : 123, count: next(3000) + 1)
        case 3:
            let at = next(line.count)
            line.insert(contentsOf: (0..<next(8)).map { _ in UInt8(truncatingIfNeeded: next()) }, at: at)
        default:
            for _ in 0...next(4) { line[next(line.count)] = UInt8(truncatingIfNeeded: next()) }
        }
        line = line.filter { $0 != 10 }
        if line.last == 13 { line.removeLast() }
        return line.isEmpty ? [120] : line
    }

    /// Whether JSON-RPC wants an answer: not for notifications and replies.
    func isAnswered(_ line: [UInt8]) -> Bool {
        guard let message = try? Message(line: line) else { return true }
        if case .request = message { return true }
        return false
    }
}

/// Sends malformed lines to a served socket and looks for what they leave behind.
private func sendNonsense() throws {
    let full = getenv("VERSIONSFS_FULL").map { String(cString: $0) == "1" } ?? false
    let count = full ? 100_000 : 10_000
    let seed = UInt64.random(in: 0...UInt64.max)
    FileHandle.standardError.write(Data("malformed lines: seed \(seed)\n".utf8))
    let service = try FakeService()
    defer { service.stop() }
    let before = descriptorCount()
    var nonsense = Nonsense(seed: seed)
    for start in stride(from: 0, to: count, by: 500) {
        let raw = try RawClient(service.socket)
        let lines = (0..<min(500, count - start)).map { _ in nonsense.line() }
        // From another thread: the server reads no faster than its answers are taken.
        let socket = raw.socket
        Thread { lines.forEach { RawClient.send($0 + [10], to: socket) } }.start()
        for line in lines where nonsense.isAnswered(line) {
            guard raw.line() != nil else {
                Issue.record("no answer; seed \(seed), line \(line)")
                return
            }
        }
    }
    // Connections are torn down behind close(2): one served call tells that the server has come so far.
    for _ in 0..<3 {
        let raw = try RawClient(service.socket)
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"claims"}"# + "\n")
        #expect(raw.text() == #"{"id":1,"jsonrpc":"2.0","result":[]}"#)
    }
    #expect(descriptorCount() <= before + 2)
}

private func descriptorCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}
