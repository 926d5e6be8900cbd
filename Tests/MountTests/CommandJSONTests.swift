// The JSON of every command (DESIGN 3.3), letter by letter, from a container in which there is something of everything.

import Foundation
import Support
import Testing

@Suite struct CommandJSONTests {
    private static let version: Set = [
        "id", "item", "path", "name", "kind", "size", "modified", "saved", "device", "deviceID", "user", "program",
        "pid",
        "parents", "hash", "local", "pinned", "sealed", "file",
    ]
    private static let status: Set = [
        "container", "mountpoint", "device", "items", "versions", "conflicts", "deleted", "space", "hub", "transport",
        "log",
        "version", "fileSystems", "notes",
    ]
    private static let removed: Set = ["versions", "versionCount", "deletedCount", "bytes"]
    private static let restored: Set = ["document", "entries", "displaced", "remaining", "problems"]
    private static let resolution: Set = ["document", "current", "resolved", "written", "remaining"]
    private static let conflicted: Set = ["path", "current", "base", "versions"]

    private static let queried: Set = [
        "id", "path", "name", "type", "size", "modified", "state", "scope", "file", "item", "version", "saved",
        "device", "user", "program", "versions", "conflicts",
    ]

    /// Commands in an order in which each finds what it needs, with the keys of what they print: of the object, or of
    /// the first of a list. `$OLD` is the oldest version of `c/f`.
    private static let rows: [(line: String, isList: Bool, keys: Set<String>)] = [
        ("status c", false, status),
        ("history c/f", false, ["path", "versions"]),
        ("show c/f", false, version),
        ("show c/f --version $OLD", false, version),
        ("diff c/f", true, version),
        ("pin c/f --version $OLD", false, version),
        ("unpin c/f --version $OLD", false, version),
        ("log c", false, ["entries"]),
        ("blame c/f", false, ["path", "version", "lines"]),
        ("deleted c", true, ["id", "path", "type", "size", "deleted", "user", "program", "group"]),
        ("undelete c/gone", false, restored.union(["directories"])),
        ("undelete c/two c/three", true, restored.union(["directories"])),
        ("simulate conflict c/f", false, conflicted),
        ("conflicts c", true, conflicted),
        ("resolve c/f --keep current", true, resolution),
        ("restore c/f --version $OLD", false, restored.union(["version"])),
        ("restore c/d --at 0s", false, restored),
        ("restore c/f c/f", true, restored.union(["version"])),
        ("query 'name = f' c", true, queried),
        ("space c", false, ["live", "history", "deleted"]),
        ("thin --dry-run --container c", false, removed),
        ("purge c/f", false, removed),
        ("purge --deleted --container c", false, removed),
        ("check --container c", false, ["findings", "contents", "bytes"]),
        ("config --container c", true, ["key", "value", "standard"]),
    ]

    @Test(
        """
        Every command prints one document with the keys of the contract and of the protocol's page, and nothing on \
        stderr
        """)
    func keys() throws {
        try Place.with { place in
            let mounted = try place.bash("$CTL mount c --json")
            #expect(try keys(of: mounted, isList: false) == ["directory", "mountpoint", "detached", "beneath"])
            try expectSchema("mount", mounted)
            try shell(
                """
                mkdir c/d; echo 2 > c/f; echo 3 > c/f; echo x > c/d/x; for f in gone two three; do echo g > c/$f; \
                rm c/$f; done
                """,
                in: place.path)
            let history = try JSONDecoder().decode(
                HistoryRecord.self, from: Data(try place.ctl("history", "c/f", "--json").stdout))
            let old = try #require(history.versions.last?.id)
            for row in Self.rows {
                let output = try place.bash("OLD=\(old); $CTL \(row.line) --json")
                #expect(output.status == 0 && output.errors.isEmpty, "\(row.line): \(output.status) \(output.errors)")
                #expect(try keys(of: output, isList: row.isList) == row.keys, "\(row.line)")
                try expectSchema(row.line.hasPrefix("simulate") ? "simulate-conflict" : row.line.firstWord, output)
            }
            let lines = try place.bash("timeout 20 $CTL watch c --after 0 --json | head -n 1")
            #expect(try keys(of: lines, isList: false).isSubset(
                of: ["sequence", "event", "path", "from", "version", "time", "user", "pid", "program"]))
            #expect(try keys(of: place.bash("$CTL claims --container c --json"), isList: true).isEmpty)
            let held = try place.bash("$CTL coordinate write c/f -- $CTL claims --container c --json")
            #expect(try keys(of: held, isList: true)
                == ["id", "paths", "kind", "options", "pid", "program", "since", "waiting"])
            try expectSchema("claims", held)
            try presenters(of: place)
            let unmounted = try place.bash("$CTL unmount c --json")
            #expect(try keys(of: unmounted, isList: false) == ["mountpoints", "ended"])
            try expectSchema("unmount", unmounted)
            let forgotten = try place.bash("$CTL forget c --yes --json")
            #expect(try keys(of: forgotten, isList: false) == Self.status)
            try expectSchema("forget", forgotten)
        }
    }

    @Test("Lines of watch and of a live query, errors and notes have schemas, too")
    func lines() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo 2 > c/f; mv c/f c/g; rm c/g", in: place.path)
            for (schema, line) in [
                ("watch", "timeout 20 $CTL watch c --after 0 --json | head -n 3"),
                ("query-live", "timeout 20 $CTL query TRUE c --live --json | head -n 1"),
                ("error", "$CTL history c/none --json 2>&1"), ("error", "$CTL history --json 2>&1"),
                ("error", "$CTL mount none --json 2>&1"), ("error", "$CTL mount c -o bogus --json 2>&1"),
                ("note", "$CTL config packages.extensions '[\"x\"]' --container c --json 2>&1 >&-"),
            ] {
                let output = try place.bash(line)
                let lines = output.text.split(separator: "\n")
                #expect(!lines.isEmpty, "\(line)")
                for text in lines {
                    let problems = try Schema(schema, in: Self.schemas).problems(text.utf8)
                    #expect(problems.isEmpty, "\(line): \(problems)")
                }
            }
            try place.unmount()
        }
    }

    @Test("A value that does not fit its schema is found")
    func unfitting() throws {
        let check = { (text: String) in try Schema("watch", in: Self.schemas).problems(text.utf8) }
        #expect(try check(#"{"sequence":1,"event":"saved","path":"a"}"#).isEmpty)
        for text in [
            #"{"sequence":-1,"event":"saved","path":"a"}"#, #"{"sequence":1,"event":"other","path":"a"}"#, "[]",
            #"{"sequence":1,"event":"saved"}"#, #"{"sequence":true,"event":"saved","path":"a"}"#,
            #"{"sequence":1,"event":"saved","path":"a","more":1}"#,
            #"{"sequence":1,"event":"saved","path":"a","version":"x"}"#,
        ] {
            #expect(try check(text).count == 1, "\(text)")
        }
        let text = #"{"sequence":1,"event":"renamed","from":"b","path":"a"}"#
        #expect(try Schema("watch", in: Self.schemas).optionalKeys(text.utf8) == ["from"])
    }

    private static let schemas = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/docs/schemas"

    /// Keys that are there in some outputs of a command only.
    private static let optional: [String: Set<String>] = [
        "check": ["findings.document", "findings.repair"], "config": ["problem", "note"],
        "log": Set(
            ["from", "version", "deletion", "type", "added", "removed", "diff"].map { "entries.events.\($0)" }),
        "query": ["item", "version", "saved", "device", "user", "program", "versions", "conflicts"],
        "restore": ["version"], "undelete": ["directories"], "purge": ["pinnedCount", "deleted"],
        "presenters": ["path"], "status": ["ignoreFile", "ignoreFile.reason"],
        "forget": ["ignoreFile", "ignoreFile.reason"],
    ]

    private func expectSchema(_ name: String, _ output: Output) throws {
        let schema = try Schema(name, in: Self.schemas)
        let problems = try schema.problems(output.stdout)
        #expect(problems.isEmpty, "\(name): \(problems)")
        let missing = try schema.optionalKeys(output.stdout).subtracting(Self.optional[name] ?? [])
        #expect(missing.isEmpty, "\(name).json does not require \(missing.sorted())")
    }

    @Test("Each schema says of each object which keys it requires")
    func required() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.schemas).filter { $0.hasSuffix(".json") }
        #expect(names.count > 30)
        for name in names {
            let places = try Schema(String(name.dropLast(5)), in: Self.schemas).withoutRequired()
            #expect(places.isEmpty, "\(name): \(places)")
        }
    }

    /// None at first; then one, which people are shown as well.
    private func presenters(of place: Place) throws {
        #expect(try keys(of: place.bash("$CTL presenters --container c --json"), isList: true).isEmpty)
        let client = try PresentingClient(of: TestContainer(existing: place.path + "/c"))
        defer { client.close() }
        try client.present("d/x")
        let listed = try place.bash("$CTL presenters c --json")
        #expect(try keys(of: listed, isList: true) == ["id", "path", "pid", "program", "silent"])
        try expectSchema("presenters", listed)
        let shown = try place.bash("$CTL presenters c")
        #expect(
            shown.status == 0 && shown.text.contains("c/d/x") && shown.text.contains("(\(getpid()))"), "\(shown.text)")
    }

    private func keys(of output: Output, isList: Bool) throws -> Set<String> {
        let value = try JSONSerialization.jsonObject(with: Data(output.stdout))
        if isList { return Set((value as? [[String: Any]])?.first?.keys.map { $0 } ?? []) }
        guard let object = value as? [String: Any] else { throw Failure("no object: \(output.text)") }
        return Set(object.keys)
    }
}

extension String {
    fileprivate var firstWord: String { String(prefix { $0 != " " }) }
}
