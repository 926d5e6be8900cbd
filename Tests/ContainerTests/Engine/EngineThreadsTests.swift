// Several threads at once: what the engine records is what the files are.

import Foundation
import Lineage
import Support
import Synchronization
import SystemPackage
import Testing
import VersionModel

@testable import Container

@Suite("The engine under several threads") struct EngineThreadsTests {
    @Test(
        "Each content that a close has acknowledged is a version, and each version has its bytes",
        .timeLimit(.minutes(2)))
    func threads() throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt32.max))
        print("the engine under threads: VERSIONSFS_SEED=\(seed)")
        for round in 0..<UInt64(Workplace.count(100)) {
            let root = try Workplace.fresh("engine-threads")
            defer { try? FileManager.default.removeItem(atPath: root) }
            let crowd = Crowd(root)
            let engine = crowd.engine()
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                var dice = SeededGenerator(seed: seed &+ round &* 16 &+ UInt64(thread))
                for step in 0..<60 { crowd.act(engine, thread, step, &dice) }
            }
            let problems = crowd.problems()
            #expect(problems.isEmpty, "VERSIONSFS_SEED=\(seed), round \(round): \(problems.prefix(5))")
            if !problems.isEmpty { break }
        }
    }

    @Test("A copy for an event that was not carried out is no content of a later version")
    func abandoned() throws {
        let root = try Workplace.fresh("engine-abandoned")
        defer { try? FileManager.default.removeItem(atPath: root) }
        let crowd = Crowd(root)
        let engine = crowd.engine()
        let (one, other) = (PlaceNumber(1), PlaceNumber(2))
        let first = try crowd.create(engine, ActorNumber(1), one)
        try crowd.link(engine, ActorNumber(1), one, other)
        try crowd.write(engine, first, "unsaved")
        // The bytes become a version, and are kept, before another program empties the file.
        crowd.behindCopy.withLock { $0 = { () throws(Errno) in throw .noSpace } }
        #expect(throws: Errno.noSpace) { try crowd.empty(engine, ActorNumber(2), one) }
        crowd.behindCopy.withLock { $0 = nil }
        try crowd.write(engine, first, "settled")
        try crowd.close(engine, first, "settled")
        #expect(crowd.problems() == [])
        // Nor is it in the way of the file itself, which is kept by its move.
        for place in [one, other] { try crowd.remove(engine, ActorNumber(1), place) }
        #expect(crowd.problems() == [])
    }

    @Test("The removal of one of a file's names waits for the file's other events")
    func removal() throws {
        let root = try Workplace.fresh("engine-removal")
        defer { try? FileManager.default.removeItem(atPath: root) }
        let crowd = Crowd(root)
        let engine = crowd.engine()
        let (one, other) = (PlaceNumber(1), PlaceNumber(2))
        let opened = try crowd.create(engine, ActorNumber(1), one)
        try crowd.link(engine, ActorNumber(1), one, other)
        let (asked, removal) = (Asked([]), Event.unlink(ActorNumber(2), one))
        var subjects: Subjects?
        while subjects == nil {
            let looks = FileLooks(files: crowd)
            switch try engine.draft([removal], [], asked, looks, number: engine.known.lastNumber + 1) {
            case .ready(let draft): subjects = draft.subjects
            case .missing(let missing): try engine.load(missing)
            case .unsure, .unseen: continue
            }
        }
        #expect(subjects?.files.contains(opened.file) == true)
    }
}
