// What remains of a graph of versions when some go: drawn by hand, and at random.

import Testing
import VersionModel

private func id(_ number: UInt64) -> VersionID { VersionID(high: 0, low: number) }

/// A version that was saved at the time of its number.
private func node(_ number: UInt64, _ parents: [UInt64]) -> HistoryNode {
    HistoryNode(
        id: id(number), parents: parents.map(id),
        time: HybridTime(wall: Timestamp(nanoseconds: Int64(number)), logical: 0), device: DeviceID(high: 0, low: 1),
        isDeletion: false, isEmpty: false)
}

@Suite("Versions that go")
struct SpliceTests {
    private typealias Graph = [UInt64: [UInt64]]

    /// What is left of a graph.
    private func without(_ gone: Set<UInt64>, _ graph: Graph) -> Graph {
        let changed = Splice.parents(without: Set(gone.map(id)), in: graph.map { node($0, $1) })
        #expect(changed.keys.allSatisfy { !gone.contains($0.low) })
        var left = graph.filter { !gone.contains($0.key) }
        for (version, parents) in changed { left[version.low] = parents.map(\.low) }
        return left
    }

    private func base(_ one: UInt64, _ other: UInt64, _ graph: Graph) -> UInt64? {
        MergeBase.of(id(one), and: id(other), in: graph.map { node($0, $1) })?.low
    }

    @Test("what went back to one that goes, goes back to what that went back to")
    func line() {
        let graph: Graph = [1: [], 2: [1], 3: [2], 4: [3], 5: [1]]
        #expect(without([3], graph) == [1: [], 2: [1], 4: [2], 5: [1]])
        #expect(without([2, 3], graph) == [1: [], 4: [1], 5: [1]])
        #expect(base(4, 5, without([2, 3], graph)) == 1)
        #expect(without([4], graph) == [1: [], 2: [1], 3: [2], 5: [1]], "nobody goes back to it")
        #expect(without([9], graph) == graph, "there is no such version")
    }

    @Test("what was merged goes back to both sides, and names none twice, nor one that the other leads to")
    func merges() {
        let graph: Graph = [1: [], 2: [1], 3: [1], 4: [2, 3], 5: [4]]
        #expect(without([4], graph) == [1: [], 2: [1], 3: [1], 5: [2, 3]])
        #expect(without([2], graph) == [1: [], 3: [1], 4: [3], 5: [4]], "3 leads to 1")
        #expect(without([2, 3], graph) == [1: [], 4: [1], 5: [4]])
    }

    @Test("where several part from one that goes, its name stays, so that they are not merged with an older one")
    func parting() {
        let graph: Graph = [1: [], 2: [1], 3: [2], 4: [2], 5: [1]]
        let left = without([2], graph)
        #expect(left == [1: [], 3: [2, 1], 4: [2, 1], 5: [1]])
        #expect(base(3, 4, left) == nil && base(3, 5, left) == 1 && base(4, 5, left) == 1)
        // The names do not add up.
        #expect(without([2, 1], [0: [], 1: [0], 2: [1], 3: [2], 4: [2]]) == [0: [], 3: [2, 0], 4: [2, 0]])
        // Where only one line is left, it need not.
        #expect(without([2, 4], graph) == [1: [], 3: [1], 5: [1]])
    }

    @Test("what had a beginning does not become one")
    func beginning() {
        #expect(without([1], [1: [], 2: [1], 3: [2]]) == [2: [1], 3: [2]])
        #expect(without([1, 2], [1: [], 2: [1], 3: [2]]) == [3: [1]])
        #expect(without([1], [1: [99], 2: [1]]) == [2: [99]], "another item's version")
        #expect(without([1], [1: [2], 2: [1]]) == [2: [1]], "damage that makes a ring")
    }

    /// Graphs in which each version names up to three earlier ones, and lose versions some at a time.
    @Test(
        "of random graphs: what remains is related as it was, and merged with the same or nothing", arguments: 0..<300)
    func random(round: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        let whole = drawn(using: &generator)
        var left = whole
        while left.count > 1 {
            let share = Int.random(in: 1...6, using: &generator)
            let gone = Set(left.keys.sorted().filter { _ in Int.random(in: 0..<6, using: &generator) < share })
            left = without(gone, left)
            for one in left.keys {
                let before = lines(from: one, whole)
                #expect(
                    lines(from: one, left).intersection(left.keys) == before.intersection(left.keys),
                    "seed \(seed): \(one)")
                for other in left.keys {
                    let common = before.intersection(lines(from: other, whole))
                    let nearest = common.filter { near in
                        !common.contains { $0 != near && lines(from: $0, whole).contains(near) }
                    }
                    let expected = nearest.isSubset(of: left.keys) ? base(one, other, whole) : nil
                    #expect(
                        base(one, other, left) == expected, "seed \(seed): \(one) and \(other) in \(left) of \(whole)")
                }
            }
        }
    }

    private func drawn(using generator: inout SeededGenerator) -> Graph {
        var graph: Graph = [:]
        for number in 0..<UInt64.random(in: 2...12, using: &generator) {
            let parents = (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
                number == 0 ? nil : UInt64.random(in: 0..<number, using: &generator)
            }
            graph[number] = Array(Set(parents)).sorted()
        }
        return graph
    }

    /// A version and what it goes back to: by trying every step from everywhere, until nothing new is found.
    private func lines(from start: UInt64, _ graph: Graph) -> Set<UInt64> {
        var found: Set = [start]
        while true {
            let more = found.union(found.flatMap { graph[$0] ?? [] })
            if more == found { return found }
            found = more
        }
    }
}
