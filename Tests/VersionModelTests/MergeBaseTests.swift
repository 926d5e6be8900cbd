// From which version two others parted: graphs drawn by hand, and random ones.

import Testing
import VersionModel

private func id(_ number: UInt64) -> VersionID { VersionID(high: 0, low: number) }

/// A version that was saved at the time of its number.
private func node(_ number: UInt64, _ parents: [UInt64] = []) -> HistoryNode {
    HistoryNode(
        id: id(number), parents: parents.map(id),
        time: HybridTime(wall: Timestamp(nanoseconds: Int64(number)), logical: 0), device: DeviceID(high: 0, low: 1),
        isDeletion: false, isEmpty: false)
}

@Suite("Merge bases")
struct MergeBaseTests {
    private func base(_ one: UInt64, _ other: UInt64, _ nodes: [HistoryNode]) -> UInt64? {
        MergeBase.of(id(one), and: id(other), in: nodes)?.low
    }

    @Test("it is the nearest version that both go back to")
    func nearest() {
        let nodes = [node(1), node(2, [1]), node(3, [2]), node(4, [2]), node(5, [4])]
        #expect(base(3, 5, nodes) == 2)
        #expect(base(3, 2, nodes) == 2, "one goes back to the other")
        #expect(base(3, 3, nodes) == 3)
        #expect(base(3, 6, nodes + [node(6)]) == nil, "nothing in common")
        #expect(base(1, 2, [node(1, [2]), node(2, [1])]) == nil, "damage that makes a ring ends")
    }

    /// One and two start from 1, and never read again. One saves 2, two saves 3, which is not merged; then one saves 4.
    @Test("after a merge that did not come about, it is what both had before, not what the winner went on from")
    func abandoned() {
        #expect(base(3, 4, [node(1), node(2, [1]), node(3, [1]), node(4, [2])]) == 1)
    }

    @Test("after a merge that did, it is the last that the merged one took in")
    func merged() {
        // 4 is 2 and 3 merged; one goes on from 2, two from 3.
        let nodes = [node(1), node(2, [1]), node(3, [1]), node(4, [2, 3]), node(5, [2]), node(6, [4, 5]), node(7, [3])]
        #expect(base(5, 4, nodes) == 2)
        #expect(base(7, 6, nodes) == 3)
    }

    @Test("of two that were merged both ways, the newer")
    func crissCross() {
        #expect(base(4, 5, [node(1), node(2, [1]), node(3, [1]), node(4, [2, 3]), node(5, [3, 2])]) == 3)
    }

    @Test("what was resolved goes back to the losers it took in")
    func resolved() {
        // 3 stayed, 2 was given up: who goes on from 2 knows that it was there.
        #expect(base(4, 3, [node(1), node(2, [1]), node(3, [1, 2]), node(4, [2])]) == 2)
    }

    @Test("several that are merged in turn go back to what each goes back to")
    func inTurn() {
        let nodes = [node(1), node(2, [1]), node(3, [1]), node(4, [2]), node(5, [2])]
        #expect(MergeBase.of([id(3)], and: id(5), in: nodes) == id(1))
        #expect(MergeBase.of([id(3), id(4)], and: id(5), in: nodes) == id(2))
    }

    @Test("where it was thinned away there is none: an older one might lack what it had")
    func missing() {
        #expect(base(4, 5, [node(1), node(4, [2]), node(5, [2])]) == nil, "2 is gone itself")
        #expect(base(4, 5, [node(1), node(4, [2]), node(5, [1])]) == nil, "2 is gone, which would lead to 1")
        // 2 is gone; what both went back to besides says less.
        #expect(base(4, 5, [node(1), node(4, [2, 1]), node(5, [2, 1])]) == nil)
        // The first version of a document that began as another's file names one that is not its own.
        #expect(base(2, 3, [node(1, [99]), node(2, [1]), node(3, [1])]) == 1)
    }

    @Test("each loser has its own")
    func conflicts() {
        func version(_ number: UInt64, _ parents: [UInt64], _ kind: VersionKind) -> Version {
            Version(
                id: id(number), item: ItemID(high: 0, low: 1), kind: kind, content: ContentID(high: 0, low: number),
                size: 1,
                modified: Timestamp(nanoseconds: 0), saved: Timestamp(nanoseconds: 0), time: node(number).time,
                device: DeviceID(high: 0, low: 1),
                author: Author(userID: 0, user: "", program: "", process: 0), parents: parents.map(id),
                attributes: Attributes(mode: 0o644, owner: 0, group: 0))
        }
        let versions = [
            version(1, [], .history), version(2, [1], .history), version(3, [1], .conflict), version(4, [2], .conflict),
            version(5, [2], .current),
        ]
        #expect(MergeBase.ofConflicts(in: versions) == [id(3): id(1), id(4): id(2)])
        #expect(MergeBase.ofConflicts(in: versions.dropLast()) == [:])
    }

    /// Graphs in which each version names up to three earlier ones, with some versions missing.
    @Test("of random graphs: the same both ways, an ancestor of both, and none nearer", arguments: 0..<200)
    func random(round: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(state: seed)
        let count = UInt64.random(in: 2...14, using: &generator)
        var whole: [UInt64: [UInt64]] = [:]
        for number in 0..<count {
            let parents = (0..<Int.random(in: 0...3, using: &generator)).compactMap { _ in
                number == 0 ? nil : UInt64.random(in: 0..<number, using: &generator)
            }
            whole[number] = Array(Set(parents)).sorted()
        }
        let isThinned = Bool.random(using: &generator)
        let left = whole.filter { _ in !isThinned || Int.random(in: 0..<6, using: &generator) > 0 }
        let nodes = left.map { node($0, $1) }.shuffled(using: &generator)
        for one in left.keys {
            for other in left.keys {
                let found = base(one, other, nodes)
                #expect(found == base(other, one, nodes), "seed \(seed)")
                let common = lines(from: one, whole).intersection(lines(from: other, whole))
                guard let found else {
                    #expect(isThinned || common.isEmpty, "seed \(seed)")
                    continue
                }
                #expect(common.contains(found), "seed \(seed)")
                // What both go back to by ways that are known, and what is nearer on the whole graph.
                let known = lines(from: one, left).intersection(lines(from: other, left))
                let nearer = known.filter { $0 != found && lines(from: $0, whole).contains(found) }
                #expect(nearer.isEmpty, "seed \(seed): \(found) for \(one) and \(other), and nearer \(nearer)")
            }
        }
    }

    /// A version and what it goes back to: by trying every step from everywhere, until nothing new is found.
    private func lines(from start: UInt64, _ graph: [UInt64: [UInt64]]) -> Set<UInt64> {
        var found: Set = [start]
        while true {
            let more = found.union(found.flatMap { graph[$0] ?? [] })
            if more == found { return found }
            found = more
        }
    }
}
