// Versions named by a count, a time or a program, as people go back with them.

import Foundation
import Support
import Testing

@Suite struct GoingBackTests {
    /// A moment between what was done and what comes.
    private func now() throws -> String { try shell("date --iso-8601=ns | tr , .").text }

    @Test("~N and previous count back from the current version")
    func steps() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo two > c/f; echo three > c/f", in: place.path)
            for (name, text) in [
                ("~0", "three"), ("current", "three"), ("~1", "two"), ("previous", "two"), ("~2", "one"),
            ] {
                let shown = try place.ctl("show", "c/f", "--version", name)
                #expect(shown.text == text, "\(name): \(shown.errors)")
            }
            let far = try place.ctl("show", "c/f", "--version", "~3")
            expectError(far, "c/f", "only 3 versions", "`versionsctl history c/f` lists them")
            expectError(try place.ctl("show", "c/f", "--version", "older"), "no version is called older", "previous")
            let difference = try place.ctl("diff", "c/f", "--version", "~2", "--version", "~1").text
            #expect(difference.hasSuffix("-one\n+two"), "\(difference)")
            #expect(try place.ctl("pin", "c/f", "--version", "previous").status == 0)
            let versions = try history(place)
            #expect(versions.map(\.pinned) == [false, true, false])
            let purge = try place.ctl("purge", "c/f", "--version", "~2", "--yes")
            #expect(purge.status == 0, "\(purge.errors)")
            #expect(try history(place).map(\.id) == versions.dropLast().map(\.id))
            try place.unmount()
        }
    }

    @Test("restore alone goes one version back, and a second one forth again")
    func toggle() throws {
        try Place.with { place in
            try place.mount()
            let alone = try place.ctl("restore", "c/f")
            expectError(alone, "c/f", "`versionsctl history c/f` lists them")
            try shell("echo two > c/f", in: place.path)
            for (count, text) in [(3, "one"), (4, "two"), (5, "one")] {
                let restored = try place.ctl("restore", "c/f")
                #expect(restored.text.hasPrefix("Restored c/f as saved at 20"), "\(restored.errors)")
                #expect(try shell("cat c/f", in: place.path).text == text)
                #expect(try history(place).count == count)
            }
            // A deleted file comes back as it was last.
            try shell("rm c/f", in: place.path)
            #expect(try place.ctl("show", "c/f", "--version", "previous").text == "one")
            #expect(try place.ctl("restore", "c/f").status == 0)
            #expect(try shell("cat c/f", in: place.path).text == "one")
            try place.unmount()
        }
    }

    @Test("--at means the version that was current then")
    func times() throws {
        try Place.with { place in
            try shell("touch -d '2026-01-01 10:00:00.5' c/f", in: place.path)
            try place.mount()
            try shell("echo two > c/f", in: place.path)
            let then = try now()
            try shell("echo three > c/f", in: place.path)
            #expect(try place.ctl("show", "c/f", "--at", then).text == "two")
            #expect(try place.ctl("show", "c/f", "--at", "2026-02-01").text == "one")
            let difference = try place.ctl("diff", "c/f", "--at", "2026-02-01 9:15")
            #expect(difference.text.hasSuffix("-one\n+three"), "\(difference.errors)")
            let early = try place.ctl("show", "c/f", "--at", "2026-01-01 9:00")
            expectError(early, Told.noHistory, Told.earliest + "2026-01-01 10:00:00.500'")
            // It can be typed as it is printed.
            #expect(try place.ctl("show", "c/f", "--at", "2026-01-01 10:00:00.500").text == "one")
            expectError(try place.ctl("show", "c/f", "--at", "2200-01-01"), "has not come yet")
            let outside = place.path + "/outside"
            #expect(try place.ctl("restore", "c/f", "--at", then, "--to", outside).status == 0)
            #expect(try shell("cat outside", in: place.path).text == "two")
            #expect(try place.ctl("restore", "c/f", "--at", then).status == 0)
            #expect(try shell("cat c/f", in: place.path).text == "two")
            try place.unmount()
        }
    }

    @Test("--before means the version before the last run of a program")
    func programs() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                "echo two > c/f; perl -pi -e s/two/2/ c/f; perl -pi -e 's/$/!/' c/f; echo three > c/f", in: place.path)
            #expect(try place.ctl("show", "c/f", "--before", "perl").text == "2")
            let runs = try history(place).filter { $0.program == "perl" }
            let first = try #require(runs.last?.pid)
            #expect(try place.ctl("show", "c/f", "--before", "\(first)").text == "two")
            let none = try place.ctl("show", "c/f", "--before", "nano")
            expectError(none, "no save by nano", "versionsctl history c/f")
            #expect(try place.ctl("restore", "c/f", "--before", "perl").status == 0)
            #expect(try shell("cat c/f", in: place.path).text == "2")
            try place.unmount()
        }
    }

    @Test("A directory is compared with what it was, and goes back to before a program ran")
    func directories() throws {
        try Place.with { place in
            try shell("mkdir -p c/d/sub; cd c/d; for f in a sub/b gone same; do echo 1 > $f; done", in: place.path)
            try place.mount()
            try shell("cat c/d/a c/d/gone c/d/same c/d/sub/b; echo 2 > c/d/a", in: place.path)
            let then = try now()
            let script = """
                import os
                open('a', 'w').write('3\\n'); open('sub/b', 'w').write('3\\n'); os.remove('gone'); os.mkdir('new')
                open('new/x', 'w').write('3\\n'); open('sub/c', 'w').write('3\\n')
                """
            #expect(try run("python3", ["-c", script], in: place.path + "/c/d").status == 0)
            for moment in [["--at", then], ["--before", "python3"]] {
                let output = try run(Workplace.control, ["diff", "c/d"] + moment, in: place.path)
                #expect(output.status == 0, "\(output.errors)")
                let lines = output.text.split(separator: "\n").map(String.init)
                #expect(lines.contains { $0.hasPrefix("--- c/d/a\t") }, "\(output.text)")
                #expect(lines.contains { $0.hasPrefix("+++ c/d/sub/b\t") }, "\(output.text)")
                #expect(lines.filter { $0.hasPrefix("-") && !$0.hasPrefix("---") } == ["-2", "-1"])
                #expect(lines.contains("Only now: c/d/new/") && lines.contains("Only now: c/d/sub/c"), "\(output.text)")
                #expect(lines.contains { $0.hasPrefix("Only at 20") && $0.hasSuffix(": c/d/gone") }, "\(output.text)")
                #expect(!output.text.contains("same"))
            }
            let counted = try place.ctl("diff", "c/d", "--at", then, "--stat").text
            #expect(counted.contains(" c/d/a     | 2 +-\n"), "\(counted)")
            #expect(counted.contains(" 5 files changed, 2 insertions(+), 2 deletions(-)"), "\(counted)")
            let record = try JSONDecoder().decode(
                Comparison.self, from: Data(try place.ctl("diff", "c/d", "--at", then, "--json").stdout))
            #expect(record.entries.map { "\($0.change) \($0.path) \($0.type)" } == [
                "modified d/a file", "removed d/gone file", "added d/new directory", "modified d/sub/b file",
                "added d/sub/c file",
            ])
            #expect(record.entries.first?.then?.size == 2 && record.entries.first?.now?.kind == "current")
            let restored = try place.ctl("restore", "c/d", "--before", "python3")
            #expect(restored.status == 0, "\(restored.errors)")
            #expect(try shell("cd c/d; cat a sub/b gone same; ls . sub", in: place.path).text
                == "2\n1\n1\n1\n.:\na\ngone\nsame\nsub\n\nsub:\nb")
            #expect(try place.ctl("diff", "c/d", "--at", then).text.hasPrefix("Nothing differs from 20"))
            expectError(try place.ctl("diff", "c/d"), "is a directory", "--at")
            expectError(try place.ctl("restore", "c/d"), "is a directory", "--at")
            expectError(try place.ctl("restore", "c/d", "--before", "nano"), "no change by nano")
            try place.unmount()
            #expect(try place.ctl("check", "c").status == 0)
        }
    }

    @Test("A replaced and a renamed file, an appended one and a directory that is gone are compared, too")
    func otherChanges() throws {
        try Place.with { place in
            try shell("mkdir -p c/d/gone; cd c/d; echo 1 | tee a b gone/x; ln -s a link", in: place.path)
            try place.mount()
            try shell("echo one >> c/d/log; cat c/d/a c/d/b", in: place.path)
            let then = try now()
            let line = "cd c/d; mv a z; echo new > new; mv new b; echo two >> log; rm -r gone; ln -sfn b link"
            try shell(line, in: place.path)
            let lines = try place.ctl("diff", "c/d", "--at", then).text.split(separator: "\n").map(String.init)
            #expect(lines.contains("Only now: c/d/z") && lines.contains { $0.hasSuffix(": c/d/a") }, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("Only at 20") && $0.hasSuffix(": c/d/gone/") }, "\(lines)")
            #expect(lines.contains("+new") && lines.contains("+two") && !lines.contains("-one"), "\(lines)")
            #expect(lines.contains("Changed: c/d/link"), "\(lines)")
            try place.unmount()
        }
    }

    private struct Comparison: Decodable {
        struct Entry: Decodable {
            let path: String
            let change: String
            let type: String
            let then: VersionRecord?
            let now: VersionRecord?
        }
        let at: String
        let entries: [Entry]
    }

    private func history(_ place: Place) throws -> [VersionRecord] {
        try JSONDecoder().decode(
            HistoryRecord.self, from: Data(try place.ctl("history", "c/f", "--json").stdout)).versions
    }
}
