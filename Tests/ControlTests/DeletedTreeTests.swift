// What `deleted` prints: directories with what went with them, in the order that was asked for.

import ControlProtocol
import Synchronization
import Testing
import VersionModel

@testable import versionsctl

@Suite("deleted")
struct DeletedTreeTests {
    private static func entry(
        _ path: String, _ seconds: Int64, size: UInt64 = 0, group: UInt64 = 1
    ) -> DeletedEntry {
        let isDirectory = path.hasSuffix("/")
        return DeletedEntry(
            id: DeletionID(high: UInt64(seconds) << 32, low: group),
            path: Path(isDirectory ? String(path.dropLast()) : path),
            type: isDirectory ? .directory : .file, size: size,
            deleted: Samples.noon.advanced(byNanoseconds: seconds * 1_000_000_000), user: "ann", program: "rm",
            group: DeletionID(high: group, low: 0))
    }

    /// rm -r d, and before it a file of d by itself, and others.
    private static let entries = [
        entry("d/old", 1, size: 9, group: 1), entry("d/a", 10, size: 100, group: 2),
        entry("d/s/b", 11, size: 20, group: 2), entry("d/s/", 11, group: 2), entry("d/c", 12, size: 3, group: 2),
        entry("d/", 12, group: 2), entry("dz", 13, size: 50, group: 2), entry("e/", 14, group: 3),
        entry("d/", 20, group: 4), entry("d/new", 19, size: 1, group: 4),
    ]

    private static func told(_ nodes: [DeletedNode], _ order: DeletedOrder = .time, all: Bool = false) -> [String] {
        DeletedNode.listed(nodes, order, showsAll: all).map { node in
            let slash = node.entry.type == .directory ? "/" : ""
            return "\(node.entry.path)\(slash)" + (node.count > 0 ? " \(node.count) \(node.size)" : "")
        }
    }

    @Test("A directory has what was deleted with it, in the same group; the newest is first")
    func groups() {
        let nodes = DeletedNode.nodes(Self.entries)
        #expect(Self.told(nodes) == ["d/ 1 1", "e/", "dz", "d/ 4 123", "d/old"])
        #expect(Self.told(DeletedNode.nodes(Self.entries.reversed())) == Self.told(nodes))
        #expect(Self.told(nodes, all: true) == [
            "d/ 1 1", "d/new", "e/", "dz", "d/ 4 123", "d/c", "d/s/ 1 20", "d/s/b", "d/a", "d/old",
        ])
    }

    @Test("By name and by size")
    func orders() {
        let nodes = DeletedNode.nodes(Self.entries)
        #expect(Self.told(nodes, .name) == ["d/ 1 1", "d/ 4 123", "d/old", "dz", "e/"])
        #expect(Self.told(nodes, .size) == ["d/ 4 123", "dz", "d/old", "d/ 1 1", "e/"])
        #expect(Self.told(nodes, .size, all: true).prefix(5) == ["d/ 4 123", "d/a", "d/s/ 1 20", "d/s/b", "d/c"])
    }

    @Test("Of the directory that is asked for the entries are listed")
    func opened() {
        let below = Self.entries.filter { $0.path == Path("d") || $0.path.bytes.starts(with: Array("d/".utf8)) }
        let nodes = DeletedNode.nodes(below, opened: Path("d"))
        #expect(Self.told(nodes, .name) == ["d/ 1 1", "d/ 4 123", "d/a", "d/c", "d/new", "d/old", "d/s/ 1 20"])
        #expect(Self.told(nodes, .name, all: true).contains("d/s/b"))
    }

    @Test("Twice in one group, each time with its own; and sizes do not overflow")
    func twice() {
        let entries = [
            Self.entry("d/a", 1, size: 1), Self.entry("d/", 1), Self.entry("d/a", 2, size: .max),
            Self.entry("d/b", 2, size: .max), Self.entry("d/", 3),
        ]
        #expect(Self.told(DeletedNode.nodes(entries)) == ["d/ 2 \(UInt64.max)", "d/ 1 1"])
    }

    @Test("The text says how many entries a line stands for, and how they are listed")
    func text() {
        let text = VersionText(style: .plain, now: Samples.noon.advanced(byNanoseconds: 60_000_000_000), shown: { $0 })
        let printed = text.deleted(Self.entries, order: .name)
        let lines = printed.split(separator: "\n")
        #expect(lines.count == 7 && lines[0].hasSuffix("SIZE  BY      PATH"), "\(printed)")
        #expect(lines[2].hasSuffix("  123 B  ann rm  d/     3 files, 2 directories"), "\(printed)")
        #expect(lines[5].hasSuffix("directory  ann rm  e/"), "\(printed)")
        #expect(lines[6] == "--all lists the entries of directories")
        #expect(!text.deleted(Self.entries, showsAll: true).contains("--all"))
        #expect(text.deleted([]) == "Nothing deleted here.\n")
    }

    @Test("On a terminal names that differ in one place stay different, elsewhere nothing is cut")
    func cut() {
        let entries = (1...3).map { number in
            Self.entry(
                "a/very/long/way/to/the/minutes-of-meeting-\(number)-of-the-board-of-directors.txt", Int64(number))
        }
        for width in [40, 60, 80, nil] as [Int?] {
            let style = Style(isColored: false, width: width)
            let now = Samples.noon.advanced(byNanoseconds: 60_000_000_000)
            let printed = VersionText(style: style, now: now, shown: { $0 }).deleted(entries, order: .name)
            let lines = printed.split(separator: "\n").dropFirst()
            #expect(printed.contains("\u{2026}") == (width != nil), "\(printed)")
            let names = lines.compactMap { $0.split(separator: " ").last }
            for (number, name) in names.enumerated() { #expect(name.contains("\(number + 1)"), "\(printed)") }
            // No path is cut while the date is shown, and none more than it must be.
            if let width { #expect(lines.allSatisfy { $0.count == width && !$0.contains(":") }, "\(printed)") }
        }
    }

    @Test("In a history of many programs the names stay different")
    func programs() {
        let versions = (1...3).map { number in
            var version = Samples.version(UInt64(number), path: Path("f"), file: Path("/f"), minutesAgo: 2)
            version.program = "a-program-with-a-rather-long-\(number)-name-that-ends-alike"
            return version
        }
        let style = Style(isColored: false, width: 70)
        let printed = VersionText(style: style, now: Samples.noon, shown: { $0 }).versions(versions)
        let lines = printed.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 70 } && lines.count == 4, "\(printed)")
        for number in 1...3 { #expect(lines[number].dropFirst(30).contains("\(number)"), "\(printed)") }
    }

    @Test("JSON has all entries as they come, sorted only where that is asked for")
    func json() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        world.backend.state.withLock { $0.deleted = Self.entries }
        func paths(_ arguments: [String]) throws -> [String] {
            let run = try world.run(["deleted", "--json"] + arguments)
            return run.output.split(separator: "\n").filter { $0.contains("\"path\"") }.map(String.init)
        }
        let whole = try paths([])
        #expect(whole.count == Self.entries.count && whole[0].contains("d/old") && whole[9].contains("d/new"))
        #expect(try paths(["--all"]) == whole)
        #expect(try paths(["--sort", "size"])[0].contains("d/a"))
        #expect(try world.run(["deleted", "--sort", "color"]).status == 64)
        let text = try world.run(["deleted", "--sort", "name"])
        #expect(text.output.contains("3 files, 2 directories") && text.errors.isEmpty, "\(text)")
    }
}
