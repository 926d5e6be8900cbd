// The automatic merge of text, by the programs that are installed.

import ControlProtocol
import Testing

@testable import versionsctl

@Suite("The merge of text")
struct TextMergeTests {
    /// What comes of a merge, and how many places overlap in it.
    private func merge(_ base: String, _ local: String, _ remote: String) async throws -> (TextMerge.Outcome, Int) {
        try await Files.withTemporaryDirectory { directory in
            let files = MergeFiles(for: Path("f.txt"), in: directory)
            let sources = [base, local, remote].map { Array($0.utf8) }
            for (file, content) in zip([files.base, files.local, files.remote], sources) {
                try Files.replace(file, with: content)
            }
            let outcome = try TextMerge.run(files, labels: ["current", "base", "other"])
            return (outcome, ConflictMarkers(besides: sources).count(in: try Files.content(files.merged)))
        }
    }

    @Test("many overlaps are overlaps, and each has its markers", arguments: [1, 126, 127, 128, 300])
    func many(count: Int) async throws {
        // Lines that nobody changes keep the places apart.
        let text = { (word: String) in
            (0..<count).map { "\(word) \($0)\n" + (0..<5).map { "same \($0)\n" }.joined() }.joined()
        }
        let (outcome, places) = try await merge(text("base"), text("local"), text("remote"))
        #expect(outcome == .overlapping)
        #expect(places == count)
    }
}
