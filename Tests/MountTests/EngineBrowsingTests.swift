// `.versions` and the told attributes in a mount over the engine.

import CTestSupport
import Foundation
import Support
import Testing

@Suite("The engine: versions as files")
struct EngineBrowsingTests {
    private func told(_ key: String, _ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = getxattr(path, "user.versions." + key, &buffer, buffer.count)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    @Test("Former saves are files with the text, mode and time of theirs")
    func history() throws {
        try withEngine(["d/f": "zero\n"]) { container in
            try shell("echo one > d/f; chmod 640 d/f; touch -d @1600000000 d/f; echo two > d/f", in: container.path)
            return try expect(
                "ls d/.versions/f; cd d/.versions/f/history; ls | wc -l; cat $(ls -r)",
                "base\nconflicts\nhistory\n2\none\nzero", in: container)
                + expect("ls d/.versions; stat -c %a d/.versions/f/history/* | sort", "f\n440\n444", in: container)
                + expect(
                    "cd d/.versions/f/history; ! echo x > $(ls | head -1); cat $(ls | tail -1)", "one", in: container)
        }
    }

    @Test("Deleted files are there, with their histories")
    func deleted() throws {
        try withEngine(["f": "first\n", "g": "other\n"]) { container in
            // The document comes back with the name, and goes again.
            try shell("rm f; echo second > f; rm f; chmod 600 g; rm g", in: container.path)
            return try expect(
                "cd .versions/.deleted; ls; cat f g; stat -c %a g; cat ../f/history/*",
                "f\ng\nsecond\nother\n400\nfirst", in: container)
        }
    }

    @Test("A deleted file comes back by a move, with its content, mode, time and history")
    func undeleted() throws {
        try withEngine(["d/g": "other\n"]) { container in
            try shell(
                "echo one > f; echo two > f; chmod 640 f; rm f; rm d/g; cp -p /dev/null kept", in: container.path)
            let big = String(repeating: "0123456789abcdef", count: 1 << 17)
            try big.write(toFile: container.file("big"), atomically: false, encoding: .utf8)
            try shell("rm big; mv .versions/.deleted/big bigger; mv .versions/.deleted/f again", in: container.path)
            return try expect(
                "cat again; stat -c %a again; cat .versions/again/history/*; ls .versions/.deleted | wc -l",
                "two\n640\none\n0", in: container)
                // Its directory may be another one; nothing is replaced.
                + expect("mv d/.versions/.deleted/g back; cat back; ls d", "other", in: container)
                + expect(
                    "rm back; echo x > x; ! mv -f .versions/.deleted/back x 2>/dev/null; cat x", "x", in: container)
                + expect("stat -c %s bigger; ls -A .versions/bigger 2>&1 | wc -l", "2097152\n1", in: container)
                // A save goes on with the document.
                + expect("echo three > again; ls .versions/again/history | wc -l; cat again", "2\nthree", in: container)
        }
    }

    @Test("versionsctl lists histories, conflicts and deleted files, and shows versions")
    func listed() throws {
        try withEngine(["d/f": "zero\n", "untouched": "x\n"]) { container in
            try shell("echo one > d/f; echo two > d/f; echo g > g; rm g", in: container.path)
            var problems: [String] = []
            func expect(_ words: [String], _ lines: Int) throws -> String {
                let output = try run(Workplace.control, words, in: container.path)
                if output.status != 0 { problems.append("\(words): \(output.errors)") }
                let text = output.text
                let count = text.split(separator: "\n").count
                if count != lines { problems.append("\(words) prints \(count) lines: \(text)") }
                return text
            }
            // A line for the path, and one for the columns.
            _ = try expect(["history", container.file("d/f")], 5)
            _ = try expect(["history", container.file("untouched")], 3)
            if try !expect(["deleted", container.path], 2).contains("/g") { problems.append("g is not listed") }
            if try expect(["show", container.file("d/f"), "--version=~2"], 1) != "zero" {
                problems.append("~2 is another")
            }
            if try expect(["show", container.file("g"), "--version=~1"], 1) != "g" { problems.append("g is another") }
            return problems
        }
    }

    @Test("A loser is under conflicts, and told of")
    func conflict() throws {
        try withEngine(["f": "zero\n"]) { container in
            // The first has read the file before the second saves it. They are no kin.
            let one = try ActorProcess("one", in: container.path)
            let other = try ActorProcess("other", in: container.path)
            try one.load("f")
            try other.save("ours\n", to: "f")
            try one.save("mine\n", to: "f")
            var problems = try expect("cat f .versions/f/conflicts/*", "mine\nours", in: container)
            if told("conflicts", container.file("f")) != "1" { problems.append("no conflict is told of") }
            if told("conflicts", container.path) != "1" { problems.append("the directory has none") }
            return problems
        }
    }

    @Test("What is told of a file changes with each save, and what is told of a version stays")
    func told() throws {
        try withEngine(["f": "zero\n"]) { container in
            let file = container.file("f")
            var seen: [[String?]] = []
            for text in ["one", "two", "three"] {
                try shell("echo \(text) > f", in: container.path)
                seen.append(["item", "version", "generation"].map { told($0, file) })
            }
            let last = try shell("ls .versions/f/history | tail -1", in: container.path).text
            let version = container.file(".versions/f/history/\(last)")
            return [
                Set(seen.map { $0[0] }).count == 1 ? nil : "the item changes: \(seen)",
                Set(seen.map { $0[1] }).count == 3 ? nil : "the version stays: \(seen)",
                Set(seen.map { $0[2] }).count == 3 ? nil : "the generation stays: \(seen)",
                seen.joined().contains(nil) ? "something is not told: \(seen)" : nil,
                told("version", version) == seen[1][1] ? nil : "a version's own is not told",
                told("item", version) == seen[0][0] ? nil : "its item is another",
            ].compactMap(\.self)
        }
    }
}
