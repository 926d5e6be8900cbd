// link(2) says which file gets a further name, and not by which of its names. A file may be two documents'.

import Foundation
import Support
import Testing

@Suite struct LinkedDocumentTests {
    @Test("ln gives a further name to the document of the name that it is given")
    func furtherName() throws {
        try withContainer(files: ["t": "one", "y": "another"]) { container in
            // A document without other versions has no directory there.
            func history(_ name: String) -> [String] {
                ((try? container.names(in: ".versions/\(name)/history")) ?? []).map { version in
                    container.text(of: ".versions/\(name)/history/\(version)") ?? "?"
                }
            }
            try shell("ln t x && mv x y", in: container.path)
            // The kernel is told a moment after the rename that it has to ask by which name the file is meant.
            let deadline = Deadline.after(seconds: 30)
            var count = 0
            repeat {
                count += 1
                try shell("ln y z\(count)", in: container.path)
            } while history("z\(count)") != ["another"] && !deadline.isOver
            try shell("ln t w", in: container.path)
            let found = ["y", "z\(count)", "t", "w"].map(history)
            return found == [["another"], ["another"], [], []] ? [] : ["histories: \(found)"]
        }
    }
}
