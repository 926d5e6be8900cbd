// What people see: aligned text, words for sizes and times, two lines for an error.

import ControlProtocol
import Support
import Testing
import VersionModel
import VersionsClient

@testable import versionsctl

@Suite("Output for people")
struct OutputTests {
    private let text = VersionText(style: .plain, now: Samples.noon, shown: { $0 })

    /// Exact times depend on the zone of whoever runs this.
    private func exact(_ minutesAgo: Int64) -> String {
        Words.exact(Samples.noon.advanced(byNanoseconds: -minutesAgo * 60_000_000_000))
    }

    @Test("history is aligned, newest first, with times relative and exact")
    func history() {
        let versions = [
            Samples.version(3, .current), Samples.version(2, .conflict, program: "emacs", minutesAgo: 2, size: 17),
            Samples.version(1, minutesAgo: 3000, size: 5 << 20),
        ]
        #expect(text.history(DocumentHistory(path: Path("todo.txt"), versions: versions)) == """
            todo.txt  3 versions
              ID            SAVED                               SIZE  BY
              000000030000  just now    \(exact(0))  1.2 KiB  ann vim (1234)    current
              000000020000  2 min ago   \(exact(2))     17 B  ann emacs (1234)  conflict
              000000010000  2 days ago  \(exact(3000))  5.0 MiB  ann vim (1234)    pinned

            """)
    }

    @Test("conflicts show current, losers and base")
    func conflicts() {
        #expect(text.conflicts([Samples.conflict]) == """
            Notes/todo.txt  1 other version
              ID            SAVED                              SIZE  BY
              000000030000  just now   \(exact(0))  1.2 KiB  ann vim (1234)    current
              000000020000  2 min ago  \(exact(2))  1.2 KiB  ann emacs (1234)  conflict
              000000010000  1 h ago    \(exact(90))  1.2 KiB  ann vim (1234)    base, pinned

            """)
        #expect(text.conflicts([]) == "No conflicts.\n")
    }

    @Test("a base that is the current version is listed once, as both")
    func currentBase() {
        var conflict = Samples.conflict
        conflict.base = conflict.current
        let lines = text.conflicts([conflict]).split(separator: "\n")
        #expect(lines.count == 4 && lines[2].hasSuffix("  current, base"))
    }

    @Test("an error that brings no advice is given some by its kind", arguments: [
        (ControlError(.notFound, "no"), "check the spelling"), (.init(.denied, "no"), "ask its owner"),
        (.init(.system, "no", errno: 20), "a directory is needed"), (.init(.system, "no", errno: 28), "make room"),
        (.init(.denied, "no", advice: "its own"), "its own"),
    ] as [(ControlError, String)])
    func advice(error: ControlError, words: String) {
        #expect(Diagnostic(error).hint?.hasPrefix(words) == true)
    }

    @Test("status says first what people ask, then its notes, and transports last")
    func status() {
        let lines = StatusText(style: .plain, now: Samples.noon).status(Samples.status, root: Path("/mnt"))
        #expect(lines == """
            mounted      at /mnt
            conflicts    1 unresolved
            deleted      2 entries, 2.0 KiB
            history      4.0 KiB, 40 versions of 12 documents
            note: the clock jumped
            container    /mnt  (000000000000, device desk)
            files        1.0 MiB
            hub          none
            log          syslog
            version      0.1.0
            file system  ext4: versions, xattr
            transport    passthrough on, io_uring off

            """)
    }

    @Test("a number may follow its letter, as for other programs; behind -- there are only names")
    func numbers() {
        for (words, spread) in [
            (["log", "-n5", "f"], ["log", "-n", "5", "f"]), (["diff", "-U0", "f"], ["diff", "-U", "0", "f"]),
            (["log", "-n", "5"], ["log", "-n", "5"]), (["log", "-n5x"], ["log", "-n5x"]),
            (["log", "-n"], ["log", "-n"]), (["show", "--", "-n5"], ["show", "--", "-n5"]),
            (["log", "-n5", "--", "-n5"], ["log", "-n", "5", "--", "-n5"]),
        ] {
            #expect(DashedWords.spread(words) == spread)
        }
    }

    @Test("colors only where they are wanted")
    func colors() {
        let colored = VersionText(style: Style(isColored: true), now: Samples.noon, shown: { $0 })
        #expect(colored.conflicts([Samples.conflict]).contains("\u{1B}[31mconflict\u{1B}[0m"))
        #expect(!text.conflicts([Samples.conflict]).contains("\u{1B}"))
    }

    @Test("a name cannot steer the terminal")
    func control() {
        #expect(Style.printable("a\u{1B}[2Jb\n") == #"a\x1b[2Jb\n"#)
    }

    @Test("bytes that are no UTF-8 are shown each, so that names do not look alike", arguments: [
        ([97, 0xFF], #"a\xff"#), ([97, 0xFE, 98], #"a\xfeb"#), ([0xC3], #"\xc3"#), ([0xC3, 0xA9], "\u{E9}"),
        ([0xE4, 0xB8, 47, 97], #"\xe4\xb8/a"#), ([0xC2, 0x85], #"\xc2\x85"#), ([0x85], #"\x85"#),
        ([0xED, 0xA0, 0x80], #"\xed\xa0\x80"#), ([9, 13, 10, 1, 127], #"\t\r\n\x01\x7f"#), ([], ""),
        ([0xF0, 0x9F, 0x98, 0x80, 0xF0, 0x9F], "\u{1F600}\\xf0\\x9f"), ([0xEF, 0xBF, 0xBD], "\u{FFFD}"),
    ] as [([UInt8], String)])
    func bytes(bytes: [UInt8], shown: String) {
        #expect(Style.printable(Path(bytes: bytes)) == shown)
    }

    @Test("the last version of a deleted document is not called current")
    func deletedHistory() {
        let versions = [
            Samples.version(2, .current, file: Path("/mnt/Notes/.versions/.deleted/todo.txt")), Samples.version(1),
        ]
        let lines = text.history(DocumentHistory(path: Path("todo.txt"), versions: versions)).split(separator: "\n")
        #expect(lines[0] == "todo.txt  2 versions, deleted" && lines[2].hasSuffix(Told.lastVersion), "\(lines)")
        let earlier = text.history(DocumentHistory(path: Path("b"), versions: [versions[1]]), earlier: Path("a"))
        #expect(earlier.hasPrefix("b  1 version\n") && earlier.hasSuffix(": versionsctl history a\n"), "\(earlier)")
    }

    @Test("paths of a query have the terminal's whole width, and keep what tells them apart", arguments: [60, 80, 100])
    func query(width: Int) {
        let paths = (1...3).map { number in
            Path("documents/of/the/board/minutes-of-the-\(number)-meeting-of-the-board-of-directors.txt")
        }
        let items = paths.enumerated().map { index, path in
            QueryItem(
                id: "\(index)", path: path, type: .file, size: 12, modified: Samples.noon, state: "current",
                scope: "documents", document: nil, file: path)
        }
        let style = Style(isColored: false, width: width)
        let printed = QueryText(style: style, now: Samples.noon, shown: { $0 }).table(items)
        let lines = printed.split(separator: "\n").dropFirst()
        for (index, line) in lines.enumerated() {
            #expect(line.count == width || line.hasSuffix("  \(paths[index])") && width == 100, "\(printed)")
            let name = line.split(separator: " ").last ?? ""
            #expect(name.contains("\(index + 1)") && name.hasSuffix(".txt") && !line.contains(":"), "\(printed)")
        }
    }

    @Test("sizes in words", arguments: [
        (UInt64(0), "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10_188, "9.9 KiB"), (10_240, "10 KiB"),
        (1_048_575, "1.0 MiB"), (1 << 30, "1.0 GiB"), (.max, "16 EiB"),
    ])
    func sizes(bytes: UInt64, words: String) {
        #expect(Words.size(bytes) == words)
    }

    @Test("an error is two lines: the path and what happened, and what to do")
    func error() {
        let error = ControlError(.notFound, "no version 12\n34", path: Path("a\u{7}b"), advice: "try another")
        #expect(Diagnostic(error).text(columns: 80) == "error: a\\x07b: no version 12 34\nhint: try another")
        #expect(Diagnostic(nil, "no").text(columns: 80) == "error: no")
    }

    @Test("messages are wrapped at words, paths and commands are not")
    func wrapped() {
        let error = Diagnostic(
            "a file with a long name.txt", "no such file or directory",
            hint: "run `versionsctl deleted docs`, or look at 'another name' of it", usage: "x FILE [--json]")
        #expect(error.text(columns: 40) == """
            error: a file with a long name.txt: no
                   such file or directory
            hint: run `versionsctl deleted docs`, or
                  look at 'another name' of it
            usage: x FILE [--json]
            """)
        #expect(error.text(columns: 10).contains("error: a file with a long name.txt:\n       no\n"))
        #expect(WrappedText.lines("it isn't what's 'a b' (\"c d\")", label: "", columns: 9) == """
            it isn't
            what's
            'a b'
            ("c d")
            """)
    }

    @Test("a slip of the hand is recognized, another word is not", arguments: [
        ("hist", ["history"]), ("histroy", ["history"]), ("stauts", ["status"]),
        ("un", ["unmount", "undelete", "unpin"]), ("xyz", []), ("", []), ("resotre", ["restore"]),
        ("deletd", ["deleted"]), ("dff", ["diff"]),
    ] as [(String, [String])])
    func likeness(word: String, likely: [String]) {
        let names = ["history", "status", "unmount", "undelete", "unpin", "restore", "deleted", "diff", "show"]
        #expect(Likeness.nearest(to: word, among: names) == likely)
    }

    @Test("paths are said as they were typed", arguments: [
            (nil, "", "a/b", "a/b"), ("Notes", "Notes", "Notes/x", "Notes/x"),
            ("./Notes/", "Notes", "Notes/x", "./Notes/x"),
        ("../n/a.txt", "a.txt", "a.txt", "../n/a.txt"), ("sub", "sub", "other", "other"), (".", "", "a", "a"),
        ("link", "sub", "other", "/mnt/other"), (nil, "sub", "sub/x", "x"), (nil, "sub", "other", "/mnt/other"),
        ("../n/a.txt", "a.txt", "a 2.txt", "../n/a 2.txt"), ("/mnt/sub", "sub", "other", "/mnt/other"),
        ("n/sub/a", "sub/a", "sub/b", "n/sub/b"), ("n/sub/a", "sub/a", "b", "n/b"), ("/srv/l/a", "a", "b", "/srv/l/b"),
    ] as [(String?, String, String, String)])
    func typed(typed: String?, target: String, path: String, shown: String) {
        let place = ContainerPlace(root: Path("/mnt"), path: Path(target), state: .unmounted)
        #expect(PathDisplay(typed: typed.map { Path($0) }, place: place).shown(Path(path)) == Path(shown))
    }

    @Test("how much differs is read from a diff")
    func difference() {
        let diff = "--- a\n+++ b\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"
        #expect(Difference.describe(Array(diff.utf8)) == "2 lines added, 1 removed")
        #expect(Difference.describe([]) == "equal content")
        #expect(Difference.describe(Array("Binary files a and b differ\n".utf8)) == "binary files differ")
    }
}

@Suite("Arguments as bytes")
struct ArgumentBytesTests {
    @Test("any bytes come back as they were", arguments: [
            [], [0x61], [0xFF], [0xC3, 0xA9], [0xC3], [0xF4, 0x8F, 0xBA, 0x80], [0xED, 0xA0, 0x80],
            [0x65, 0xCC, 0x81, 0xFF],
        Array(UInt8(1)...255),
    ] as [[UInt8]])
    func roundTrip(bytes: [UInt8]) {
        #expect(ArgumentBytes.bytes(ArgumentBytes.text(bytes)) == bytes)
    }

    @Test("random bytes come back as they were")
    func random() {
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 1...255) }
            #expect(ArgumentBytes.bytes(ArgumentBytes.text(bytes)) == bytes)
        }
    }

    @Test("ordinary text is not disguised")
    func plain() {
        #expect(ArgumentBytes.text(Array("Übung – 漢字".utf8)) == "Übung – 漢字")
    }

    @Test("on a terminal lines are no longer than it is wide, as far as they can be; elsewhere nothing is cut",
        arguments: [nil, 200, 100, 80, 60, 40])
    func widths(_ width: Int?) {
        let program = "a-program-with-a-rather-long-name"
        var version = Samples.version(2, .conflict, path: Path("f"), file: Path("/f"), minutesAgo: 200)
        version.program = program
        let deep = Path("directory/with/a/long/way/to/its/document-\u{4E2D}\u{6587}.txt")
        let entry = DeletedEntry(
            id: .random(), path: deep, type: .file, size: 12_345,
            deleted: Samples.noon, user: "somebody", program: program, group: .random())
        let claim = ClaimInfo(
            id: "12", paths: [deep], kind: "write", options: ["replacing"], pid: 12_345, program: program,
            since: Samples.noon, waiting: true)
        let style = Style(isColored: false, width: width)
        let text = VersionText(style: style, now: Samples.noon, shown: { $0 })
        let status = StatusText(style: style, now: Samples.noon)
        for printed in [text.versions([version]), text.deleted([entry]), status.claims([claim], shown: { $0 })] {
            let lines = printed.split(separator: "\n")
            guard let width else {
                #expect(printed.contains(program) && !printed.contains("\u{2026}"), "\(printed)")
                continue
            }
            // Two wide characters.
            for line in lines { #expect(line.count + (line.contains("\u{6587}") ? 2 : 0) <= width, "\(line)") }
            #expect(lines.count == 2)
        }
        // The end of a path says more than its beginning, the program more than its pid.
        if width == 100 { #expect(text.deleted([entry]).contains("\u{6587}.txt")) }
    }

    @Test("a version without its content is marked, and it is said where the reason is")
    func lost() {
        var version = Samples.version(2, path: Path("f"), file: Path("/f"), minutesAgo: 2)
        version.lost = true
        let printed = VersionText(style: .plain, now: Samples.noon, shown: { $0 }).versions([version])
        #expect(
            printed.contains(Told.contentLost)
                && printed.contains("1 version without content: `versionsctl show FILE --version ID` says why"))
    }
}
