// Random clients at the arbiter: claims, cancels, presenters that save, refuse, stall, die or are stopped, names that
// move.

import Foundation
import Testing
import VersionModel

@testable import Coordination

@Suite("The arbiter at random") struct ArbiterRandomTests {
    @Test(
        """
        nothing is shared that excludes, nobody is forgotten, overtaken or shut in, and everyone gets back what is \
        theirs
        """)
    func randomSteps() {
        let environment = ProcessInfo.processInfo.environment
        let isFull = environment["VERSIONSFS_FULL"] == "1"
        let given = environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? (isFull ? UInt64.random(in: 0 ... .max) : 20_261_122)
        let (runs, steps) = (isFull ? 100 : 10, 1000)
        print("ArbiterRandomTests: seed \(seed), \(runs) runs of \(steps) steps")
        var seen = Seen()
        for run in 0..<runs {
            var crowd = Crowd(seed: seed &+ UInt64(run))
            var done = 0
            // Where there was nothing to answer or to release, that was no step.
            while done < steps, crowd.faults.isEmpty { if crowd.step() { done += 1 } }
            crowd.goHome()
            #expect(
                crowd.faults == [],
                """
                seed \(seed &+ UInt64(run)), run 0 with \
                VERSIONSFS_SEED:\n\(crowd.log.suffix(40).joined(separator: "\n"))
                """)
            seen.add(crowd.seen)
            if !crowd.faults.isEmpty { return }
        }
        #expect(seen.isInteresting, "what happened: \(seen)")
    }
}

/// What happened in a run, to see that it was worth looking at.
struct Seen: CustomStringConvertible {
    var counts: [String: Int] = [:]

    mutating func note(_ what: String) { counts[what, default: 0] += 1 }
    mutating func add(_ other: Seen) { counts.merge(other.counts) { $0 + $1 } }

    var description: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    var isInteresting: Bool {
        let wanted = [
            "granted", "waited", "passed", "deadlock", "refused", "cancelled", "impatient", "presenter revoked",
            "claim revoked", "asked", "slow", "probe", "moved", "deleted", "came back", "hurried", "passed over",
            "noticed", "disturbed",
        ]
        return wanted.allSatisfy { counts[$0, default: 0] > 0 }
    }
}

/// Numbers that a seed decides.
struct Dice {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    mutating func element<Elements: Collection>(_ elements: Elements) -> Elements.Element? {
        guard !elements.isEmpty else { return nil }
        return elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
    }
}
