// gitignore patterns: a table, and random patterns against git itself; quiet items and databases.

import Foundation
import Testing
import VersionModel

private func path(_ text: String) throws -> TreePath { try #require(TreePath(bytes: Array(text.utf8))) }

@Suite("Ignore patterns")
struct IgnorePatternsTests {
    @Test(
        "each kind of pattern does what gitignore(5) says",
        arguments: [
            ("*.o", "a/b.o", true), ("*.o", "a/b.c", false), ("/b.o", "a/b.o", false), ("/b.o", "b.o", true),
            ("a/b", "x/a/b", false), ("**/a/b", "x/a/b", true), ("**/a/b", "a/b", true), ("a/**", "a", false),
            ("a/**", "a/x/y", true), ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("build/", "build", false),
            ("build/", "build/x", true), ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[^a]x", "bx", true),
            ("[]a]x", "]x", true), ("[[:digit:]]x", "5x", true), ("[a-", "a", false), ("a?c", "abc", true),
            ("a?c", "a/c", false), ("\\#x", "#x", true), ("#x", "#x", false), ("\\!x", "!x", true),
            ("x\\ ", "x ", true),
            ("x  ", "x", true), ("x\\", "x", false), ("*", "anything/at/all", true), ("/", "a", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false), ("", "a", false), ("[\\]]x", "]x", true), ("foo/*", "foo/a/b", true),
        ])
    func table(pattern: String, name: String, ignored: Bool) throws {
        let patterns = IgnorePatterns(lines: [pattern])
        #expect(patterns.ignores(try path(name), isDirectory: false) == ignored)
    }

    @Test("the last match decides, and nothing comes back from an ignored directory")
    func negation() throws {
        let patterns = IgnorePatterns(file: Array("\u{FEFF}*.log\r\n!keep.log\n\nbuild/\n!build/keep\n# no\n".utf8))
        #expect(patterns.ignores(try path("x.log"), isDirectory: false))
        #expect(!patterns.ignores(try path("a/keep.log"), isDirectory: false))
        #expect(patterns.ignores(try path("build/keep"), isDirectory: false))
    }

    @Test("a deeper list decides before one above it")
    func lists() throws {
        let lists = IgnoreLists([
            .init(directory: .root, patterns: IgnorePatterns(lines: ["*.txt", "!b.txt"])),
            .init(directory: try path("sub"), patterns: IgnorePatterns(lines: ["!a.txt", "/b.txt"])),
        ])
        #expect(lists.ignores(try path("a.txt"), isDirectory: false))
        #expect(!lists.ignores(try path("sub/a.txt"), isDirectory: false))
        #expect(lists.ignores(try path("sub/b.txt"), isDirectory: false))
        #expect(!lists.ignores(try path("sub/x/b.txt"), isDirectory: false))
        #expect(lists.ignores(try path("sub/c.txt"), isDirectory: false))
    }

    @Test("names that are no text are matched as bytes")
    func bytes() throws {
        let name = try #require(TreePath(bytes: [0xFF, 0x2E, 0x6F]))
        #expect(IgnorePatterns(lines: ["*.o"]).ignores(name, isDirectory: false))
        #expect(IgnorePatterns(file: [0xFF, 42]).ignores(name, isDirectory: false))
        #expect(IgnorePatterns(lines: ["?.o"]).ignores(name, isDirectory: false))
    }

    @Test("many stars cost no exponential time")
    func stars() throws {
        let pattern = String(repeating: "*a", count: 100) + "b"
        let name = try path(String(repeating: "a", count: 250))
        #expect(
            !IgnorePatterns(lines: [pattern, String(repeating: "**/a*/", count: 50) + "z"]).ignores(
                name, isDirectory: false))
    }

    @Test("random lists say what git says")
    func againstGit() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        let repository = try Repository()
        for round in 0..<40 {
            let lines = (0..<Int.random(in: 1...5, using: &generator)).map { _ in randomPattern(&generator) }
            let ignored = try repository.ignored(by: lines)
            let patterns = IgnorePatterns(file: Array(lines.joined(separator: "\n").utf8))
            for (name, isDirectory) in repository.paths {
                let ours = patterns.ignores(try path(name), isDirectory: isDirectory)
                #expect(ours == ignored.contains(name), "\(name) by \(lines), round \(round), seed \(seed)")
            }
        }
    }

    private func randomPattern(_ generator: inout SeededGenerator) -> String {
        let atoms = [
            "a", "b", "ab", "*", "?", "a*", "*b", "[ab]", "[!a]", "[a-c]x", "\\a", "[[:alpha:]]", "*.o", "a.o", "[b",
            "x ",
        ]
        var components = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            atoms.randomElement(using: &generator) ?? "a"
        }
        if Int.random(in: 0..<4, using: &generator) == 0 {
            components.insert("**", at: Int.random(in: 0...components.count, using: &generator))
        }
        let bits = UInt8.random(in: 0...255, using: &generator)
        return (bits & 3 == 0 ? "!" : "") + (bits & 12 == 0 ? "/" : "") + components.joined(separator: "/")
            + (bits & 48 == 0 ? "/" : "") + (bits & 192 == 0 ? "  " : "")
    }
}

@Suite("Quiet items")
struct QuietRuleTests {
    @Test(
        "what never conflicts",
        arguments: [
            ".git/config", "a/.git/refs/heads/main", ".hg/store", "x/.jj/op", ".svn", ".bash_history",
            "home/.python_history",
            ".lesshst", ".viminfo", ".viminfo.tmp", ".idea/workspace.xml", "workspace1.json", "a/b.log", "run.pid",
            "Cargo.lock", "app.sqlite", "app.sqlite-wal", "data.mdb", "x.db-journal",
        ])
    func quiet(name: String) throws {
        #expect(QuietRule().isQuiet(try path(name)))
    }

    @Test("what does", arguments: ["notes.md", ".gitignore", "git/config", "history", "log", "a/workspace.txt", "wal"])
    func loud(name: String) throws {
        #expect(!QuietRule().isQuiet(try path(name)))
        #expect(QuietRule().isQuiet(try path(name), isIgnoredByRepository: true))
        #expect(QuietRule().isQuiet(try path(name), header: Array("SQLite format 3\0xxxx".utf8)))
    }

    @Test("a setting replaces the patterns, and databases stay quiet")
    func settings() throws {
        let rule = QuietRule(patterns: ["/drafts/"])
        #expect(rule.isQuiet(try path("drafts/a/b.md")))
        #expect(!rule.isQuiet(try path("x.log")))
        #expect(rule.isQuiet(try path("x.db")))
    }

    @Test("a journal belongs to its database")
    func journals() throws {
        let name = try #require(FileName("a.db"))
        #expect(DatabaseRule.journals(of: name).map(\.description) == ["a.db-journal", "a.db-wal", "a.db-shm"])
        for journal in DatabaseRule.journals(of: name) { #expect(DatabaseRule.database(ofJournal: journal) == name) }
        #expect(DatabaseRule.database(ofJournal: try #require(FileName("-wal"))) == nil)
    }
}

/// A repository of git with a small tree, to ask it what it ignores.
private struct Repository: ~Copyable {
    let root: URL
    var paths: [(String, Bool)] = []

    init() throws {
        root = URL(fileURLWithPath: "/var/tmp/ignore-\(UInt64.random(in: 0...UInt64.max))")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let names = ["a", "b", "ab", "a.o", "b.o", "ax", "bx", "x", "[b"]
        for first in names {
            for second in names {
                for third in ["a", "ab", "b.o", "cx"] { try add("\(first)/\(second)/\(third)") }
            }
            paths += [(first, true)] + names.map { ("\(first)/\($0)", true) }
        }
        for name in ["c", "c.o", "cx", "aab"] { try add(name) }
        _ = try git(["init", "-q"], input: "")
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    private mutating func add(_ name: String) throws {
        let file = root.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
        paths.append((name, false))
    }

    func ignored(by lines: [String]) throws -> Set<String> {
        let list = root.appendingPathComponent(".gitignore")
        try Data(lines.joined(separator: "\n").utf8).write(to: list)
        let answer = try git(
            ["check-ignore", "--no-index", "-z", "--stdin"], input: paths.map { $0.0 + "\0" }.joined())
        return Set(answer.split(separator: "\0").map(String.init))
    }

    private func git(_ arguments: [String], input: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.currentDirectoryURL = root
        process.environment = [
            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": "/usr/bin:/bin",
        ]
        let (input_, output) = (root.appendingPathExtension("in"), Pipe())
        try Data(input.utf8).write(to: input_)
        defer { try? FileManager.default.removeItem(at: input_) }
        process.standardInput = try FileHandle(forReadingFrom: input_)
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: answer, as: UTF8.self)
    }
}
