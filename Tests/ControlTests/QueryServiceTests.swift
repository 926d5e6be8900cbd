// Queries over the socket: pieces as fast as they are taken, then what changes; ends and refusals.

import ControlProtocol
import ControlService
import Foundation
import Synchronization
import Testing
import VersionModel
import VersionsClient

@testable import versionsctl

@Suite("Queries")
struct QueryServiceTests {
    private func item(_ number: Int, name: String = "x") -> QueryItem {
        QueryItem(
            id: "\(number)", path: Path("\(name)\(number)"), type: .file, size: 10, modified: Samples.noon,
            file: Path("/mnt/\(name)\(number)"))
    }

    private func client(_ service: FakeService) async throws -> VersionsClient {
        let place = ContainerPlace(root: Path("/mnt"), path: Path(""), state: .mounted(socket: Path(service.socket)))
        return try await VersionsClient.connect(to: place, program: "test", version: "0.1.0")
    }

    @Test("a query gives all its pieces and is over")
    func once() async throws {
        let service = try FakeService()
        defer { service.stop() }
        service.backend.tell((0..<100).map { number in
            let last = number == 99
            return QueryPage(
                items: (0..<50).map { item(number * 50 + $0) }, sequence: last ? 7 : nil, isGathered: last)
        })
        let client = try await client(service)
        let found = try await client.items(of: .path(Path("")), where: "name LIKE \"x*\"")
        #expect(Set(found.map(\.id)).count == 5000)
        let request = service.backend.fakeQuery.state.withLock { $0.requests.first }
        #expect(request == nil ? false : request?.predicate == "name LIKE \"x*\"" && request?.live == nil)
        // It is not asked again.
        service.backend.tell([QueryPage(items: [item(1)], sequence: 9)])
        #expect(try await client.call(StatusRequest()).items == 12)
        #expect(service.backend.fakeQuery.state.withLock { $0.asked } == 100)
    }

    @Test("a live query goes on with what changes, until it is ended")
    func live() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let (pieces, continuation) = AsyncStream.makeStream(of: QueryResultsNotification.self)
        let client = try await client(service)
        let number = Mutex<UInt64?>(nil)
        service.backend.tell([QueryPage(items: [item(1)], sequence: 7, isGathered: true)])
        client.query(
            QueryRequest(.path(Path("")), live: true), results: { continuation.yield($0) },
            ended: { _ in continuation.finish() },
            then: { if case .success(let reply) = $0 { Self.set(number, reply.query) } })
        var results = QueryResults()
        var seen: [UInt64?] = []
        for await piece in pieces {
            seen.append(results.take(piece)?.sequence)
            if seen.count == 1 {
                service.backend.tell([
                    QueryPage(items: [item(2)], gone: [Path("x1")]), QueryPage(items: [item(3)], sequence: 9),
                    QueryPage(sequence: 12), QueryPage(unmatched: [Path("x2")], sequence: 14),
                ])
            }
            if seen.last == 14 { break }
        }
        // Steps that change nothing are not sent.
        #expect(seen == [7, nil, 9, 14])
        #expect(results.items.map(\.id) == ["3"])
        client.endQuery(try #require(number.withLock { $0 }))
        #expect(try await client.call(StatusRequest()).items == 12)
        let asked = service.backend.fakeQuery.state.withLock { $0.asked }
        service.backend.tell([QueryPage(items: [item(4)], sequence: 20)])
        #expect(try await client.call(StatusRequest()).items == 12)
        #expect(service.backend.fakeQuery.state.withLock { $0.asked } == asked)
    }

    private static func set(_ number: borrowing Mutex<UInt64?>, _ value: UInt64) { number.withLock { $0 = value } }

    @Test("a client that does not read is asked nothing more about, holds up nobody, and gets all in the end")
    func slow() async throws {
        let service = try FakeService()
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        let long = String(repeating: "y", count: 1000)
        service.backend.tell((0..<500).map { number in
            QueryPage(
                items: (0..<20).map { item(number * 20 + $0, name: long) }, sequence: number == 499 ? 7 : nil,
                isGathered: number == 499)
        })
        raw.send(#"{"jsonrpc":"2.0","id":1,"method":"query","params":{"target":{"path":""},"live":true}}"# + "\n")
        let client = try await client(service)
        #expect(try await client.call(StatusRequest()).items == 12)
        // 20 MB are laid out; what lies in the socket and before it is far less.
        #expect(service.backend.fakeQuery.state.withLock { $0.asked } < 200)
        _ = raw.line()
        var count = 0
        while let line = raw.line() {
            let piece = try Wire.parameters(QueryResultsNotification.self, in: line)
            count += piece.items.count
            if piece.gathered ?? false { break }
        }
        #expect(count == 10_000)
    }

    @Test("what cannot be begun, and what ends, is told")
    func refusals() throws {
        let service = try FakeService()
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        func ask(_ params: String, method: String = "query") -> String {
            raw.send(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"# + "\n")
            return raw.text() ?? ""
        }
        #expect(ask(#"{"target":{"path":""},"after":3}"#).contains("for live queries alone"))
        #expect(ask(#"{"query":99}"#, method: "endQuery").contains("no query 99"))
        service.backend.fakeQuery.state.withLock { $0.refusal = ControlError(.invalidParameters, "predicate: no") }
        #expect(ask(#"{"target":{"path":""},"predicate":"x"}"#).contains("predicate: no"))
        service.backend.fakeQuery.state.withLock {
            ($0.refusal, $0.failure) = (nil, ControlError(.notFound, "the feed begins at 10"))
        }
        #expect(
            ask(#"{"target":{"path":""},"live":true,"after":3}"#)
                == #"{"id":1,"jsonrpc":"2.0","result":{"query":2,"sequence":7}}"#)
        #expect(
            raw.text()?.contains(#""method":"queryEnded","params":{"query":2,"reason":"the feed begins at 10"}"#)
                == true)
    }

    @Test("a connection has so many queries and no more")
    func bound() throws {
        var limits = ControlServer.Limits()
        limits.queryCountPerConnection = 2
        let service = try FakeService(limits: limits)
        defer { service.stop() }
        let raw = try RawClient(service.socket)
        for number in 1...3 {
            raw.send(
                #"{"jsonrpc":"2.0","id":\#(number),"method":"query","params":{"target":{"path":""},"live":true}}"#
                    + "\n")
            #expect(raw.text()?.contains("too many queries") == (number == 3))
        }
    }

    @Test("results as text, and the objects of a live query")
    func text() throws {
        let text = QueryText(style: .plain, now: Samples.noon, shown: { $0 })
        var document = item(1)
        document.document = QueryItem.Document(
            item: ItemID(high: 1, low: 2), version: VersionID(high: 3, low: 4), saved: Samples.noon, device: "desk",
            user: "ann", program: "vim", versions: 12, conflicts: 2)
        var directory = item(2)
        (directory.type, directory.size) = (.directory, 0)
        let exact = Words.exact(Samples.noon)
        #expect(text.table([document, directory]) == """
                 SIZE  MODIFIED\(String(repeating: " ", count: exact.count - 6))          VERSIONS  BY       PATH
                 10 B  just now  \(exact)        12  ann vim  x1    2 conflicts
            directory  just now  \(exact)                     x2/

            """)
        #expect(text.table([]) == "Nothing found.\n")
        let step = QueryStep(
            added: [directory], changed: [.init(item: document, from: Path("old"))], removed: [item(3)],
            isGathered: true, sequence: 9)
        let lines = QueryLine.lines(of: step, count: 4)
        #expect(lines.map { text.line($0) } == [
            "removed       10 B  x3\n", "changed       10 B  x1  (was old)  2 conflicts\n", "added    directory  x2/\n",
            "4 results so far\n",
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(lines[3]), as: UTF8.self)
                == #"{"count":4,"event":"gathered","sequence":9}"#)
        #expect(
            String(decoding: try encoder.encode(lines[1]), as: UTF8.self).hasSuffix(#""versions":12},"path":"old"}"#)
                == false)
        #expect(String(decoding: try encoder.encode(lines[1]), as: UTF8.self).contains(#""from":"old""#))
    }

    @Test("an entry keeps its JSON, with bytes that are no text")
    func json() throws {
        var entry = item(1)
        entry.path = Path(bytes: [0x61, 0x2F, 0xFF])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(entry), as: UTF8.self)
        #expect(text == """
            {"file":"/mnt/x1","id":"1","modified":"2026-11-21T10:33:12.345678901Z","name":"\u{FFFD}",\
            "nameBytes":"/w==","path":"a/\u{FFFD}","pathBytes":"YS//","scope":"documents","size":10,\
            "state":"current","type":"file"}
            """)
        #expect(try JSONDecoder().decode(QueryItem.self, from: Data(text.utf8)) == entry)
    }
}
