// A name that came back with a new file and is removed before anybody has saved that.

import Glibc
import LineageShadow
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite struct ReturnedAndDeletedTests {
    @Test("the deleted file is the current version at once, and what was there before is history", arguments: [
        "", "be", "before",
    ])
    func deleted(text: String) throws {
        let tree = try BrowsedContainer()
        try tree.save("y", "before")
        try tree.move("y", to: "t")
        let made = try tree.container.create(
            tree.caller, parent: Node.rootID, name: Array("y".utf8), mode: 0o644, flags: O_WRONLY | O_CREAT | O_TRUNC)
        let (node, handle) = (made.found.node, made.reply.handle)
        if !text.isEmpty { try tree.write(text, node, handle, at: 0) }
        try tree.unlink("y")
        try expect(tree, text == "before" ? [text] : [text, "before"])
        try tree.write("after", node, handle, at: 0)
        tree.container.flush(tree.caller, handle: handle)
        tree.container.release(node: node, handle: handle)
        try expect(tree, ["after" + text.dropFirst(5), "before"])
        #expect(try tree.live("t") == "before")
        #expect(try tree.findings() == [])
    }

    private func expect(_ tree: BrowsedContainer, _ texts: [String], from line: Int = #line) throws {
        let answer = try tree.answer
        #expect(answer.deleted == ["y: \(texts)"], "line \(line)")
        #expect(answer.names["t"]?.history == ["before"], "line \(line)")
    }
}
