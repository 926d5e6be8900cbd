// The time line of a log: what the pages tell twice is told once, runs are told apart, long ones are shortened.

import ControlProtocol
import Foundation
import Synchronization
import Testing
import VersionModel

@testable import versionsctl

@Suite("log")
struct LogTests {
    private static func at(_ seconds: Int64) -> Timestamp {
        Samples.noon.advanced(byNanoseconds: seconds * 1_000_000_000)
    }

    private static func version(_ number: UInt64) -> VersionID { VersionID(high: number << 32, low: number) }

    private static func row(
        _ sequence: UInt64, _ kind: ChangeEvent, _ path: String = "a", from: String? = nil,
        version number: UInt64? = nil, seconds: Int64, by program: String = "vim", pid: Int32 = 7
    ) -> LoggedEvent {
        LoggedEvent(
            time: at(seconds), event: kind, path: Path(path), from: from.map { Path($0) }, version: number.map(version),
            user: "ann", program: program, pid: pid, sequence: sequence)
    }

    private static func save(
        _ number: UInt64, _ path: String = "a", seconds: Int64, by program: String = "vim", pid: Int32 = 7
    ) -> LoggedEvent {
        LoggedEvent(
            time: at(seconds), event: .saved, path: Path(path), version: version(number), user: "ann", program: program,
            pid: pid)
    }

    private static func deletion(_ path: String = "a", seconds: Int64, by program: String = "rm") -> LoggedEvent {
        LoggedEvent(
            time: at(seconds), event: .deleted, path: Path(path), deletion: DeletionID(high: 1, low: UInt64(seconds)),
            type: .file, user: "ann", program: program, pid: 8)
    }

    /// What is told of one event, in a word or two.
    private static func told(_ event: LoggedEvent) -> String {
        let from = event.from.map { "\($0)>" } ?? ""
        let which = event.version.map { " \($0.low)" } ?? (event.deletion == nil ? "" : " entry")
        return "\(event.event.rawValue) \(from)\(event.path)\(which) by \(event.program)"
    }

    private static let joined: [(String, [LoggedEvent], [String])] = [
        ("nothing", [], []),
        ("a save is its version", [row(1, .saved, version: 5, seconds: 1), save(5, seconds: 1)], ["saved a 5 by vim"]),
        ("of a save without a row the version tells", [save(5, seconds: 1)], ["saved a 5 by vim"]),
        (
            "of a version that is gone the last row tells",
            [row(1, .saved, version: 5, seconds: 1), row(2, .saved, version: 5, seconds: 2, by: "date")],
            ["saved a 5 by date"]
        ),
        (
            "an amended version has several rows, and its own author",
            [
                row(1, .saved, version: 5, seconds: 1), row(2, .saved, version: 5, seconds: 9, by: "date"),
                save(5, seconds: 9),
            ], ["saved a 5 by vim"]
        ),
        (
            "the path is that of the save, whatever the document is called now",
            [
                row(1, .saved, "old", version: 5, seconds: 1), row(2, .renamed, "new", from: "old", seconds: 3),
                save(5, "new", seconds: 1),
            ], ["renamed old>new by vim", "saved old 5 by vim"]
        ),
        (
            "what comes back unchanged is saved, and no version",
            [
                row(1, .saved, version: 5, seconds: 1), row(2, .deleted, seconds: 3, by: "git"),
                row(3, .saved, version: 5, seconds: 4, by: "git"), save(5, seconds: 1),
            ], ["saved a by git", "deleted a by git", "saved a 5 by vim"]
        ),
        (
            "a deletion is its entry, and the row is not told beside it",
            [row(1, .deleted, seconds: 5), deletion(seconds: 5)], ["deleted a entry by rm"]
        ),
        (
            "each row belongs to one entry",
            [row(1, .deleted, seconds: 5), row(2, .deleted, seconds: 7), deletion(seconds: 7)],
            ["deleted a entry by rm", "deleted a by vim"]
        ),
        (
            "a deletion from before the feed",
            [deletion(seconds: 5), row(9, .created, seconds: 90)], ["created a by vim", "deleted a entry by rm"]
        ),
    ]

    @Test("Each save and each deletion is told once, by its version or entry if that is there", arguments: joined)
    func events(name: String, pages: [LoggedEvent], expected: [String]) {
        #expect(LogTimeline.events(pages).map(Self.told) == expected, "\(name)")
        #expect(LogTimeline.events(pages.reversed()).map(Self.told) == expected, "\(name), in another order")
    }

    @Test("Runs are told apart by user, program and process; a long pause ends one")
    func runs() {
        let hours: Int64 = 3_600
        let events = LogTimeline.events([
            Self.save(1, seconds: 0), Self.save(2, seconds: 10), Self.save(3, seconds: 5, by: "sed", pid: 9),
            Self.save(4, seconds: 3 * hours), Self.save(5, seconds: 3 * hours + 1, pid: 70),
        ])
        let entries = LogTimeline.entries(events)
        let told = entries.map { entry in
            "\(entry.program) \(entry.pid): \(entry.events.compactMap { $0.version?.low })"
        }
        #expect(told == ["vim 70: [5]", "vim 7: [4]", "vim 7: [2, 1]", "sed 9: [3]"])
        #expect(entries.last?.time == Self.at(5) && entries[2].began == Self.at(0))
    }

    @Test("WHO is a user, a program or a process", arguments: [
        ("ann", [1, 2]), ("vim", [1]), ("sed", [2]), ("7", [1]), ("9", [2]), ("v", []), ("0", []), ("", []),
    ] as [(String, [UInt64])])
    func who(who: String, expected: [UInt64]) {
        let events = [Self.save(1, seconds: 0), Self.save(2, seconds: 1, by: "sed", pid: 9)]
        #expect(events.filter { LogTimeline.isBy(who, $0) }.compactMap { $0.version?.low } == expected)
    }

    @Test("WHO is a program as people call it", arguments: [
        ("vim", [1]), ("vim.basic", [1]), ("python", [2, 3]), ("python3", [2]), ("python3.11", [2]), ("p", []),
        ("vim.b", []), ("python31", [3]),
    ] as [(String, [UInt64])])
    func called(who: String, expected: [UInt64]) {
        let events = ["vim.basic", "python3.11", "python31"].enumerated().map { index, program in
            Self.save(UInt64(index + 1), seconds: Int64(index), by: program, pid: 9)
        }
        #expect(events.filter { LogTimeline.isBy(who, $0) }.compactMap { $0.version?.low } == expected)
    }

    private static func text(_ all: Bool = false) -> LogText {
        LogText(style: .plain, now: at(3_600), showsAll: all, shown: { $0 })
    }

    private static func clock(_ seconds: Int64) -> String { String(Words.exact(at(seconds)).dropFirst(11)) }

    @Test("People see a paragraph for each run; a file that is made and saved is one line")
    func paragraphs() {
        let entries = LogTimeline.entries(LogTimeline.events([
            Self.row(1, .created, seconds: 0), Self.save(1, seconds: 1), Self.deletion("d", seconds: 60),
            Self.row(3, .renamed, "b", from: "a", seconds: 61, by: "mv", pid: 9),
        ]))
        #expect(Self.text().log(entries) == """
            ann mv (9)  58 min ago  \(Words.exact(Self.at(61)))
              \(Self.clock(61))  renamed    a -> b

            ann rm (8)  59 min ago  \(Words.exact(Self.at(60)))
              \(Self.clock(60))  deleted    d

            ann vim (7)  59 min ago  \(Words.exact(Self.at(0))) to \(Self.clock(1))
              \(Self.clock(1))  created  000000010000  a

            """)
        #expect(Self.text().log([]) == "No history.\n")
    }

    @Test("Many events of one run are shortened with a count, unless all are asked for")
    func shortened() throws {
        let saves = (1...30).map { Self.save($0, "f\($0)", seconds: Int64($0)) }
        let events = saves + [Self.row(99, .attributes, seconds: 0)]
        let entries = LogTimeline.entries(LogTimeline.events(events))
        let lines = Self.text().log(entries).split(separator: "\n")
        #expect(lines.count == 12 && lines[11] == "  and 21 more: 20 saved, 1 attributes (--all lists them)")
        #expect(Self.text(true).log(entries).split(separator: "\n").count == 32)
    }

    @Test("The sizes of changes are added up for each file; what is not text has none")
    func sizes() {
        for (diff, added, removed) in [
            ("", 0, 0), ("--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n", 2, 1),
            ("Binary files a and b differ\n", nil, nil),
            ("--- a\n+++ b\n@@ -1 +0,0 @@\n--- x\n", 0, 1),
        ] as [(String, Int?, Int?)] {
            let size = LogDiffs.size(diff)
            #expect(size.added == added && size.removed == removed, "\(diff)")
        }
        var entries = LogTimeline.entries([Self.save(2, seconds: 1), Self.save(1, seconds: 0)])
        for index in 0...1 { entries[0].events[index].difference = LogDifference(added: 2, removed: index) }
        #expect(Self.text().log(entries).hasSuffix("    a  |  +4  -1\n"))
    }

    @Test("The tool asks for page after page, and prints text or JSON")
    func tool() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        world.backend.state.withLock { state in
            state.logPages = [
                [
                    Self.row(1, .saved, "doc.txt", version: 3, seconds: 0),
                    Self.row(2, .renamed, "y", from: "x", seconds: 2),
                ],
                [], [Self.save(3, "doc.txt", seconds: 0, by: "sed")],
            ]
        }
        let text = try world.run(["log"])
        #expect(text.status == 0 && text.errors.isEmpty && text.output.contains("renamed"), "\(text)")
        let asked = ["log path  -", "log path  1", "log path  2"]
        let before = world.backend.log.filter { $0.hasPrefix("log") }
        #expect(before.count > 3 && Array(before.prefix(3)) == asked, "each span of time is read with all of its pages")
        let json = try world.run(["log", "--json", "--by", "sed"])
        #expect(world.backend.log.filter { $0.hasPrefix("log") }.dropFirst(before.count).elementsEqual(asked))
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [[String: Any]]]
        let entry = try #require(object?["entries"]?.first)
        #expect(object?["entries"]?.count == 1 && entry["program"] as? String == "sed" && entry["pid"] as? Int == 7)
        #expect(Set(entry.keys) == ["time", "user", "program", "pid", "events"])
        let event = try #require((entry["events"] as? [[String: Any]])?.first)
        #expect(Set(event.keys) == ["time", "event", "path", "version"])
    }

    @Test(
        "-p shows what a save changed beside the version that it came from, --stat how much", arguments: [true, false])
    func differences(patch: Bool) throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let current = world.backend.state.withLock { $0.versions[0].id }
        let event = LoggedEvent(
            time: Samples.noon, event: .saved, path: Path("doc.txt"), version: current, user: "ann", program: "vim",
            pid: 7)
        world.backend.state.withLock { $0.logPages = [[event]] }
        let run = try world.run(["log", patch ? "-p" : "--stat"])
        #expect(run.status == 0 && run.errors.isEmpty, "\(run)")
        let expected = patch ? "-one\n+one current\n two\n three\n" : "    doc.txt  |  +1  -1\n"
        #expect(run.output.hasSuffix(expected), "\(run)")
    }

    @Test("Of a path that is not there nothing is not an answer")
    func missing() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try world.run(["log", "nowhere.txt"])
        #expect(run.status == 1 && run.errors.contains("no such file or directory"), "\(run)")
        #expect(try world.run(["log", "doc.txt"]).output == "No history.\n")
    }
}
