// What a power cut leaves of files that were overwritten or truncated in place, and what is done beforehand.

import CLinux
import Glibc
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

extension PowerCutTests {
    @Test(
        "what is longer than what was saved, because it is from before that, is a whole save only if its hash says so",
        arguments: ["two zero", "tw\0 zero"])
    func endNotCutOff(arrived: String) throws {
        let before = try BrowsedContainer()
        try before.save("x", "one zero")
        // Times of files cannot be made to be earlier: what is saved is saved later.
        before.clock.set(aheadBy: 86_400 * 36_500)
        let writer = try Writer(before, "x")
        try writer.write("two", at: 0)
        let file = try #require(before.container.serving.files[writer.handle]).descriptor.raw
        #expect(ftruncate(file, 3) == 0)
        try touch(file, in: 3600)
        writer.close()
        let catalog = try snapshot(before)
        before.close()
        let path = try FileDescriptor.open("\(before.path)/x", .writeOnly)
        try touch(path.rawValue, in: 0)
        try path.close()
        let tree = try cut(before, catalog, ["x": arrived], later: 86_400 * 36_501)
        #expect(try tree.live("x") == (arrived == "two zero" ? "two" : "one zero"))
        let versions = try tree.container.store.versions(of: try tree.item("x").id)
        #expect(versions.contains { $0.kind == .history && $0.flags.contains(.unfinished) && $0.size == 8 })
        #expect(try tree.texts().contains("one zero") && tree.texts().contains(arrived))
        #expect(try tree.findings() == [])
        tree.close()
    }

    @Test("what is from before a save, and too big to be hashed at once, is not taken for what was saved")
    func bigAndEarlier() throws {
        let before = try BrowsedContainer()
        let one = String(repeating: "1", count: Int(LiveContainer.hashedAtOnce) + 4096)
        try before.save("x", one)
        before.clock.set(aheadBy: 86_400 * 36_500)
        let writer = try Writer(before, "x")
        try writer.write("2", at: 0)
        try touch(try #require(before.container.serving.files[writer.handle]).descriptor.raw, in: 3600)
        writer.close()
        let catalog = try snapshot(before)
        before.close()
        let path = try FileDescriptor.open("\(before.path)/x", .writeOnly)
        try touch(path.rawValue, in: 0)
        try path.close()
        let tree = try cut(before, catalog, later: 86_400 * 36_501)
        #expect(try tree.live("x") == one)
        #expect(try tree.texts().contains("2" + one.dropFirst()))
        #expect(try tree.findings() == [])
        tree.close()
    }

    private func touch(_ file: Int32, in seconds: Int) throws {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        now.tv_sec += seconds
        #expect(futimens(file, [now, now]) == 0)
    }

    @Test(
        "what was synchronized is copied for good before it is truncated; what was not is not waited for",
        arguments: [Truncation.opening, .inPlace, .appended, .elsewhere])
    func copiedForGood(_ truncation: Truncation) throws {
        let tree = try BrowsedContainer()
        let contents = tree.container.store.contents
        try tree.save("x", "one")
        #expect(contents.unawaited == 0)
        try tree.save("x", "two")
        // Elsewhere nothing is ever overtaken.
        #expect(contents.unawaited == (contents.mayBeOvertaken ? 1 : 0))
        try synchronize(tree, "x")
        #expect(contents.unawaited == 0)
        switch truncation {
        case .opening: try tree.save("x", "three")
        case .inPlace:
            let writer = try Writer(tree, "x", O_WRONLY)
            var edit = AttributeEdit()
            edit.size = 0
            _ = try tree.container.setAttributes(tree.caller, node: writer.node, handle: writer.handle, edit)
            writer.close()
        case .appended:
            try tree.save("x", " and more", flags: O_APPEND)
            try tree.save("x", "three")
        case .elsewhere:
            try tree.save("y", "y")
            try move(tree, "x", to: "y")
            #expect(contents.unawaited == 0)
            try tree.save("y", "three")
        }
        #expect(contents.unawaited == 0)
        let file = truncation == .elsewhere ? "y" : "x"
        // What came since is nothing that anybody has synchronized.
        if truncation == .inPlace { try tree.save(file, "three") }
        try tree.save(file, "four")
        #expect(contents.unawaited >= (contents.mayBeOvertaken ? 1 : 0))
        #expect(try tree.texts().contains("two"))
        tree.close()
    }

    enum Truncation { case opening, inPlace, appended, elsewhere }
}
