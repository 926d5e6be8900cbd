// The example of docs/swift.md: the page has it as it is compiled here, and it does what the page says.

import FileCoordination
import Foundation
import Support
import Testing

@Suite("The example of docs/swift.md", .timeLimit(.minutes(2))) struct SwiftPageTests {
    @Test("the page shows the example as it is") func isShown() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: tests.appendingPathComponent("SwiftPageExample.swift"), encoding: .utf8)
        let root = tests.deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/swift.md"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)```"))
    }

    @Test("unsaved changes are written before another program reads the file, and saves by others are shown")
    func works() throws {
        try withContainer(named: "swift-page", files: ["note.txt": "one\n"]) { container in
            let editor = NoteEditor(URL(fileURLWithPath: container.file("note.txt")))
            defer { editor.close() }
            editor.presentedItemOperationQueue.addOperations(
                [BlockOperation { editor.type("two\n") }], waitUntilFinished: true)
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
