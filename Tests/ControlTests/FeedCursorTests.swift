// A subscriber's place in the change feed: told with what concerns it, and now and then without.

import Testing

@testable import ControlService

@Suite struct FeedCursorTests {
    @Test("whom nothing concerns hears how far it is before the feed no longer reaches back to what it heard last")
    func silence() {
        var cursor = FeedCursor(sequence: 100)
        var told: [UInt64] = []
        for sequence in stride(from: UInt64(600), through: 60_100, by: 500) {
            let mayFetch = cursor.beginFetch(isWritable: true)
            #expect(mayFetch)
            cursor.took(upTo: sequence)
            let tells = cursor.tells(ofSomething: sequence == 5_100)
            if tells { told.append(sequence) }
        }
        #expect(told == [5_100, 15_100, 25_100, 35_100, 45_100, 55_100])
    }
}
