// How often the engine looks at files: each look costs a system call, and each read of the bytes a hash.

import Foundation
import Lineage
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container

@Suite("The engine's looks at files") struct EngineLooksTests {
    /// The files of a crowd, and how often they were looked at.
    private final class Counted: FilesBelow {
        let crowd: Crowd
        let counts = Mutex((looks: 0, reads: 0))

        init(_ crowd: Crowd) { self.crowd = crowd }

        func status(of file: FileID) throws(Errno) -> FileStat? {
            counts.withLock { $0.looks += 1 }
            return try crowd.status(of: file)
        }

        func open(_ file: FileID) throws(Errno) -> SharedDescriptor {
            counts.withLock { $0.reads += 1 }
            return try crowd.open(file)
        }

        func forget(_ file: FileID) {}

        /// The counts of some work.
        func during(_ body: () throws -> Void) rethrows -> (looks: Int, reads: Int) {
            counts.withLock { $0 = (0, 0) }
            try body()
            return counts.withLock { $0 }
        }
    }

    private func counting(_ body: (Crowd, Counted, Engine, ActorNumber, PlaceNumber) throws -> Void) throws {
        let root = try Workplace.fresh("engine-looks")
        defer { try? FileManager.default.removeItem(atPath: root) }
        let crowd = Crowd(root)
        let files = Counted(crowd)
        try body(crowd, files, crowd.engine(files), ActorNumber(1), PlaceNumber(1))
    }

    @Test("A save reads its bytes once, and later writes to a file that has changed look at none")
    func warm() throws {
        try counting { crowd, files, engine, actor, place in
            var opened = try crowd.create(engine, actor, place)
            try crowd.write(engine, opened, "first")
            let later = try files.during { try crowd.write(engine, opened, "later") }
            #expect(later == (0, 0))
            let closed = try files.during { _ = try engine.perform(.close(opened.handle)) }
            #expect(closed == (1, 1))
            let released = try files.during { _ = try engine.perform(.release(opened.handle)) }
            #expect(released == (1, 0))
            // What the file held is copied first.
            opened = try crowd.empty(engine, actor, place)
            try crowd.write(engine, opened, "second")
            try crowd.close(engine, opened, "second")
            #expect(crowd.problems() == [])
        }
    }

    @Test("A big file that is being written is removed without a read of it")
    func big() throws {
        try counting { crowd, files, engine, actor, place in
            let opened = try crowd.create(engine, actor, place)
            try crowd.write(engine, opened, String(repeating: "x", count: 3 << 20))
            let removed = try files.during { try crowd.remove(engine, actor, place) }
            #expect(removed.reads == 0 && removed.looks <= 4, "\(removed)")
        }
    }
}
