// Differences that are meant by several rules, or by one whose consequences have gone on; and what no rule makes of
// the same orders.

import Glibc
import LineageShadow
import Support
import Testing

@testable import Container

@Suite(.serialized) struct ComposedChangeTests {
    /// What the container says in an order, or would say by a fault of its own.
    enum Said {
        case history(String, [String])
        case conflicts(String, [String])
        case deleted(String, [String])
        case nothingDeleted
        case nameless([[String]])
    }

    struct Case: CustomStringConvertible {
        enum Kind { case whole, interleaved, killed, ofTrees }

        var description: String
        var kind = Kind.whole
        var steps: String
        /// How files are served; nil if both ways come to the same.
        var isPassing: Bool?
        /// By which both differ; none if they do not.
        var changes: Set<ListedChange>
        var said: [Said]
        var faults: [Said]
    }

    static let cases = ofNames + ofSaves

    @Test("by all rules, and by no other", arguments: cases, [true, false])
    func both(_ case: Case, isPassing: Bool) throws {
        guard `case`.isPassing ?? isPassing == isPassing else { return }
        let among = `case`.kind == .ofTrees ? withTrees : withPeople
        try among { people in
            let (today, shadow) = try play(`case`, people, isPassing)
            func changes(_ answer: Answer) -> Set<ListedChange>? {
                let differences = shadow.differences(from: answer)
                return differences.isEmpty ? [] : ListedChange.explaining(differences, between: answer, and: shadow)
            }
            #expect(changes(today) == `case`.changes)
            for said in `case`.said {
                #expect(today == saying(said, today), "\(said)")
            }
            for fault in `case`.faults {
                #expect(changes(saying(fault, today)) == nil, "\(fault)")
            }
        }
    }

    private func play(_ case: Case, _ people: [pid_t], _ isPassing: Bool) throws -> (Answer, Shadow) {
        if `case`.kind == .whole || `case`.kind == .ofTrees {
            let play = try ShadowPlay(people, isPassing: isPassing)
            for step in ShadowStep.steps(`case`.steps) { try play.perform(step) }
            return (try play.tree.answer, play.shadow)
        }
        let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
        let steps = InterleavedStep.steps(`case`.steps)
        #expect(try play.problems(after: steps, isKilled: `case`.kind == .killed).isEmpty)
        return (try play.tree.answer, try #require(play.shadow))
    }

    private func saying(_ said: Said, _ today: Answer) -> Answer {
        var answer = today
        switch said {
        case .history(let name, let contents): answer.names[name]?.history = contents
        case .conflicts(let name, let contents): answer.names[name]?.conflicts = contents
        case .deleted(let path, let contents): answer.setDeleted([(path, contents)])
        case .nothingDeleted: answer.setDeleted([])
        case .nameless(let histories): answer.superseded = histories
        }
        return answer
    }
}
