// Tests/plain-words: the sources and pages have no more of the old phrases, and with the tests no more lines of over
// 120 columns, than Tests/plain-words.allowed says.

import Foundation
import Support
import Testing

@Suite struct PlainWordsTests {
    @Test("No area has more of the old phrases and of long lines than are allowed") func counts() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let output = try run(root + "/Tests/plain-words", in: root)
        #expect(output.status == 0, "\(output.text.suffix(4000)) \(output.errors.suffix(4000))")
        if !output.text.isEmpty { print(output.text) }
    }
}
