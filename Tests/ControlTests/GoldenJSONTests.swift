// The JSON that DESIGN 3.3 fixes, letter by letter: a change here breaks other people's scripts.

import ControlProtocol
import FoundationEssentials
import Testing
import VersionModel

@Suite("JSON as fixed")
struct GoldenJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func survives<Value: Codable & Equatable>(_ value: Value) throws -> Bool {
        try JSONDecoder().decode(Value.self, from: Data(json(value).utf8)) == value
    }

    @Test("a version")
    func version() throws {
        var version = Samples.version(1, .current)
        #expect(
            try json(version) == """
                {"device":"desk","deviceID":"00000000000000030000000000000004","file":"/mnt/Notes/todo.txt",\
                "hash":null,"id":"00000001000000000000000000000001","item":"00000000000000010000000000000002",\
                "kind":"current","local":true,"modified":"2026-11-21T10:33:12.345678901Z","name":"todo.txt",\
                "parents":[],"path":"Notes/todo.txt","pid":1234,"pinned":true,"program":"vim",\
                "saved":"2026-11-21T10:33:12.345678901Z","sealed":true,"size":1234,"user":"ann"}
                """)
        #expect(try survives(version))
        version.unfinished = true
        #expect(try json(version).contains(#""unfinished":true"#))
        #expect(try survives(version))
    }

    @Test("a path that is not UTF-8 has its bytes beside it")
    func bytes() throws {
        let version = Samples.version(1, path: Path(bytes: [0x61, 0x2F, 0xFF]), file: Path(bytes: [0x2F, 0xFF]))
        let text = try json(version)
        #expect(text.contains(#""path":"a/\#u{FFFD}","pathBytes":"YS//""#))
        #expect(text.contains(#""nameBytes":"/w==""#) && text.contains(#""fileBytes":"L/8=""#))
        #expect(try survives(version))
    }

    @Test("conflicts")
    func conflicts() throws {
        var document = Samples.conflict
        let text = try json(document)
        #expect(
            text.hasPrefix(#"{"base":{"#) && text.contains(#","current":{"#)
                && text.contains(#","path":"Notes/todo.txt","versions":[{"#))
        #expect(try survives(document))
        document.base = nil
        #expect(try json(document).hasPrefix(#"{"base":null,"#))
        #expect(try survives(document))
    }

    @Test("history")
    func history() throws {
        let history = DocumentHistory(path: Path("a"), versions: [])
        #expect(try json(history) == #"{"path":"a","versions":[]}"#)
        #expect(try survives(DocumentHistory(path: Path("a"), versions: [Samples.version(2), Samples.version(1)])))
    }

    @Test("deleted")
    func deleted() throws {
        let entry = DeletedEntry(
            id: DeletionID(high: 1, low: 1), path: Path("a/b"), type: .directory, size: 0, deleted: Samples.noon,
            user: "ann", program: "rm", group: DeletionID(high: 1, low: 0))
        #expect(
            try json(entry) == """
                {"deleted":"2026-11-21T10:33:12.345678901Z","group":"00000000000000010000000000000000",\
                "id":"00000000000000010000000000000001","path":"a/b","program":"rm","size":0,"type":"directory",\
                "user":"ann"}
                """)
        #expect(try survives(entry))
    }

    @Test("status, mounted and not")
    func status() throws {
        var status = Samples.status
        #expect(
            try json(status) == """
                {"conflicts":1,"container":"00000000000000050000000000000006","deleted":{"bytes":2048,"count":2},\
                "device":"desk","fileSystems":[{"can":["versions","xattr"],"path":"","type":"ext4"}],"hub":null,\
                "items":12,"log":"syslog","mountpoint":"/mnt","notes":["the clock jumped"],\
                "space":{"deleted":2048,"history":4096,"live":1048576},\
                "transport":{"passthrough":true,"ring":false},"version":"0.1.0","versions":40}
                """)
        #expect(try survives(status))
        status.mountpoint = nil
        #expect(try json(status).contains(#""mountpoint":null"#))
        #expect(try survives(status))
    }

    @Test("claims")
    func claims() throws {
        let claim = ClaimInfo(
            id: "7", paths: [Path("a"), Path(bytes: [0xFF])], kind: "write", options: ["forDeleting"], pid: 9,
            program: "rm", since: Samples.noon, waiting: true)
        #expect(
            try json(claim) == """
                {"id":"7","kind":"write","options":["forDeleting"],"paths":["a","\u{FFFD}"],\
                "pathsBytes":["YQ==","/w=="],"pid":9,"program":"rm",\
                "since":"2026-11-21T10:33:12.345678901Z","waiting":true}
                """)
        #expect(try survives(claim))
    }

    @Test("a page of a log has only the keys that each event needs")
    func log() throws {
        var event = LoggedEvent(time: Samples.noon, event: .saved, path: Path("a"), version: VersionID(high: 0, low: 1))
        #expect(
            try json(LogPage(events: [event], next: "f1.2")) == """
                {"events":[{"event":"saved","path":"a","pid":0,"program":"","time":"2026-11-21T10:33:12.345678901Z",\
                "user":"","version":"00000000000000000000000000000001"}],"next":"f1.2"}
                """)
        (event.sequence, event.from, event.item) = (7, Path(bytes: [0xFF]), ItemID(high: 1, low: 1))
        (event.deletion, event.type, event.user) = (DeletionID(high: 1, low: 2), .directory, "ann")
        #expect(try survives(LogPage(events: [event], next: nil)))
    }

    @Test("events have only the keys that they need")
    func events() throws {
        let plain = WatchEvent(sequence: 1, event: .versionLost, path: Path("a"), time: Samples.noon)
        #expect(try json(plain) == """
            {"event":"version-lost","path":"a","sequence":1,"time":"2026-11-21T10:33:12.345678901Z"}
            """)
        let renamed = WatchEvent(
            sequence: .max, event: .renamed, path: Path("b"), from: Path("a"), version: VersionID(high: 0, low: 1),
            time: Samples.noon, user: "ann", pid: 3, program: "mv")
        #expect(try json(renamed) == """
            {"event":"renamed","from":"a","path":"b","pid":3,"program":"mv","sequence":18446744073709551615,\
            "time":"2026-11-21T10:33:12.345678901Z","user":"ann","version":"00000000000000000000000000000001"}
            """)
        #expect(try survives(plain))
        #expect(try survives(renamed))
    }
}
