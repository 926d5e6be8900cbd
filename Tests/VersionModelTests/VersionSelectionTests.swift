// Versions that are named by a count, a time or a program: tables over one small history.

import Testing
import VersionModel

@Suite("Versions named by other words than an id")
struct VersionSelectionTests {
    /// A row of a history: saved at the time of its number by a program.
    struct Row {
        var number: Int64
        var kind = VersionKind.history
        var program = "vim"
        var process: Int32 = 10
        var flags: Version.Flags = []
    }

    private static func version(_ row: Row) -> Version {
        let time = Timestamp(nanoseconds: row.number * 10)
        return Version(
            id: VersionID(high: 0, low: UInt64(row.number)), item: ItemID(high: 0, low: 1), kind: row.kind,
            content: ContentID(high: 0, low: UInt64(row.number)), size: 1, modified: time, saved: time,
            time: HybridTime(wall: time, logical: 0), device: DeviceID(high: 0, low: 1),
            author: Author(userID: 1, user: "ann", program: row.program, process: row.process),
            attributes: Attributes(mode: 0o644, owner: 1, group: 1), flags: row.flags)
    }

    /// Newest first.
    private static func selection(_ rows: [Row], isDeleted: Bool = false) -> VersionSelection {
        VersionSelection(rows.sorted { $0.number > $1.number }.map(version), isDeleted: isDeleted)
    }

    /// 3 lost a conflict to 4; 6 never was in the file.
    private static let rows = [
        Row(number: 1), Row(number: 2, program: "agent", process: 20),
        Row(number: 3, kind: .conflict, program: "emacs", process: 30), Row(number: 4, program: "agent", process: 20),
        Row(number: 5, program: "vim.basic", process: 40), Row(number: 6, program: "cp", process: 50, flags: .beside),
        Row(number: 7, kind: .current, program: "agent", process: 20),
    ]

    @Test("steps go down the history and leave conflicts out", arguments: [
        (0, 7), (1, 6), (2, 5), (3, 4), (4, 2), (5, 1), (6, nil), (-1, nil), (Int.max, nil),
    ] as [(Int, UInt64?)])
    func steps(count: Int, number: UInt64?) {
        let selection = Self.selection(Self.rows)
        #expect(selection.back(count)?.id.low == number)
        #expect(selection.reachable == 6)
    }

    @Test("of a deleted document one step is what it had last", arguments: [
        (0, nil), (1, 7), (2, 6), (6, 1), (7, nil),
    ] as [(Int, UInt64?)])
    func deleted(count: Int, number: UInt64?) {
        #expect(Self.selection(Self.rows, isDeleted: true).back(count)?.id.low == number)
    }

    @Test("what lies behind the current one in the list is before it, though it was saved later")
    func order() {
        let rows = [Row(number: 1), Row(number: 2, kind: .current), Row(number: 3)]
        #expect(Self.selection(rows).back(1)?.id.low == 1)
        #expect(Self.selection(rows).reachable == 2)
        #expect(Self.selection([]).back(1) == nil && Self.selection([]).reachable == 0)
    }

    @Test("a time means what was current then, what lost a conflict later as well", arguments: [
        (9, nil), (10, 1), (15, 1), (20, 2), (35, 3), (40, 4), (65, 5), (70, 7), (1000, 7),
    ] as [(Int64, UInt64?)])
    func times(nanoseconds: Int64, number: UInt64?) {
        let selection = Self.selection(Self.rows)
        #expect(selection.at(Timestamp(nanoseconds: nanoseconds))?.id.low == number)
        #expect(selection.begins == Timestamp(nanoseconds: 10))
    }

    @Test("a program means what was current before the first save of its last run", arguments: [
        ("agent", 1), ("20", 1), ("emacs", 2), ("vim", nil), ("vim.basic", 4), ("40", 4), ("10", nil),
        ("cp", nil), ("nano", nil), ("", nil), ("0", nil), ("-20", nil),
    ] as [(String, UInt64?)])
    func programs(program: String, number: UInt64?) {
        let selection = Self.selection(Self.rows)
        let found = selection.firstOfLastRun(of: program).flatMap { selection.before($0) }
        #expect(found?.id.low == number)
    }

    @Test("a name stands for longer ones only where no program has that very name", arguments: [
        ("vim", "vim", true), ("vim", "vim.basic", true), ("emacs", "emacs-nox", true), ("python", "python3.11", true),
        ("python3", "python3.11", true), ("python3", "python31", false), ("vim", "vimdiff", false), ("", ".sh", false),
        ("vim.basic", "vim", false), ("Vim", "vim", false),
    ])
    func names(name: String, program: String, matches: Bool) {
        let author = Author(userID: 1, user: "ann", program: program, process: 10)
        #expect(RunName(name, among: [author]).matches(author) == matches)
        let exact = Author(userID: 1, user: "ann", program: name, process: 11)
        #expect(RunName(name, among: [author, exact]).matches(author) == (name == program))
    }

    @Test("runs of one name are told apart by their processes; of an unknown process only one save counts")
    func runs() {
        let rows = [
            Row(number: 1), Row(number: 2, program: "sed", process: 21), Row(number: 3, program: "sed", process: 22),
            Row(number: 4, kind: .current, program: "sed", process: 22),
        ]
        #expect(Self.selection(rows).firstOfLastRun(of: "sed")?.id.low == 3)
        let unknown = [Row(number: 1, process: 0), Row(number: 2, kind: .current, process: 0)]
        #expect(Self.selection(unknown).firstOfLastRun(of: "vim")?.id.low == 2)
    }
}
