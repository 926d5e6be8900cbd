// Orders in which several meant changes meet are judged by their names, contents and rivals.

import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct MeetingTests {
    /// Orders that no case has.
    static let orders = [
        // A file without a name is closed while the name's former document has gone back from over another one.
        "0 openTruncating t; 0 rename t x; 1 rename y x; 1 openTruncating x; 0 writeAtStart 0; 1 rename x y",
        "0 openTruncating x; 0 write 0; 1 rename y x; 1 openTruncating x; 1 writeAtStart 0; 1 rename x y; 0 write 0",
    ]

    @Test("faults that such an order does not hide", arguments: orders, [true, false])
    func judged(steps: String, isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps(steps), isKilled: false).isEmpty)
            let (today, shadow) = (try play.tree.answer, try #require(play.shadow))
            func met(_ change: (inout Answer) -> Void) -> Set<ListedChange>? {
                var answer = today
                change(&answer)
                return ListedChange.meeting(in: shadow.differences(from: answer), between: answer, and: shadow)
            }
            let isMet = (asIs: met { _ in } != nil, inOtherOrder: met { $0.names["y"]?.history.reverse() } != nil)
            #expect(isMet == (true, true))
            // These are faults of the container in any order.
            let content = met { $0.names["y"]?.content = "other" }
            let name = met { $0.names["x"] = $0.names["y"] }
            let rival = met { $0.names["y"]?.conflicts.append("never written") }
            let lost = met { $0.names["y"]?.history.removeAll { $0 == "x before;" } }
            let invented = met { $0.names["y"]?.history.append("never written") }
            #expect(content == nil && name == nil && rival == nil && lost == nil && invented == nil)
        }
    }

    @Test("a rival of a document that no meant change concerns is a fault", arguments: [true, false])
    func rivals(isPassing: Bool) throws {
        try withPeople { people in
            let play = try ShadowPlay(people, isPassing: isPassing)
            // Changes meet at x and t, not at y.
            for step in ShadowStep.steps("0 save y; 1 save y; 0 save x; 0 save t; 0 move t x; 0 link x t; 0 save t") {
                try play.perform(step)
            }
            var answer = try play.tree.answer
            answer.names["y"]?.conflicts.append("0.0;")
            let differences = play.shadow.differences(from: answer)
            #expect(ListedChange.meeting(in: differences, between: answer, and: play.shadow) == nil)
        }
    }

    @Test("no such order with the usual seed, and two of a run with another")
    func bounds() {
        let meetings = Meetings(allowed: Meetings.allowed(seed: 1, isFull: false))
        let allowed = (0..<3).map { meetings.isAllowed([.savedFirst], in: $0, of: ["a step of a test"], []) }
        #expect(allowed == [true, true, false])
        #expect(Meetings.allowed(seed: 1, isFull: true) == 20)
        #expect(Meetings.allowed(seed: ShadowTests.usualSeed, isFull: true) == 0)
    }
}
