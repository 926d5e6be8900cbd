// Which version brought each line: tables of texts and versions, and the tool over a served socket.

import ControlProtocol
import Foundation
import Support
import Testing
import VersionModel

@testable import versionsctl

@Suite("blame")
struct BlameTests {
    /// Lines are letters. For each new line: which old one it goes on from.
    @Test("Lines are matched with those of the text before", arguments: [
        ("", "", []), ("", "a", [nil]), ("a", "", []), ("abc", "abc", [0, 1, 2]), ("abc", "abXc", [0, 1, nil, 2]),
        ("abc", "ac", [0, 2]), ("abc", "Xbc", [nil, 1, 2]), ("abc", "xyz", [nil, nil, nil]),
        ("abcabba", "cbabac", [nil, 1, 3, 4, 6, nil]), ("aaa", "aa", [0, 1]),
        ("a}b}", "a}X}b}", [0, nil, nil, 1, 2, 3]),
        ("abcd", "dabc", [nil, 0, 1, 2]), ("xaby", "xbay", [0, nil, 1, 3]),
    ] as [(String, String, [Int?])])
    func matches(old: String, new: String, expected: [Int?]) {
        func numbers(_ text: String) -> [Int] { text.utf8.map { Int($0) } }
        let found = LineMatching.matches(from: numbers(old), to: numbers(new))
        // Of several ways that keep equally many lines, any will do; none may keep fewer, cross, or match what differs.
        let pairs = found.enumerated().compactMap { index, line in line.map { ($0, index) } }
        #expect(pairs.count == expected.compactMap { $0 }.count, "\(old) to \(new): \(found)")
        #expect(zip(pairs, pairs.dropFirst()).allSatisfy { $0.0 < $1.0 })
        #expect(pairs.allSatisfy { numbers(old)[$0.0] == numbers(new)[$0.1] })
    }

    @Test("Long texts are compared in time, whatever is in them")
    func longTexts() {
        let count = BlamedFile.mostLines
        let began = ContinuousClock.now
        // All lines new; all lines alike; the two turned about.
        #expect(LineMatching.matches(from: Array(0..<count), to: Array(count..<2 * count)).allSatisfy { $0 == nil })
        var generator = SeededGenerator(seed: 1)
        let dull = (0..<count).map { _ in Int.random(in: 0..<9, using: &generator) }
        let other = (0..<count).map { _ in Int.random(in: 0..<9, using: &generator) }
        _ = LineMatching.matches(from: dull, to: other)
        let turned = LineMatching.matches(from: Array(0..<count), to: Array(0..<count).reversed())
        #expect(turned.compactMap { $0 }.count == 1)
        let once = LineMatching.matches(from: Array(0..<count), to: Array(0..<count).filter { $0 % 3 != 0 } + [-1])
        #expect(once.dropLast().allSatisfy { $0 != nil } && once.last == .some(nil))
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    /// Versions as their number, the numbers of those that they came from, and their lines, the newest first; then the
    /// version that brought each line of the newest.
    private static let histories: [(String, [(Int, [Int], String)], [Int])] = [
        ("one version", [(1, [], "ab")], [1, 1]),
        ("a line that is added is the later one's", [(2, [1], "aXb"), (1, [], "ab")], [1, 2, 1]),
        ("a line that comes back is brought anew", [(3, [2], "ab"), (2, [1], "a"), (1, [], "ab")], [1, 3]),
        ("a line that stays is the first one's", [(3, [2], "aZ"), (2, [1], "aY"), (1, [], "aX")], [1, 3]),
        (
            "a merge brings what neither side has",
            [(4, [2, 3], "aLMRz"), (3, [1], "aRz"), (2, [1], "aLz"), (1, [], "az")], [1, 2, 4, 3, 1]
        ),
        (
            "what a version does not come from counts for nothing",
            [(3, [1], "ab"), (2, [1], "ab"), (1, [], "a")], [1, 3]
        ),
        ("an empty version between", [(3, [2], "ab"), (2, [1], ""), (1, [], "ab")], [3, 3]),
        ("an empty file", [(2, [1], ""), (1, [], "ab")], []),
        ("no version", [], []),
        ("versions in a circle, as only damage can make them", [(2, [1], "a"), (1, [2], "a")], [2]),
    ]

    @Test("Each line is blamed on the version that brought it", arguments: histories)
    func origins(name: String, versions: [(Int, [Int], String)], expected: [Int]) {
        let steps = versions.map { Blame<Int>.Step(id: $0.0, parents: $0.1) }
        let texts = Dictionary(uniqueKeysWithValues: versions.map { ($0.0, $0.2.utf8.map { Int($0) }) })
        #expect(Blame.origins(steps) { texts[$0] ?? [] } == expected, "\(name)")
    }

    @Test("The last line counts with and without its end", arguments: [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]), ("\n", [""]), ("a\nb", ["a", "b"]),
    ] as [(String, [String])])
    func lines(text: String, expected: [String]) {
        #expect(BlamedFile.split(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("The tool prints each line with version, author and time, and as JSON")
    func tool() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let run = try world.run(["blame", "doc.txt"])
        let lines = run.output.split(separator: "\n")
        #expect(run.status == 0 && run.errors.isEmpty && lines.count == 3, "\(run)")
        #expect(lines.first?.hasPrefix("000000030000  ann vim  ") ?? false && lines[0].hasSuffix("  1  one current"))
        #expect(lines[1].hasPrefix("000000010000  ") && lines[1].hasSuffix("  2  two"))
        let older = try world.run(["blame", "doc.txt", "--version", "00000001", "--json"])
        let object = try JSONSerialization.jsonObject(with: Data(older.output.utf8)) as? [String: Any]
        let first = try #require((object?["lines"] as? [[String: Any]])?.first)
        #expect(first["text"] as? String == "one" && first["line"] as? Int == 1)
        #expect(Set(first.keys) == ["line", "text", "version", "time", "user", "program", "pid"])
    }

    @Test("--at is the version of that time")
    func time() throws {
        let world = try ToolWorld()
        defer { world.stop() }
        let moment = TimeText.rfc3339(nanoseconds: Samples.noon.advanced(byNanoseconds: -60_000_000_000).nanoseconds)
        // The loser was never in the file.
        let run = try world.run(["blame", "doc.txt", "--at", moment, "--json"])
        #expect(run.status == 0 && !run.output.contains("current") && run.output.contains("\"one\""), "\(run)")
        let early = try world.run(["blame", "doc.txt", "--at", "2001-01-01"])
        #expect(early.status == 1 && early.errors.contains("no history that far back"), "\(early)")
        #expect(try world.run(["blame", "doc.txt", "--at", "1h", "--version", "00000001"]).status == 64)
    }

    @Test("Binary and very long files are refused with one error", arguments: [
        ("a\0b\n", 1, "binary"), ("x\n", BlamedFile.mostLines + 1, "longer than"),
    ])
    func refused(text: String, times: Int, words: String) throws {
        let world = try ToolWorld()
        defer { world.stop() }
        try world.write("doc.txt", String(repeating: text, count: times))
        let run = try world.run(["blame", "doc.txt"])
        #expect(run.status == 1 && run.output.isEmpty && run.errors.contains(words), "\(run)")
    }
}
