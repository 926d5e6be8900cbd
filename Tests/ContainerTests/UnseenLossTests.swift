// What was in a file that somebody overwrote, replaced or removed while the container was not mounted: where another
// version holds the same bytes, they are not lost.

import Foundation
import Glibc
import SystemPackage
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct UnseenLossTests: OperationTesting {
    /// How the file came to hold what an older version holds.
    enum Origin: CaseIterable { case restored, chosen, savedAgain }

    /// What becomes of it unseen.
    enum Fate: CaseIterable { case overwritten, replaced, removed }

    @Test(
        "A content that an older version has, too, is not lost with its file", arguments: Origin.allCases,
        Fate.allCases)
    func equal(_ origin: Origin, _ fate: Fate) throws {
        let tree = try BrowsedContainer()
        for words in ["old\n", "new\n"] { try tree.save("a.txt", words) }
        var document = try tree.container.document(at: path("a.txt"), as: my)
        switch origin {
        case .restored: _ = try tree.container.restore(try #require(document.versions.last), of: document, as: my)
        case .chosen:
            let loser = try tree.addConflict("a.txt", "old\n", base: document.versions.last?.id)
            document = try tree.container.document(at: path("a.txt"), as: my)
            _ = try tree.container.resolve(document, .version(loser.id), as: my)
        case .savedAgain: try tree.save("a.txt", "old\n")
        }
        document = try tree.container.document(at: path("a.txt"), as: my)
        let last = try #require(document.current)
        let before = try document.versions.map { try text($0, document, tree) }
        tree.close()

        let file = "\(tree.path)/a.txt"
        switch fate {
        case .overwritten: try "elsewhere\n".write(toFile: file, atomically: false, encoding: .utf8)
        case .replaced: try "elsewhere\n".write(toFile: file, atomically: true, encoding: .utf8)
        case .removed: try FileManager.default.removeItem(atPath: file)
        }
        let again = try BrowsedContainer(at: tree.path, later: 1000)
        defer { again.close() }
        let after = try again.container.document(at: path("a.txt"), as: my)
        let version = try #require(after.versions.first { $0.id == last.id })
        #expect(!version.flags.contains(.contentLost))
        #expect(try text(version, after, again) == "old\n")
        let older = after.versions.filter { $0.kind != .current || fate == .removed }
        #expect(try older.map { try text($0, after, again) }.sorted() == before.sorted())
        #expect(try again.findings() == [])
        if fate == .removed {
            // What comes back is what was there last.
            _ = try again.container.undelete(again.container.deletion(at: path("a.txt"), as: my), to: nil, as: my)
            #expect(try again.live("a.txt") == "old\n")
            #expect(try again.findings() == [])
        }
        // The version that it shares with may go: the bytes stay as long as one of the two has them.
        let equal = after.versions.filter { $0.kind == .history && $0.hash == last.hash && $0.id != last.id }
        for version in equal {
            _ = try again.container.purge(again.container.document(at: path("a.txt"), as: my), version, as: my)
        }
        let rest = try again.container.document(at: path("a.txt"), as: my)
        #expect(try text(try #require(rest.versions.first { $0.id == last.id }), rest, again) == "old\n")
        #expect(try again.findings() == [])
    }
}
