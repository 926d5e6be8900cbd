// Texts that are too long lose their middle, and stay different.

import ControlProtocol
import Support
import Testing

@testable import versionsctl

@Suite("Texts cut in their middle")
struct MiddleCutTests {
    private static let rows: [(String, [String], Int, [String])] = [
        ("what fits stays", ["a.txt", "", "exactly-10"], 10, ["a.txt", "", "exactly-10"]),
        ("the beginning and the end stay", ["abcdefghijklmnop.txt"], 11, ["abcde…p.txt"]),
        (
            "what differs in the middle stays",
            ["minutes-of-the-meeting-1-of-the-board.txt", "minutes-of-the-meeting-2-of-the-board.txt"], 20,
            ["minu…ting-1-of-….txt", "minu…ting-2-of-….txt"]
        ),
        (
            "differences at the ends need nothing",
            ["1abcdefghijklmnopqrst", "2abcdefghijklmnopqrst"], 9, ["1abc…qrst", "2abc…qrst"]
        ),
        (
            "one that goes on where the other ends",
            ["a-long-name-of-a-file.txt", "a-long-name-of-a-file2.txt"], 12, ["a-lon…le.txt", "a-lon…e2.txt"]
        ),
        ("equal texts are cut alike", ["abcdefghijkl", "abcdefghijkl"], 5, ["ab…kl", "ab…kl"]),
        ("wide characters take two columns", ["中文中文中文中文"], 9, ["中文…中文"]),
        ("no wide character is halved", ["中文中文中文中文"], 8, ["中…中文"]),
        ("combining characters take none", ["e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"], 5,
            ["e\u{301}e\u{301}…e\u{301}e\u{301}"]),
        ("there may be no room at all", ["abc", "中文"], 1, ["…", "…"]),
        ("nor a column", ["abc"], 0, ["…"]),
    ]

    @Test("Table", arguments: rows)
    func table(name: String, texts: [String], limit: Int, expected: [String]) {
        let cut = MiddleCut.cut(texts, to: limit)
        #expect(cut == expected, "\(name)")
    }

    @Test("Bytes that are no text are cut like others")
    func bytes() {
        let (before, behind) = ([UInt8](repeating: 0xFF, count: 30), [UInt8](repeating: 0xFE, count: 30))
        let names = [0x31, 0x32].map { Path(bytes: before + [$0] + behind) }
        let cut = MiddleCut.cut(names.map { Style.printable($0) }, to: 12)
        #expect(
            cut.allSatisfy { WrappedText.width($0) <= 12 } && cut[0].contains("1") && cut[1].contains("2"), "\(cut)")
    }

    @Test("Whatever the names are, they fit; and where they differ in one place, they stay different")
    func random() {
        var generator = SeededGenerator(seed: .random(in: 0...(.max >> 1)))
        let alphabet = Array("abc-_.0123中文é\u{1F600}").map(String.init) + ["e\u{301}", "x\u{323}"]
        for _ in 0..<300 {
            let length = Int.random(in: 0...60, using: &generator)
            let base = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "a" }
            let place = Int.random(in: 0...length, using: &generator)
            let names = (0..<8).map { number in (base[..<place] + ["\(number)"] + base[place...]).joined() }
            let limit = Int.random(in: 5...50, using: &generator)
            let cut = MiddleCut.cut(names, to: limit)
            #expect(cut.allSatisfy { WrappedText.width($0) <= limit }, "\(names) to \(limit): \(cut)")
            #expect(Set(cut).count == names.count, "\(names) to \(limit): \(cut)")
        }
    }

    @Test("Many names take no long time")
    func many() {
        let names = (0..<5_000).map {
            String(repeating: "directory/", count: 12) + "picture-\($0)-of-the-same-day.jpeg"
        }
        let cut = MiddleCut.cut(names, to: 40)
        #expect(Set(cut).count == names.count)
    }
}
