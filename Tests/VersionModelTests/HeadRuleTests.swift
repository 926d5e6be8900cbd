// Which of several heads is current: each criterion, and that the order of looking does not matter.

import Testing
import VersionModel

private func node(
    _ number: UInt64, parents: [UInt64] = [], wall: Int64 = 0, device: UInt64 = 1, deletion: Bool = false,
    empty: Bool = false
) -> HistoryNode {
    HistoryNode(
        id: VersionID(high: 0, low: number), parents: parents.map { VersionID(high: 0, low: $0) },
        time: HybridTime(wall: Timestamp(nanoseconds: wall), logical: 0), device: DeviceID(high: 0, low: device),
        isDeletion: deletion, isEmpty: empty)
}

@Suite("Heads")
struct HeadRuleTests {
    @Test("the criteria decide in their order")
    func order() {
        func winner(_ heads: HistoryNode...) -> UInt64? { HeadRule.current(of: heads)?.id.low }
        #expect(winner(node(1), node(2, wall: 9, deletion: true)) == 1)
        #expect(winner(node(1), node(2, wall: 9, empty: true)) == 1)
        #expect(winner(node(1), node(2, parents: [7], wall: 9, empty: true)) == 2, "emptied on purpose")
        #expect(winner(node(1, wall: 9), node(2, wall: 8, device: 5)) == 1)
        #expect(winner(node(1, device: 5), node(2, device: 4)) == 1)
        #expect(winner(node(1), node(2)) == 2)
        #expect(winner() == nil)
    }

    @Test("heads are what nothing supersedes")
    func heads() {
        let nodes = [node(1), node(2, parents: [1]), node(3, parents: [1]), node(4, parents: [2])]
        #expect(HeadRule.heads(of: nodes).map(\.id.low) == [3, 4])
        #expect(HeadRule.heads(of: nodes + [node(5, parents: [3, 4])]).map(\.id.low) == [5])
    }

    @Test("a version goes back to its parents and theirs, and not to itself")
    func goesBack() {
        let nodes = [
            node(1), node(2, parents: [1]), node(3, parents: [1, 9]), node(4, parents: [2, 3]), node(5, parents: [5]),
        ]
        func goes(_ one: UInt64, _ other: UInt64) -> Bool {
            HeadRule.goesBack(VersionID(high: 0, low: one), to: VersionID(high: 0, low: other), in: nodes)
        }
        #expect(goes(4, 1) && goes(4, 3) && goes(3, 9))
        #expect(!goes(1, 4) && !goes(2, 3) && !goes(4, 4) && !goes(8, 1), "8 is not known")
    }

    @Test("the current head is the same however the heads are ordered, and grouped")
    func total() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        for _ in 0..<500 {
            let heads = (0..<5 as Range<UInt64>).map { number in
                node(
                    number, parents: Bool.random(using: &generator) ? [99] : [],
                    wall: Int64.random(in: 0..<3, using: &generator),
                    device: UInt64.random(in: 0..<2, using: &generator),
                    deletion: Int.random(in: 0..<4, using: &generator) == 0, empty: Bool.random(using: &generator))
            }
            let winner = HeadRule.current(of: heads)
            #expect(HeadRule.current(of: heads.shuffled(using: &generator)) == winner, "seed \(seed)")
            let parts = [HeadRule.current(of: heads.prefix(2)), HeadRule.current(of: heads.dropFirst(2))]
            #expect(HeadRule.current(of: parts.compactMap { $0 }) == winner, "seed \(seed)")
        }
    }
}
