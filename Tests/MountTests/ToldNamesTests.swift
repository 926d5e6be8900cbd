// What lists say of documents: names byte for byte, the state of a deleted one, and where older versions are.

import Foundation
import Support
import Testing

@Suite struct ToldNamesTests {
    @Test("Names that are no UTF-8, or hold control characters, differ in every list and never reach the terminal raw")
    func names() throws {
        try Place.with { place in
            try place.mount()
            try shell(
                """
                mkdir d; for n in $'x\\xff' $'x\\xfe' $'x\\n\\e[31m'; do echo 1 > "d/$n"; echo 2 > "d/$n"; done
                mkdir e; for n in $'y\\xff' $'y\\xfe'; do echo 1 > "e/$n"; rm "e/$n"; done
                """, in: place.path + "/c")
            let shown = [#"x\xff"#, #"x\xfe"#, #"x\n\x1b[31m"#]
            for (command, option) in [("query", "TRUE"), ("log", "--all")] {
                let text = try place.ctl(command, option, "d", in: "c").text
                for name in shown { #expect(text.contains("d/" + name), "\(command): \(text)") }
                #expect(!text.contains("\u{1B}") && !text.contains("\u{FFFD}"), "\(command): \(text)")
            }
            let deleted = try place.ctl("deleted", in: "c").text
            for name in [#"e/y\xff"#, #"e/y\xfe"#] { #expect(deleted.contains(name), "\(deleted)") }
            let history = try shell("cd c/d; \(Workplace.control) history $'x\\xff'", in: place.path).text
            #expect(history.hasPrefix(#"x\xff  2 versions"#), "\(history)")
            let diff = #"\#(Workplace.control) diff --no-pager c/d/x$'\n\e[31m'; echo "sta""tus $?.""#
            let terminal = try Terminal("bash", ["-c", diff], in: place.path)
            try terminal.wait(for: "status 0.")
            #expect(terminal.screen.text.contains(#"--- c/d/x\n\x1b[31m"#), "\(terminal.screen.text)")
            let piped = try shell("\(Workplace.control) diff c/d/x$'\\n\\e[31m'", in: place.path).text
            #expect(piped.contains("x\n\u{1B}[31m"), "\(piped.debugDescription)")
            try place.unmount()
        }
    }

    @Test("A deleted document's history and what selects from it agree: the last version is `~1`")
    func deleted() throws {
        try Place.with { place in
            try place.mount()
            try shell("for i in one two three; do echo $i > f; done", in: place.path + "/c")
            #expect(try place.ctl("history", "f", in: "c").text.contains("current"))
            try shell("rm f", in: place.path + "/c")
            let lines = try place.ctl("history", "f", in: "c").text.split(separator: "\n")
            #expect(lines.count == 5 && lines[0] == "f  3 versions, deleted", "\(lines)")
            #expect(lines.count > 2 && lines[2].hasSuffix(Told.lastVersion), "\(lines)")
            #expect(!lines.contains { $0.contains("current") }, "\(lines)")
            #expect(try place.ctl("show", "f", "--version=~1", in: "c").text == "three")
            #expect(try place.ctl("restore", "f", "--version=~1", in: "c").status == 0)
            #expect(try shell("cat f", in: place.path + "/c").text == "three")
            try place.unmount()
        }
    }

    @Test("The history of a renamed file says where its older versions are, if a new file has its old name")
    func renamed() throws {
        try Place.with { place in
            try place.mount()
            let lines = "mkdir d; for i in one two; do echo $i > d/a; done; mv d/a d/b; echo new > d/a"
            try shell(lines, in: place.path + "/c")
            #expect(try place.ctl("history", "d/a", in: "c").text.hasPrefix("d/a  3 versions\n"))
            let text = try place.ctl("history", "d/b", in: "c").text
            #expect(text.hasSuffix("older versions, under its old name: versionsctl history d/a"), "\(text)")
            #expect(!(try place.ctl("history", "d/a", in: "c").text.contains("older versions")))
            try place.unmount()
        }
    }
}
