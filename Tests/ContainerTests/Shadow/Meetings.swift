// How many orders of a run are judged by their contents alone.

import LineageShadow

/// Orders in which several meant changes meet (`ListedChange.meeting`): none with the usual seed, whose orders all have
/// an explanation; with another one, as new combinations are found, one of 300.
struct Meetings {
    /// How many may still come.
    var left: Int

    static func allowed(of rounds: Int, seed: UInt64) -> Int {
        seed == ShadowTests.usualSeed ? 0 : max(1, rounds / 300)
    }

    /// Whether one more may be. Prints both answers.
    mutating func isAllowed(
        _ changes: Set<ListedChange>, in round: Int, of steps: [some CustomStringConvertible], _ texts: [String]
    ) -> Bool {
        guard left > 0 else { return false }
        left -= 1
        print("ShadowTests: judged by contents alone, round \(round):")
        print("ShadowTests:   \(steps.map(\.description).joined(separator: "; "))")
        for text in texts { print("ShadowTests:   \(text)") }
        for change in changes.sorted(by: { $0.rawValue < $1.rawValue }) { print("ShadowTests:   may be by \(change)") }
        return true
    }
}
