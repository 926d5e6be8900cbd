// The share of long work that is done.

import Testing

@testable import versionsctl

@Suite("The line of progress")
struct ProgressLineTests {
    @Test("percents are those of the total, whatever it is", arguments: [
        (0, 5, 0), (3, 5, 60), (5, 5, 100), (100, 150, 66), (149, 150, 99), (199, 200, 99), (1, 3, 33), (0, 1, 0),
        (250, 1000, 25), (7, 5, 100), (0, 0, 100), (.max / 2, .max, 49), (.max - 1, .max, 99), (.max, .max, 100),
        (.max, 1, 100),
    ] as [(UInt64, UInt64, UInt64)])
    func percent(done: UInt64, total: UInt64, percents: UInt64) {
        #expect(ProgressLine.percent(done, of: total) == percents)
    }
}
