// Lines and messages: framing, round trips, and what is answered to lines that are none.

import Testing
import VersionModel

@testable import ControlProtocol

@Suite("Framing")
struct LineFramerTests {
    @Test("lines come out whole however the bytes are cut")
    func cuts() {
        let text = Array("{\"a\":1}\r\n\n{\"b\":\"ü\"}\n".utf8)
        for size in 1...text.count {
            var framer = LineFramer()
            var frames: [LineFramer.Frame] = []
            for start in stride(from: 0, to: text.count, by: size) {
                frames += framer.feed(Array(text[start..<min(start + size, text.count)]))
            }
            #expect(frames == [.line(Array("{\"a\":1}".utf8)), .line(Array("{\"b\":\"ü\"}".utf8))])
        }
    }

    @Test("a line over the limit is reported once, skipped, and holds no memory")
    func tooLong() {
        var framer = LineFramer(limit: 10)
        var frames: [LineFramer.Frame] = []
        for _ in 0..<1000 { frames += framer.feed(Array("0123456".utf8)) }
        #expect(frames == [.tooLong])
        #expect(framer.heldByteCount == 0)
        #expect(framer.feed(Array("end\nnext\n".utf8)) == [.line(Array("next".utf8))])
    }

    @Test("a line of exactly the limit is taken")
    func limit() {
        var framer = LineFramer(limit: 4)
        #expect(framer.feed(Array("1234\n12345\n1\n".utf8)) == [.line(Array("1234".utf8)), .tooLong, .line([49])])
    }
}

@Suite("Messages")
struct MessageTests {
    @Test("a call is read as it was written")
    func call() throws {
        let request = RestoreRequest(.path(Path("a b/ü.txt")), version: "12ab34", to: Path(bytes: [0xFF, 0x41]))
        let line = try Wire.line(calling: request, id: .number(7))
        #expect(line.last == 10 && line.count { $0 == 10 } == 1)
        #expect(try Message(line: line) == .request(id: .number(7), method: "restore"))
        let read = try Wire.parameters(RestoreRequest.self, in: line)
        #expect(read.target == request.target && read.version == request.version && read.to == request.to)
    }

    @Test("a reply is read as it was written")
    func reply() throws {
        let line = try Wire.line(replying: [Samples.conflict], to: .text("x"))
        #expect(try Message(line: line) == .reply(id: .text("x"), error: nil))
        #expect(try Wire.result([ConflictedDocument].self, in: line) == [Samples.conflict])
    }

    @Test("an error keeps its code, path, advice and errno")
    func error() throws {
        let error = ControlError(.denied, "no", path: Path(bytes: [0xFE]), advice: "ask", errno: 13)
        let line = Wire.line(failing: error, to: .number(1))
        #expect(try Message(line: line) == .reply(id: .number(1), error: error))
    }

    @Test("parameters may be left out where none are needed")
    func noParameters() throws {
        let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"status"}"#.utf8)
        _ = try Wire.parameters(StatusRequest.self, in: line)
        #expect(throws: ControlError.self) { try Wire.parameters(HistoryRequest.self, in: line) }
    }

    @Test("a number that cannot stand where it does is named", arguments: ["-1", "1.5", "1e40"])
    func numbers(number: String) throws {
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"target":{"path":""},"after":\#(number)}}"#.utf8)
        let error = #expect(throws: ControlError.self) { try Wire.parameters(WatchRequest.self, in: line) }
        #expect(error?.message == "the parameters do not fit: after is no number that can stand there")
    }

    @Test("what is no message is answered with the right code and id", arguments: [
            ("nonsense", -32700, nil), ("{", -32700, nil), ("\u{0}", -32700, nil), ("[]", -32600, nil),
            ("null", -32600, nil),
        ("{}", -32600, nil), (#"{"id":3,"method":"status"}"#, -32600, RequestID.number(3)),
        (#"{"jsonrpc":"1.0","id":"a","method":"status"}"#, -32600, .text("a")),
        (#"{"jsonrpc":"2.0","id":{},"method":"status"}"#, -32600, nil),
        (#"{"jsonrpc":"2.0","id":1,"method":4}"#, -32600, .number(1)),
        (String(repeating: "[", count: 100_000), -32700, nil),
    ] as [(String, Int, RequestID?)])
    func malformed(line: String, code: Int, id: RequestID?) {
        do {
            let message = try Message(line: Array(line.utf8))
            Issue.record("read as \(message)")
        } catch {
            #expect(error.error.code.rawValue == code)
            #expect(error.id == id)
        }
    }

    @Test("invalid UTF-8 and a path with a NUL are refused")
    func badBytes() throws {
        #expect(throws: Message.Unreadable.self) { try Message(line: [123, 34, 0xFF, 34, 58, 49, 125]) }
        let line = Array(#"{"jsonrpc":"2.0","id":1,"method":"history","params":{"target":{"path":"a\u0000b"}}}"#.utf8)
        #expect(throws: ControlError.self) { try Wire.parameters(HistoryRequest.self, in: line) }
    }

    @Test("JSON is told from what is not", arguments: [
        ("{}", true), ("[]", true), (" [ 1 , -0.5e+3 , true , false , null , \"\\u00e9\\n\" ] ", true), ("0", true),
        (#"{"a":{"b":[{}]},"c":[]}"#, true), (#""\ud83d\ude00""#, true), (#""\ud83d""#, false), (#""\ude00""#, false),
            ("", false), ("[", false), ("[1,]", false), ("{\"a\"}", false), ("{\"a\":1,}", false), ("[1}", false),
            ("01", false),
            ("1.", false), ("-", false), ("1 2", false), ("\"a\tb\"", false), ("\"", false), ("tru", false),
            ("{1:2}", false),
        (String(repeating: "[", count: 64) + String(repeating: "]", count: 64), true),
        (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), false),
    ])
    func grammar(text: String, isJSON: Bool) {
        #expect(JSONGrammar.accepts(Array(text.utf8)) == isJSON)
    }

    @Test("a choice is one word", arguments: [
        ("current", ResolveRequest.Choice.current), ("all", .all), ("newest", .newest), ("merged", .merged),
        ("0123abcd", .version("0123abcd")),
    ])
    func choices(word: String, choice: ResolveRequest.Choice) throws {
        #expect(ResolveRequest.Choice(word: word) == choice)
        let line = try Wire.line(calling: ResolveRequest(.id("abcdef"), keep: choice), id: .number(1))
        #expect(String(decoding: line, as: UTF8.self).contains("\"keep\":\"\(word)\""))
        #expect(try Wire.parameters(ResolveRequest.self, in: line).keep == choice)
    }
}
