// Which of several names was probably meant.

/// The likeness of names.
enum Likeness {
    /// The names that a word begins, else those that few slips of the hand turn it into, nearest first; three at most.
    static func nearest(to word: String, among names: [String]) -> [String] {
        guard !word.isEmpty else { return [] }
        let begun = names.filter { $0.hasPrefix(word) && $0 != word }
        if !begun.isEmpty { return Array(begun.prefix(3)) }
        // Of a name of one or two letters any other would be near.
        let limit = word.count < 3 ? 0 : min(3, word.count / 3)
        let lower = word.lowercased()
        let near = names.enumerated().compactMap { index, name -> (distance: Int, index: Int, name: String)? in
            guard name != word, abs(name.count - word.count) <= limit else { return nil }
            let distance = distance(lower, name.lowercased(), atMost: limit)
            return distance <= limit ? (distance, index, name) : nil
        }
        let best = near.map(\.distance).min() ?? 0
        return near.filter { $0.distance == best }.prefix(3).map(\.name)
    }

    /// How many letters have to be put in, left out, replaced, or exchanged with their neighbor; more than the limit
    /// where it is passed.
    static func distance(_ first: String, _ second: String, atMost limit: Int) -> Int {
        let (one, two) = (Array(first), Array(second))
        // A line for each letter of the first; two older ones are looked at.
        var before: [Int] = []
        var last = Array(0...two.count)
        for row in one.indices {
            var line = [row + 1]
            for column in two.indices {
                let change = last[column] + (one[row] == two[column] ? 0 : 1)
                var least = min(change, last[column + 1] + 1, line[column] + 1)
                if row > 0, column > 0, one[row] == two[column - 1], one[row - 1] == two[column] {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            if (line.min() ?? 0) > limit { return limit + 1 }
            (before, last) = (last, line)
        }
        return last[two.count]
    }
}
