// A kill while an operation writes a file over.

import Foundation
import Glibc
import Lineage
import Support
import Testing
import VersionModel
import VersionStore

@testable import Container

@Suite("A kill while an operation writes a file over") struct InterruptedOverwriteTests {
    /// - Parameters:
    ///   - left: what the file holds after the kill.
    ///   - shown: what its document goes back to, newest first.
    @Test(
        "Pages of both contents give way to the former one, and an edit stays",
        arguments: [("zwei", ["one", "zwei"]), ("one", ["one", "zwei"]), ("edit", ["edit", "one", "zwei"])])
    func killed(_ left: String, _ shown: [String]) throws {
        let container = try ServedContainer()
        try container.save("f", "zwei")
        try container.save("f", "one")
        let version = try #require(try container.told().versions.last)
        let state = try container.state().merging(try container.marks([], open: ["f"])) { $1 }
        // The content of the version is kept by that.
        try container.save("f", "xxx")
        try container.kill(leaving: state) {
            let file = try Backing.open(path: "\(container.path)/f", in: AT_FDCWD, flags: O_RDWR)
            defer { Glibc.close(file) }
            let change = OverwriteMark.Change(oldSize: 3, newSize: 4, newHash: nil)
            OverwriteMark(content: ContentID(version.content), change: change).set(on: file)
            try #require(pwrite(file, left, left.utf8.count, 0) == left.utf8.count)
            try #require(ftruncate(file, off_t(left.utf8.count)) == 0)
        }
        #expect(container.text("f") == shown.first)
        try container.close(try container.open("f", O_RDONLY), "f")
        #expect(try container.history("f") == shown)
        let file = try Backing.open(path: "\(container.path)/f", in: AT_FDCWD, flags: O_RDONLY)
        defer { Glibc.close(file) }
        #expect(OverwriteMark(of: file) == nil)
    }
}
