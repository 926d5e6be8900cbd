// A program that has not seen the current version empties a file that another one has open. Until it has written,
// nothing makes a version of the empty file in the name of the other one: the first would be no rival any more of what
// it has not seen.

import LineageShadow
import Support
import Testing

@testable import Container

@Suite struct EmptiedFileTests {
    static let openings = ["openToAppend", "openInPlace", "openForBoth"]
    static let looks = ["quiet", "synchronize"]

    @Test("an emptied file is left to the handle that has emptied it", arguments: openings, looks)
    func look(opening: String, look: String) throws {
        for isPassing in [true, false] {
            try withPeople { people in
                let play = try InterleavedPlay(people, isPassing: isPassing)
                let steps = "0 truncate y; 2 openTruncating y; 2 write; 2 close; 2 release; 2 \(opening) y; "
                    + "0 openTruncating y; 2 \(look); 0 write; 0 close"
                #expect(try play.problems(after: InterleavedStep.steps(steps)).isEmpty)
                let answer = try #require(try play.tree.answer.names["y"])
                #expect(answer.conflicts == ["2.2;"])
                #expect(answer.history == ["0.8;", "2.2;", "y be", "y before;"])
            }
        }
    }
}
