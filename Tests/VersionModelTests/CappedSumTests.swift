// Sums of sizes that users choose do not overflow.

import Testing
import VersionModel

struct CappedSumTests {
    @Test("Three sparse files of 7 EiB add up to the largest number, and small ones to their sum")
    func sums() {
        let huge = [UInt64](repeating: 7 << 60, count: 3)
        #expect(huge.cappedSum == .max)
        #expect([1, 2, 3].map(UInt64.init).cappedSum == 6)
        var sum: UInt64 = .max - 1
        sum.addCapped(1)
        #expect(sum == .max)
        sum.addCapped(1)
        #expect(sum == .max)
    }
}
