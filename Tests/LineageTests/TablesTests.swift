// How programs save, and what comes back with a name, as tables; with a kill after every step.

import LineageWorlds
import Testing

@Suite("Tables of programs and stories")
struct TablesTests {
    @Test("each way of saving makes one version a save", arguments: Way.all)
    func way(_ way: Way) {
        #expect(way.problems() == [])
    }

    @Test("each way of replacing a file conflicts with a save in between", arguments: Way.all.filter(\.conflicts))
    func conflict(_ way: Way) {
        #expect(way.conflictProblems() == [])
    }

    @Test("orders in which a save may be lost", arguments: Order.found + Order.ours, [true, false])
    func order(_ steps: String, isUnseen: Bool) {
        #expect(Order.problems(steps, isUnseen: isUnseen) == [])
    }

    @Test("stories", arguments: Story.all)
    func story(_ story: Story) {
        #expect(story.problems() == [])
    }
}
