// A message that several tests compare is written once, in Support/Told.swift: a change of words is one line there.

import Foundation
import Support
import Testing

@Suite struct ToldTests {
    /// `contains("a text")` and the like: of two words at least, as one word is a name, and without a number before
    /// them, as that is a value.
    private static let comparison = #"(?:contains|hasPrefix|hasSuffix)\("([^"\\0-9][^"\\]* [^"\\]*)"\)"#

    @Test("No two tests compare the same words of a message") func once() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let messages = try Self.text(of: root.appendingPathComponent("Sources"))
        let tests = try Self.text(of: root.appendingPathComponent("Tests"))
        var counts: [String: Int] = [:]
        let expression = try NSRegularExpression(pattern: Self.comparison)
        for match in expression.matches(in: tests, range: NSRange(tests.startIndex..., in: tests)) {
            if let words = Range(match.range(at: 1), in: tests) { counts[String(tests[words]), default: 0] += 1 }
        }
        #expect(counts.count > 20, "the comparisons are not found")
        let repeated = counts.filter { $0.value > 1 && messages.contains($0.key) }.keys.sorted()
        #expect(repeated == [], "these belong into Tests/Support/Told.swift")
    }

    private static func text(of directory: URL) throws -> String {
        guard let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil) else {
            throw Failure("\(directory.path) cannot be listed")
        }
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined(separator: "\n")
    }
}
