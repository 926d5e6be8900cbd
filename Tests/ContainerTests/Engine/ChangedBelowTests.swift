// Names that other programs change below the engine's container while it is in use.

import Foundation
import Glibc
import Lineage
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container
@testable import VersionStore

@Suite("Names that change below the engine's container") struct ChangedBelowTests {
    private static func move(_ name: String, to other: String, in container: ServedContainer) throws {
        try #require(Glibc.rename("\(container.path)/\(name)", "\(container.path)/\(other)") == 0)
    }

    /// Requests that may be the first ones for a name whose file was replaced.
    private static let firstRequests: [String: @Sendable (ServedContainer) throws -> [String]] = [
        "saved": { container in
            try container.save("f", "four")
            return ["four", "three"]
        },
        "linked": { container in
            try container.link("f", to: "g")
            return ["three"]
        },
        "renamed": { container in
            try container.rename("f", to: "g")
            try container.rename("g", to: "f")
            return ["three"]
        },
    ]

    @Test(
        "A file that is renamed over another one goes on with its document",
        arguments: Self.firstRequests.keys.sorted())
    func replaced(_ request: String) throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("f", "two")
        try container.write("other", "three")
        try Self.move("other", to: "f", in: container)
        let first = try #require(Self.firstRequests[request])
        let newest = try first(container)
        #expect(try container.history("f") == newest + [nil, "one"])
        #expect(try container.problems() == [])
    }

    @Test("A program that has the replaced file open keeps its content, and saves beside the document")
    func open() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        let (handle, node) = (try container.open("f"), try container.node("f"))
        try container.write("other", "two")
        try Self.move("other", to: "f", in: container)
        try container.save("f", "three")
        #expect(try container.history("f") == ["three", "two", "one"])
        _ = try "ONE".withCString { text in
            try container.container.write(
                container.caller, node: node, handle: handle, UnsafeRawBufferPointer(start: text, count: 3), offset: 0,
                flags: nil)
        }
        container.container.flush(container.caller, handle: handle)
        container.container.release(node: node, handle: handle)
        #expect(try container.history("f") == ["ONE", "three", "two", "one"])
        let (facts, row) = (try container.told(), try #require(try container.row("f")))
        let current = facts.current(of: row.document).flatMap { facts[$0] }
        #expect(current?.file == row.file && current?.beside == .no)
        #expect(try container.problems() == [])
    }

    @Test("A file that was put aside before that keeps its content")
    func putAside() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.write("other", "two")
        try Self.move("f", to: "f.old", in: container)
        try Self.move("other", to: "f", in: container)
        try container.save("f", "three")
        #expect(try container.history("f") == ["three", "two", "one"])
        try container.save("f.old", "four")
        #expect(try container.history("f.old").prefix(2) == ["four", "one"])
        #expect(try container.problems() == [])
    }

    @Test("A name that a program has made up is told, too")
    func madeUp() throws {
        let container = try ServedContainer()
        try container.save("f.vsctmp", "one")
        try container.write("other", "two")
        try Self.move("other", to: "f.vsctmp", in: container)
        try container.save("f.vsctmp", "three")
        #expect(try container.history("f.vsctmp") == ["three", "two", nil])
    }

    @Test("A request that was late finds no change: nobody is told of a name that a program has made up")
    func unchanged() throws {
        let tree = try EngineTree()
        try tree.make(.file, OtherTypesTests.madeUp)
        let row = try #require(tree.container.recorded.engine.known.unpublishedNames.first)
        try tree.container.recorded.below.settle(row.place)
        #expect(tree.facts.facts().lastNumber == 0)
        #expect(try tree.problems(unknown: [OtherTypesTests.madeUp]) == [])
    }

    @Test("A change that is recorded between the look at it and its settling is not recorded again")
    func recordedMeanwhile() throws {
        let tree = try EngineTree()
        try tree.make(.file, "f")
        let (engine, below) = (tree.container.recorded.engine, tree.container.recorded.below)
        let place = Place(directory: .root, name: try #require(FileName("f")))
        let former = try #require(try tree.facts.lists.name(at: place)).row
        try "new".write(toFile: "\(tree.path)/f", atomically: true, encoding: .utf8)
        let file = FileID(UInt64(try #require(try tree.attributes("f")).st_ino))
        // Another request records what it has done, when this one looks at the clock.
        let recorded = Mutex<RowNumber?>(nil)
        let thread = pthread_self()
        let look: @Sendable () -> Void = {
            guard pthread_equal(thread, pthread_self()) != 0, recorded.withLock(\.self) == nil else { return }
            let number = engine.parts.recorder.reserve(1)
            var row = NameRow(
                number: RowNumber(number), time: former.time, place: former.place, file: file, how: .created,
                actor: former.actor)
            row.maker = former.actor
            engine.known.record([.row(row)])
            engine.parts.recorder.finish(number)
            recorded.withLock { $0 = row.number }
        }
        tree.clock.atLook.withLock { $0 = [look] }
        #expect(throws: Errno(rawValue: ESTALE)) { try below.settle(former.place) }
        let last = recorded.withLock(\.self)
        #expect(last != nil)
        #expect(try tree.facts.lists.name(at: place)?.row == former)
    }

    @Test("A name that was made up and is gone is another file's below the container")
    func takenBelow() throws {
        let tree = try EngineTree()
        try tree.make(.file, "f")
        try tree.make(.file, OtherTypesTests.madeUp)
        try tree.remove(OtherTypesTests.madeUp)
        try #require(Glibc.rename("\(tree.path)/f", "\(tree.path)/\(OtherTypesTests.madeUp)") == 0)
        try tree.save(OtherTypesTests.madeUp, "new")
        #expect(try tree.problems() == [])
        #expect(try tree.names() == [OtherTypesTests.madeUp: .file])
    }

    @Test("A name that is gone is an entry of the deleted list once it is asked for, and may be made anew")
    func gone() throws {
        let container = try ServedContainer()
        for name in ["f", "g", "h"] { try container.save(name, "one") }
        try container.save("other", "two")
        for name in ["f", "g", "h"] { try #require(Glibc.unlink("\(container.path)/\(name)") == 0) }
        #expect(throws: (any Error).self) { try container.unlink("f") }
        #expect(try container.deleted() == [[nil]])
        try container.save("g", "new")
        try container.rename("other", to: "h")
        #expect(try container.problems() == [])
        #expect(try container.history("g").first == "new")
        #expect(try container.history("h").first == "two")
    }

    @Test("A file that was renamed is itself under its new name")
    func moved() throws {
        let container = try ServedContainer()
        try container.save("f", "one")
        try container.save("f", "two")
        try Self.move("f", to: "g", in: container)
        try container.save("g", "three")
        #expect(try container.history("g") == ["three", "two", "one"])
        #expect(try container.problems() == [])
    }

    @Test("A directory that is replaced by another one has that one's files", arguments: [true, false])
    func directory(_ isPutAside: Bool) throws {
        let container = try ServedContainer()
        try container.makeDirectory("d")
        try container.makeDirectory("d/sub")
        try container.save("d/f", "one")
        try container.save("d/sub/g", "one")
        try Self.move("d", to: "old", in: container)
        try FileManager.default.createDirectory(atPath: "\(container.path)/d/sub", withIntermediateDirectories: true)
        try container.write("d/f", "two")
        if !isPutAside { try FileManager.default.removeItem(atPath: "\(container.path)/old") }
        try container.save("d/f", "three")
        try container.save("d/sub/g", "new")
        #expect(try container.history("d/f").prefix(2) == ["three", "two"])
        #expect(try container.history("d/sub/g").first == "new")
        if isPutAside {
            try container.save("old/f", "four")
            #expect(try container.history("old/f") == ["four", "one"])
        }
        #expect(try container.problems() == [])
    }
}
