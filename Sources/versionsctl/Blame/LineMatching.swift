// Which lines of a text go on from which lines of an older one.

/// Compares two texts whose lines are numbers: equal lines have equal numbers.
///
/// Lines that occur once in both are matched first, the longest run of them in order (Cohen's "patience" diff); what is
/// between those, by the standard library's difference. That takes time and memory as the square of what it compares,
/// so where much is left between two such lines the lines count as new: never wrong, only less fine.
struct LineMatching {
    /// The largest product of lines that is compared as it is.
    private static let mostPairs = 1_000_000

    private let old: [Int]
    private let new: [Int]
    /// For each new line the old one, if it goes on from one.
    private var matches: [Int?]

    static func matches(from old: [Int], to new: [Int]) -> [Int?] {
        var matching = LineMatching(old: old, new: new, matches: [Int?](repeating: nil, count: new.count))
        var waiting = [(Array(old.indices), Array(new.indices))]
        while let (left, right) = waiting.popLast() { waiting += matching.compare(left, right) }
        return matching.matches
    }

    /// Compares some lines of both.
    /// - Returns: what is to be compared then.
    private mutating func compare(_ left: [Int], _ right: [Int]) -> [([Int], [Int])] {
        let (left, right) = withoutStrangers(withoutEnds(left, right))
        guard !left.isEmpty, !right.isEmpty else { return [] }
        let anchors = anchors(left, right)
        guard !anchors.isEmpty else {
            if left.count.multipliedReportingOverflow(by: right.count).partialValue <= Self.mostPairs {
                compareAll(left, right)
            }
            return []
        }
        var (parts, start): ([([Int], [Int])], (Int, Int)) = ([], (0, 0))
        for (one, other) in anchors {
            matches[right[other]] = left[one]
            parts.append((Array(left[start.0..<one]), Array(right[start.1..<other])))
            start = (one + 1, other + 1)
        }
        parts.append((Array(left[start.0...]), Array(right[start.1...])))
        return parts.filter { !$0.0.isEmpty && !$0.1.isEmpty }
    }

    /// Matches what is equal at the beginning and at the end.
    private mutating func withoutEnds(_ left: [Int], _ right: [Int]) -> ([Int], [Int]) {
        let shorter = min(left.count, right.count)
        var first = 0
        while first < shorter, old[left[first]] == new[right[first]] {
            matches[right[first]] = left[first]
            first += 1
        }
        var last = 0
        while last < shorter - first, old[left[left.count - 1 - last]] == new[right[right.count - 1 - last]] {
            matches[right[right.count - 1 - last]] = left[left.count - 1 - last]
            last += 1
        }
        return (Array(left[first..<(left.count - last)]), Array(right[first..<(right.count - last)]))
    }

    /// What the other side has not is matched by nothing.
    private func withoutStrangers(_ both: ([Int], [Int])) -> ([Int], [Int]) {
        let (left, right) = both
        let (ours, theirs) = (Set(left.map { old[$0] }), Set(right.map { new[$0] }))
        return (left.filter { theirs.contains(old[$0]) }, right.filter { ours.contains(new[$0]) })
    }

    /// Lines that both have once, in the same order in both: as many as there can be.
    private func anchors(_ left: [Int], _ right: [Int]) -> [(Int, Int)] {
        func once(_ lines: [Int]) -> [Int: Int] {
            var places: [Int: Int] = [:]
            for (index, line) in lines.enumerated() { places[line] = places[line] == nil ? index : -1 }
            return places.filter { $0.value >= 0 }
        }
        let ours = once(left.map { old[$0] })
        let pairs = once(right.map { new[$0] })
            .compactMap { line, place in ours[line].map { ($0, place) } }.sorted { $0.0 < $1.0 }
        // The longest run of pairs whose second numbers grow, by patience sorting.
        var (piles, before): ([Int], [Int?]) = ([], [])
        for (index, pair) in pairs.enumerated() {
            var (low, high) = (0, piles.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[piles[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? piles[low - 1] : nil)
            if low < piles.count { piles[low] = index } else { piles.append(index) }
        }
        var (run, next): ([(Int, Int)], Int?) = ([], piles.last)
        while let index = next {
            run.append(pairs[index])
            next = before[index]
        }
        return run.reversed()
    }

    /// The longest common sequence of a few lines.
    private mutating func compareAll(_ left: [Int], _ right: [Int]) {
        let difference = right.map { new[$0] }.difference(from: left.map { old[$0] })
        var (gone, come): (Set<Int>, Set<Int>) = ([], [])
        for change in difference {
            switch change {
            case .remove(let offset, _, _): gone.insert(offset)
            case .insert(let offset, _, _): come.insert(offset)
            }
        }
        let kept = left.indices.filter { !gone.contains($0) }
        for (one, other) in zip(kept, right.indices.filter { !come.contains($0) }) { matches[right[other]] = left[one] }
    }
}
