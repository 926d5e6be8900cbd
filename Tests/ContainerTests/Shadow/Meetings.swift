// How many orders of a run are judged by less than an explanation.

import LineageShadow
import Support
import Synchronization

/// Orders in which several meant changes meet (`ListedChange.meeting`): none with the usual seed, whose orders all have
/// an explanation. With another one new combinations are found: the suites together may have 2, and 20 with `--full`.
final class Meetings: Sendable {
    /// Those of all suites of a process.
    static let ofRun = Meetings(allowed: allowed(seed: ShadowTests.seed, isFull: Workplace.isFull))

    /// How many may still come.
    private let left: Mutex<Int>

    init(allowed: Int) { left = Mutex(allowed) }

    static func allowed(seed: UInt64, isFull: Bool) -> Int {
        seed == ShadowTests.usualSeed ? 0 : isFull ? 20 : 2
    }

    /// Whether one more may be. Prints both answers.
    func isAllowed(
        _ changes: Set<ListedChange>, in round: Int, of steps: [some CustomStringConvertible], _ texts: [String]
    ) -> Bool {
        let isLeft = left.withLock { left in
            left -= 1
            return left >= 0
        }
        guard isLeft else { return false }
        print("ShadowTests: no case has this, round \(round):")
        print("ShadowTests:   \(steps.map(\.description).joined(separator: "; "))")
        for text in texts { print("ShadowTests:   \(text)") }
        for change in changes.sorted(by: { $0.rawValue < $1.rawValue }) { print("ShadowTests:   may be by \(change)") }
        return true
    }
}
