// Claims and presenters over the socket: who is answered when, who is asked, and what becomes of it when somebody goes.

import ControlProtocol
import Foundation
import Testing

@testable import VersionsClient

@Suite("Claims over the socket", .timeLimit(.minutes(2)))
struct ClaimTests {
    /// A client that speaks the protocol by hand, so that questions can be seen and answered.
    private final class Talker {
        private let client: RawClient
        private var next = 1
        /// Lines that came while another was waited for.
        private var waiting: [[String: Any]] = []

        init(_ service: FakeService) throws { client = try RawClient(service.socket) }

        /// Calls a method; gives the id.
        @discardableResult
        func call(_ method: String, _ params: String) -> Int {
            defer { next += 1 }
            client.send(#"{"jsonrpc":"2.0","id":\#(next),"method":"\#(method)","params":\#(params)}"# + "\n")
            return next
        }

        func answer(_ id: Int) { client.send(#"{"jsonrpc":"2.0","id":\#(id),"result":{}}"# + "\n") }

        func refuse(_ id: Int, _ reason: String) {
            client.send(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32603,"message":"\#(reason)"}}"# + "\n")
        }

        /// The first line that fits.
        private func line(_ fits: ([String: Any]) -> Bool) throws -> [String: Any] {
            if let index = waiting.firstIndex(where: fits) { return waiting.remove(at: index) }
            while let line = client.line() {
                let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
                if fits(object) { return object }
                waiting.append(object)
            }
            throw ControlError(.disconnected, "the connection ended")
        }

        func reply(_ id: Int) throws -> [String: Any] {
            try line { $0["method"] == nil && $0["id"] as? Int == id }
        }

        /// The error's code, or the result's claim.
        func outcome(_ id: Int) throws -> Int? {
            let reply = try reply(id)
            if let error = reply["error"] as? [String: Any] { return error["code"] as? Int }
            return (reply["result"] as? [String: Any])?["claim"] as? Int
        }

        /// The next call or notification of a method: its id, if it has one, and its parameters.
        func hear(_ method: String) throws -> (id: Int?, params: [String: Any]) {
            let message = try line { $0["method"] as? String == method }
            return (message["id"] as? Int, message["params"] as? [String: Any] ?? [:])
        }

        func close() { client.close() }
    }

    private func claim(_ mode: String, _ path: String, more: String = "") -> String {
        #"{"accesses":[{"mode":"\#(mode)","path":"\#(path)"}]\#(more)}"#
    }

    @Test("a claim is answered when it is granted, and other calls of the connection are answered meanwhile")
    func waiting() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try Talker(service), try Talker(service))
        let held = try #require(try one.outcome(one.call("claim", claim("writing", "a"))))
        let waits = other.call("claim", claim("reading", "a"))
        #expect(try other.reply(other.call("status", "{}"))["result"] != nil)
        #expect(try one.reply(one.call("release", #"{"claim":\#(held)}"#))["result"] != nil)
        #expect(try #require(try other.outcome(waits)) > 0)
        #expect(try one.outcome(one.call("release", #"{"claim":\#(held)}"#)) == -32001)
    }

    @Test("claims of one connection are made in the order in which they came")
    func order() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try Talker(service), try Talker(service))
        let held = try #require(try one.outcome(one.call("claim", claim("writing", "a"))))
        let calls = (0..<100).map { _ in other.call("claim", claim("writing", "a")) }
        one.call("release", #"{"claim":\#(held)}"#)
        for call in calls {
            let granted = try #require(try other.outcome(call))
            other.call("release", #"{"claim":\#(granted)}"#)
        }
    }

    @Test("a claim that waits can be cancelled by its key")
    func cancelling() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try Talker(service), try Talker(service))
        _ = try one.outcome(one.call("claim", claim("writing", "a")))
        let waits = other.call("claim", claim("writing", "a", more: #","key":5"#))
        // Made by then: calls of the same connection go one after the other.
        let behind = other.call("claim", claim("writing", "b"))
        _ = try other.outcome(behind)
        #expect(try other.outcome(other.call("claim", claim("writing", "c", more: #","key":5"#))) == -32602)
        other.call("cancelClaim", #"{"key":5}"#)
        #expect(try other.outcome(waits) == -32010)
        #expect(try other.reply(other.call("cancelClaim", #"{"key":5}"#))["result"] != nil)
    }

    @Test("a presenter is asked, answers, and has its item back")
    func presenting() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (presenter, reader) = (try Talker(service), try Talker(service))
        let reply = try presenter.reply(presenter.call("present", #"{"path":{"path":"a"}}"#))
        let id = try #require((reply["result"] as? [String: Any])?["presenter"] as? Int)
        let reads = reader.call("claim", claim("reading", "a"))
        let relinquish = try presenter.hear("relinquish")
        #expect(relinquish.params["presenter"] as? Int == id && relinquish.params["toWriter"] as? Bool == false)
        presenter.answer(try #require(relinquish.id))
        let save = try presenter.hear("save")
        // It saves by a claim of its own, which does not wait for the one that it is asked for.
        let saving = try #require(
            try presenter.outcome(presenter.call("claim", claim("writing", "a", more: #","presenter":\#(id)"#))))
        presenter.call("release", #"{"claim":\#(saving)}"#)
        presenter.answer(try #require(save.id))
        let granted = try #require(try reader.outcome(reads))
        reader.call("release", #"{"claim":\#(granted)}"#)
        #expect(try presenter.hear("reacquire").params["claim"] as? Int == granted)
    }

    @Test("a presenter's refusal fails the claim with its reason; one that knows no questions is not waited for")
    func refusing() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (presenter, reader) = (try Talker(service), try Talker(service))
        _ = try presenter.reply(presenter.call("present", #"{"path":{"path":"a"}}"#))
        let reads = reader.call("claim", claim("reading", "a"))
        presenter.answer(try #require(try presenter.hear("relinquish").id))
        presenter.refuse(try #require(try presenter.hear("save").id), "disk full")
        let error = try #require(try reader.reply(reads)["error"] as? [String: Any])
        #expect(error["code"] as? Int == -32016)
        #expect(error["message"] as? String == "two (2) could not let it go: disk full")
        _ = try presenter.hear("reacquire")
    }

    @Test("what a client had goes with its connection, and so do its waiting claims")
    func leaving() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other, third) = (try Talker(service), try Talker(service), try Talker(service))
        _ = try one.outcome(one.call("claim", claim("writing", "a")))
        let second = other.call("claim", claim("writing", "a"))
        _ = try other.outcome(other.call("claim", claim("writing", "b")))
        let last = third.call("claim", claim("writing", "a"))
        _ = second
        other.close()
        one.close()
        #expect(try #require(try third.outcome(last)) > 0)
    }

    @Test("nested claims that wait for one another: the younger fails and reads the ring")
    func deadlock() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try Talker(service), try Talker(service))
        let first = try #require(try one.outcome(one.call("claim", claim("writing", "a"))))
        let second = try #require(try other.outcome(other.call("claim", claim("writing", "b"))))
        let waits = one.call("claim", claim("writing", "b", more: #","within":[\#(first)]"#))
        _ = try one.outcome(one.call("claim", claim("writing", "c")))
        let fails = other.call("claim", claim("writing", "a", more: #","within":[\#(second)]"#))
        #expect(try other.outcome(fails) == -32015)
        other.call("release", #"{"claim":\#(second)}"#)
        #expect(try #require(try one.outcome(waits)) > 0)
    }

    @Test("nonsense is answered, and what may not be claimed is denied")
    func nonsense() throws {
        let service = try FakeService()
        defer { service.stop() }
        let talker = try Talker(service)
        #expect(try talker.outcome(talker.call("claim", claim("writing", "denied"))) == -32002)
        #expect(try talker.outcome(talker.call("claim", claim("devouring", "a"))) == -32602)
        #expect(try talker.outcome(talker.call("claim", claim("writing", "a", more: #","purpose":"x""#))) == -32602)
        #expect(try talker.outcome(talker.call("claim", claim("writing", "a", more: #","presenter":99"#))) == -32001)
        #expect(try talker.outcome(talker.call("release", #"{"claim":99}"#)) == -32001)
        #expect(try talker.outcome(talker.call("withdraw", #"{"presenter":99}"#)) == -32001)
        #expect(try talker.reply(talker.call("presenters", "{}"))["result"] != nil)
        #expect(service.backend.coordination.claimCount == 0)
    }

    @Test("a client that is looked at shows that it runs by answering anything")
    func probing() throws {
        let service = try FakeService()
        defer { service.stop() }
        let (one, other) = (try Talker(service), try Talker(service))
        _ = try one.outcome(one.call("claim", claim("writing", "a")))
        let waits = other.call("claim", claim("writing", "a", more: #","key":1"#))
        _ = try other.outcome(other.call("claim", claim("writing", "b")))
        service.backend.coordination.tick(to: 1_000_000_000)
        #expect(try other.hear("heldUp").params["program"] as? String == "three")
        one.answer(try #require(try one.hear("probe").id))
        _ = try one.reply(one.call("status", "{}"))
        #expect(service.backend.coordination.aliveCount == 1)
        service.backend.coordination.tick(to: 20_000_000_000)
        service.backend.coordination.tick(to: 40_000_000_000)
        #expect(try one.hear("claimRevoked").params["claim"] != nil)
        #expect(try #require(try other.outcome(waits)) > 0)
    }
}
