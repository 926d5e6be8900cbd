// The markers of a merge, in texts that people edit.

import Testing

@testable import versionsctl

@Suite("Conflict markers")
struct ConflictMarkersTests {
    private func count(_ text: String, besides sources: [String] = []) -> Int {
        ConflictMarkers(besides: sources.map { Array($0.utf8) }).count(in: Array(text.utf8))
    }

    @Test("each conflict counts once, and a part of a marker that was left counts as well", arguments: [
        ("<<<<<<< current\na\n=======\nb\n>>>>>>> x\n", 1), ("a\n=======\nb\n", 1), ("a\n>>>>>>> x", 1),
        ("<<<<<<< a\n=======\n>>>>>>> x\n<<<<<<< a\r\n=======\r\n>>>>>>> x\r\n", 2), ("<<<<<<<\n", 1),
        ("a\nb\n", 0), ("", 0), ("<<<<<<<< eight\n", 0), ("========\n======\n======= title\n", 0), (" <<<<<<< a\n", 0),
    ])
    func counting(text: String, conflicts: Int) {
        #expect(count(text) == conflicts)
    }

    @Test("lines like markers that were there before the merge do not count")
    func before() {
        let page = "Title\n=======\n<<<<<<< yours\n"
        #expect(count(page, besides: ["x\n", page]) == 0)
        #expect(count(page + "<<<<<<< current\n=======\n>>>>>>> x\n", besides: [page]) == 1)
    }
}
