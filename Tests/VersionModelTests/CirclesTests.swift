// Versions that go back to themselves are found, whatever the graph, and nothing else is.

import Testing
import VersionModel

@Suite("Circles of versions")
struct CirclesTests {
    private typealias Graph = [UInt64: [UInt64]]

    private func nodes(_ graph: Graph) -> [HistoryNode] {
        graph.map { number, parents in
            HistoryNode(
                id: VersionID(high: 0, low: number), parents: parents.map { VersionID(high: 0, low: $0) },
                time: HybridTime(wall: Timestamp(nanoseconds: Int64(number)), logical: 0),
                device: DeviceID(high: 0, low: 1), isDeletion: false, isEmpty: false)
        }
    }

    private func found(_ graph: Graph) -> [UInt64: Set<UInt64>] {
        let found = Circles.parents(in: nodes(graph))
        return Dictionary(uniqueKeysWithValues: found.map { ($0.key.low, Set($0.value.map(\.low))) })
    }

    private func inCircles(_ graph: Graph) -> Set<UInt64> {
        let nodes = nodes(graph)
        return Set(graph.keys.filter {
            let id = VersionID(high: 0, low: $0)
            return HeadRule.goesBack(id, to: id, in: nodes)
        })
    }

    @Test("What is saved in turn, merged, or has lost its parents is in none")
    func none() {
        #expect(found([:]) == [:])
        #expect(found([1: [], 2: [1], 3: [1], 4: [2, 3]]) == [:])
        // A version that was added later than the one it is a parent of, and one that is gone.
        #expect(found([1: [], 2: [1, 3], 3: [1, 99]]) == [:])
    }

    @Test("The older version gives up the newer one, and what only comes after a circle keeps its parents")
    func some() {
        #expect(found([1: [2], 2: [1]]) == [1: [2]])
        #expect(found([1: [1], 2: [1]]) == [1: [1]])
        #expect(found([1: [0, 3], 2: [1], 3: [2], 4: [3], 5: [4, 2]]) == [1: [3]])
        // Two circles, and a way from the one to the other.
        #expect(found([1: [2], 2: [1], 3: [2, 4], 4: [3]]) == [1: [2], 3: [4]])
    }

    @Test("Without what is found there is no circle, and only what was in one has lost anything", arguments: 0..<8)
    func random(_ seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<200 {
            let count = UInt64.random(in: 1...9, using: &generator)
            var graph: Graph = [:]
            for number in 1...count {
                graph[number] = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    UInt64.random(in: 1...count + 1, using: &generator)
                }
            }
            let (found, circles) = (found(graph), inCircles(graph))
            #expect(circles.isEmpty == found.isEmpty && circles.isSuperset(of: found.keys), "\(graph)")
            for (number, gone) in found {
                #expect(circles.isSuperset(of: gone) && gone.allSatisfy { $0 >= number }, "\(graph)")
                graph[number]?.removeAll { gone.contains($0) }
            }
            #expect(inCircles(graph) == [], "\(graph)")
        }
    }
}
