// Names of versions in JSON and on the command line, and what diff --stat prints.

import ControlProtocol
import Foundation
import Testing
import VersionModel

@testable import versionsctl

@Suite("Names of versions")
struct VersionNameTests {
    @Test("a text is read", arguments: [
        ("current", VersionName.back(0)), ("~0", .back(0)), ("previous", .back(1)), ("~", .back(1)), ("~1", .back(1)),
        ("~12", .back(12)), ("3f9c", .id("3f9c")), ("~x", .id("~x")), ("~-1", .id("~-1")),
        ("/home/ann", .id("/home/ann")),
        ("~99999999999999999999", .id("~99999999999999999999")),
    ])
    func reads(text: String, name: VersionName) {
        #expect(VersionName(text) == name)
        #expect(VersionName(argument: text) == name)
    }

    @Test("JSON has a text, or an object for a time and a program", arguments: [
        (VersionName.id("3f9c"), #""3f9c""#), (.back(2), #""~2""#), (.before("vim"), #"{"before":"vim"}"#),
        (.at(Samples.noon), #"{"at":"2026-11-21T10:33:12.345678901Z"}"#),
    ])
    func json(name: VersionName, text: String) throws {
        #expect(String(decoding: try JSONEncoder().encode(name), as: UTF8.self) == text)
        #expect(try JSONDecoder().decode(VersionName.self, from: Data(text.utf8)) == name)
    }

    @Test("other JSON is refused", arguments: ["1", "{}", "null", "[]", #"{"at":"yesterday"}"#, #"{"before":1}"#])
    func refuses(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(VersionName.self, from: Data(text.utf8)) }
    }

    @Test("an error says when history begins")
    func begins() throws {
        let error = ControlError(.invalidValue, "no history that far back", begins: Samples.noon)
        let line = Wire.line(failing: error, to: .number(1))
        #expect(String(decoding: line, as: UTF8.self).contains(#""data":{"begins":"2026-11-21T10:33:12.345678901Z"}"#))
        #expect(try Message(line: line) == .reply(id: .number(1), error: error))
    }
}

@Suite("diff of the tool")
struct DiffToolTests {
    @Test("restore alone asks for the version before, and --version for what it names")
    func restore() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        for (arguments, asked) in [
            ([], "-"), (["--version", "previous"], "~1"), (["--version=~2"], "~2"), (["--before", "vim"], "before vim"),
            (["--at", "2026-11-21T10:33:12Z"], "at 2026-11-21T10:33:12.000000000Z"),
        ] {
            #expect(try world.run(["restore", "doc.txt"] + arguments).status == 0)
            #expect(world.backend.log.last == "restore path doc.txt \(asked) to -", "\(arguments)")
        }
        let directory = try world.run(["restore", "."])
        #expect(directory.status == 1 && directory.errors.contains("is a directory"), "\(directory.errors)")
    }

    @Test("names of versions that exclude one another are wrong usage", arguments: [
        ["restore", "x", "--version", "~1", "--at", "2h"], ["show", "x", "--at", "2h", "--before", "vim"],
        ["diff", "x", "--version", "~1", "--at", "2h"], ["diff", "x", "y", "--version", "~1", "--version", "~2"],
        ["show", "x", "--version", ""], ["diff", "x", "-U", "-1"], ["pin", "x"], ["show", "x", "--at", "soon"],
    ])
    func usage(arguments: [String]) throws {
        let run = try runTool(arguments)
        #expect(run.status == 64 && run.output.isEmpty, "\(run.errors)")
    }

    @Test("a wrong time is answered with the forms that there are")
    func wrongTime() throws {
        let run = try runTool(["show", "x", "--at", "yestoday"])
        #expect(run.errors.contains("yestoday") && run.errors.contains(TypedTime.forms), "\(run.errors)")
    }

    @Test("-U takes the lines of context, --stat counts them, two files are compared with each other")
    func diff() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let short = try world.run(["diff", "doc.txt", "-U", "0"])
        #expect(short.status == 0 && short.output.contains("@@ -1 +1 @@\n") && !short.output.contains("\n two"))
        let counted = try world.run(["diff", "doc.txt", "--stat"])
        #expect(counted.output == " doc.txt | 4 ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)\n")
        let outside = world.directory + "/outside.txt"
        try "one\n".write(toFile: outside, atomically: false, encoding: .utf8)
        let two = try world.run(["diff", "doc.txt", outside, "--version", "previous"])
        #expect(two.status == 0 && two.output.hasSuffix("@@ -1,3 +1 @@\n one\n-two\n-three\n"), "\(two)")
        #expect(two.output.contains("--- doc.txt\t") && two.output.contains("+++ \(outside)\n"))
        let missing = try world.run(["diff", "doc.txt", world.directory + "/nowhere"])
        #expect(missing.status == 1 && missing.output.isEmpty)
    }

    @Test("counts are drawn in the room that there is")
    func counts() {
        let lines: [DiffCounts.Line] = [
            .init(name: "a.txt", counts: LineCounts(added: 300, removed: 100)),
            .init(name: "sub/b.txt", counts: LineCounts(added: 0, removed: 1)), .init(name: "c.bin"),
            .init(name: "d", note: "Only now: d"),
        ]
        let text = DiffCounts(lines: lines).text(Style(isColored: false, width: 40))
        #expect(text == """
             a.txt     | 400 ++++++++++++++++-----
             sub/b.txt |   1 -
             c.bin     | Bin
             Only now: d
             4 files changed, 300 insertions(+), 101 deletions(-)

            """)
    }
}
