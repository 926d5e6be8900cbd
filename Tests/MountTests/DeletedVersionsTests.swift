// A deleted document through versionsctl: its versions are listed, shown, compared and restored as a live one's are.

import Foundation
import Support
import Testing

@Suite struct DeletedVersionsTests {
    private func history(_ path: String, _ place: Place) throws -> HistoryRecord {
        let output = try place.ctl("history", path, "--json")
        guard output.status == 0 else { throw Failure("history \(path): \(output.errors)") }
        return try JSONDecoder().decode(HistoryRecord.self, from: Data(output.stdout))
    }

    @Test("Versions of a deleted document are listed, shown, compared and restored", arguments: [
        "rm c/d/a.txt", "rm -r c/d", "rm c/d/a.txt; mv c/d c/e", "rm -r c/d; mkdir c/d", "rm c/d/a.txt; rm -r c/d",
    ])
    func deleted(_ line: String) throws {
        try Place.with { place in
            try place.mount()
            try shell("mkdir c/d; for i in one two three; do echo $i > c/d/a.txt; done; \(line)", in: place.path)
            let versions = try history("c/d/a.txt", place).versions
            #expect(versions.map(\.kind) == ["current", "history", "history"])
            for (version, text) in zip(versions, ["three", "two", "one"]) {
                let content = try String(contentsOfFile: version.file, encoding: .utf8)
                #expect(content == text + "\n", "\(version.file)")
                #expect(try place.ctl("show", "c/d/a.txt", "--version", version.id).text == text)
                #expect(try place.ctl("show", version.id, "--container", "c").text == text)
                #expect(try place.ctl("show", version.file).text == text)
            }
            #expect(try place.ctl("diff", "c/d/a.txt").text.hasSuffix("-two\n+three"))
            let first = try #require(versions.last?.id)
            #expect(try place.ctl("restore", "c/d/a.txt", "--version", first, "--to", "c/copy").status == 0)
            #expect(try String(contentsOfFile: place.path + "/c/copy", encoding: .utf8) == "one\n")
            try place.unmount()
        }
    }

    @Test("Versions of a document called like an entry of `.versions` are found by their files", arguments: [
        ".deleted", ".socket", ".deleted@document",
    ])
    func special(_ name: String) throws {
        try Place.with { place in
            try place.mount()
            try shell("echo x > c/other; rm c/other; echo one > c/\(name); echo two > c/\(name)", in: place.path)
            for line in ["true", "rm c/\(name)"] {
                try shell(line, in: place.path)
                for (version, text) in zip(try history("c/\(name)", place).versions, ["two", "one"]) {
                    let content = try String(contentsOfFile: version.file, encoding: .utf8)
                    #expect(content == text + "\n", "\(version.file)")
                    #expect(try place.ctl("show", version.file).text == text)
                }
            }
            try place.unmount()
        }
    }

    @Test("Versions of a document whose name another one has now are found by their ids and files")
    func hidden() throws {
        try Place.with { place in
            try place.mount()
            try shell("echo one > c/a; echo two > c/a; rm c/a", in: place.path)
            let old = try history("c/a", place).versions
            // Not the same document: the name came back by the hand of somebody who had never seen it, much later.
            try place.unmount()
            try place.mount()
            try shell("echo other > c/b; mv c/b c/a", in: place.path)
            for (version, text) in zip(old, ["two", "one"]) {
                #expect(try place.ctl("show", version.id, "--container", "c").text == text)
                let again = try JSONDecoder().decode(
                    VersionRecord.self,
                    from: Data(try place.ctl("show", version.id, "--container", "c", "--json").stdout))
                #expect(try String(contentsOfFile: again.file, encoding: .utf8) == text + "\n", "\(again.file)")
            }
            try place.unmount()
        }
    }
}
