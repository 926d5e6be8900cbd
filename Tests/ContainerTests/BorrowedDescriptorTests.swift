// A descriptor that a cache has lent is open for as long as it is used, whatever the cache does meanwhile.

import Foundation
import Glibc
import Testing

@testable import Container

@Suite struct BorrowedDescriptorTests {
    @Test("A container that keeps no directory at hand does everything all the same")
    func nothingAtHand() throws {
        let tree = try BrowsedContainer(holding: 0)
        try tree.makeDirectory("d")
        try tree.makeDirectory("d/e")
        try tree.save("d/e/f", "one")
        try tree.save("d/e/f", "two")
        #expect(try tree.read(try tree.only("d/e/.versions/f/history")) == "one")
        // The access list of a document, and of the directory that its versions are shown for.
        for path in ["d/e/.versions", "d/e/.versions/f", "d/e/.versions/f/history"] {
            let node = try tree.node(path)
            #expect(failure { _ = try tree.browser.extendedAttributes(tree.caller, node: node) } == 0, "\(path)")
        }
        // A reserved name, in a directory that is not the root.
        let inner = try tree.node("d/e")
        let made = failure {
            _ = try tree.container.makeDirectory(tree.caller, parent: inner, name: Browser.name, mode: 0o755)
        }
        #expect(made == EACCES)
        #expect(failure { try tree.removeDirectory("d/e/.versions") } == EACCES)
        try tree.unlink("d/e/f")
        #expect(try tree.list("d/e/.versions/.deleted") == ["f"])
        try tree.rename("d/e/.versions/.deleted/f", to: "d/e/f")
        #expect(try tree.live("d/e/f") == "two")
    }

    @Test("The number of a descriptor is taken from what holds it")
    func fromVariables() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/Container")
        let temporary = #/\)[?!]?\.raw\b(?!\.)/#
        var found: [String] = []
        for file in try FileManager.default.subpathsOfDirectory(atPath: sources.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where line.firstMatch(of: temporary) != nil {
                found.append("\(file):\(number + 1): \(line)")
            }
        }
        #expect(found == [])
    }
}
