// The example of the README: it stands there as it is compiled here, and does what is said of it.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("The README's example", .timeLimit(.minutes(2))) struct ReadmeTests {
    @Test("the README shows the example as it is") func isShown() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: tests.appendingPathComponent("ReadmeExample.swift"), encoding: .utf8)
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(example)```"))
    }

    @Test("unsaved changes are written before another reads the file, and others' saves are shown") func works() throws {
        try withContainer(named: "readme", files: ["note.txt": "one\n"]) { container in
            let editor = NoteEditor(URL(fileURLWithPath: container.file("note.txt")))
            defer { editor.close() }
            editor.presentedItemOperationQueue.addOperations([BlockOperation { editor.type("two\n") }], waitUntilFinished: true)
            let read = try container.must("coordinate", "read", "note.txt", "--", "cat", "note.txt")
            #expect(read.text == "one\ntwo")
            #expect(try container.history(of: "note.txt").versions.count == 2)
            try shell("echo three > note.txt", in: container.path)
            let deadline = Date(timeIntervalSinceNow: 60)
            // Read once the operation that writes it has ended.
            nonisolated(unsafe) var text = ""
            while text != "three\n", Date() < deadline {
                editor.presentedItemOperationQueue.addOperations(
                    [BlockOperation { text = editor.text }], waitUntilFinished: true)
            }
            #expect(text == "three\n")
            return []
        }
    }
}
