// A name that comes back is the same item, unless the file that had it has settled under its other name (DESIGN 5.1).

import CLinux
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite struct ReturningNameTests {
    /// How a document is saved under the name that it was moved to.
    enum Settling: CaseIterable { case exchange, renamedOver }

    @Test(
        "a file that was moved and saved there by another's rename keeps its history there when its old name comes back",
        arguments: Settling.allCases)
    func settled(_ way: Settling) throws {
        let tree = try BrowsedContainer()
        try tree.save("report", "first")
        try tree.save("report", "second")
        try tree.save("other", "from elsewhere")
        let item = try tree.item("report").id
        try tree.move("report", to: "moved")
        switch way {
        case .exchange:
            try tree.container.rename(
                tree.caller, parent: Node.rootID, name: Array("other".utf8), newParent: Node.rootID,
                newName: Array("moved".utf8), flags: linux_RENAME_EXCHANGE)
        case .renamedOver: try tree.move("other", to: "moved")
        }
        try tree.save("report", "something new")
        #expect(try tree.item("moved").id == item)
        let fresh = try tree.item("report").id
        #expect(fresh != item)
        #expect(try tree.container.store.versions(of: fresh).count == 1)
        #expect(try tree.container.store.versions(of: item).count == 3)
        #expect(Set(try tree.texts()) == ["first", "second", "from elsewhere", "something new"])
        #expect(try tree.findings() == [])
    }

    @Test("a file that was only moved leaves its history to its old name when that comes back")
    func onlyMoved() throws {
        let tree = try BrowsedContainer()
        try tree.save("report", "first")
        let item = try tree.item("report").id
        try tree.move("report", to: "report.bak")
        try tree.save("report", "second")
        #expect(try tree.item("report").id == item)
        #expect(try tree.item("report.bak").id != item)
        #expect(try tree.findings() == [])
    }
}
