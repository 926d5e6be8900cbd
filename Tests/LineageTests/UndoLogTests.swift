// The reference of the undo log, beside whole copies.

import Foundation
import Lineage
import Support
import Testing

@Suite("The undo log")
struct UndoLogTests {
    @Test("each generation that is left is what it was, whatever is overwritten, cut off, extended and thinned")
    func generations() {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 0...UInt64(UInt64.max))
        print("undo log: VERSIONSFS_SEED=\(seed)")
        var dice = SeededGenerator(seed: seed)
        for round in 0..<500 {
            var log = UndoLog((0..<Int.random(in: 0...4, using: &dice)).map { UInt64($0) + 1 })
            var copies: [UInt64: [UInt64]] = [:]
            var next: UInt64 = 100
            for _ in 0..<40 {
                switch Int.random(in: 0...9, using: &dice) {
                case 0...5:
                    next += 1
                    log.write(next, at: .random(in: 0...6, using: &dice))
                case 6: log.truncate(to: .random(in: 0...6, using: &dice))
                case 7...8:
                    copies[log.generation] = log.live
                    log.endGeneration()
                default:
                    guard let gone = copies.keys.sorted().randomElement(using: &dice) else { continue }
                    copies[gone] = nil
                    log.thin(gone)
                }
            }
            for (generation, copy) in copies { #expect(log.content(of: generation) == copy, "round \(round)") }
        }
    }

    @Test("after a power cut a generation is what it was or lost, and one that was synchronized is what it was")
    func powerCut() {
        var log = UndoLog([1, 2, 3])
        log.synchronize()
        log.endGeneration()
        log.write(4, at: 0)
        log.endGeneration()
        log.write(5, at: 1)
        var further = log
        log.lose { _, _ in false }
        #expect(log.content(of: 2) == [4, 5, 3])
        // The second block is in the layer of the next generation, and durable there for the synchronized one's sake.
        #expect(log.content(of: 1) == [4, 2, 3])
        #expect(log.content(of: 0) == [1, 2, 3])
        // The first block of that layer is needed by its own generation alone.
        further.write(6, at: 0)
        further.lose { _, _ in false }
        #expect(further.content(of: 2) == [6, 5, 3])
        #expect(further.content(of: 1) == nil)
        #expect(further.content(of: 0) == [1, 2, 3])
    }
}
