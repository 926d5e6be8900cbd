/// Two lists of versions, newest first, of which each may have what the other has not.
///
/// The versions of both lists stand in the same order. Each version of one list alone needs a rule of its own, and a
/// place that fits the time at which it was made. Of all ways to lay them side by side, the one counts that leaves the
/// fewest over.
struct Alignment {
    /// By which rules a version is on one side only; nil if it must be on both.
    typealias Rules = [ListedChange]?

    /// A content that only the container has: made after versions with smaller numbers, and before the larger ones.
    struct Reason {
        var rules: [ListedChange]
        var after: UInt64 = .max
        var before: UInt64 = 0
    }

    private struct Way {
        var left: Int
        var rules: [ListedChange]
    }

    /// The reasons for each: one must fit, unless both have the version.
    var today: [[Reason]]
    var then: [Rules]
    /// The numbers of the versions of `then`, which fall.
    var numbers: [UInt64]

    /// - Parameter pair: by which rules the two versions at these positions are one: none, if they are equal.
    /// - Returns: the rules of all that is over; nil if something has none.
    func rules(pair: (_ today: Int, _ then: Int) -> Rules) -> Rules {
        var ways = [[Way?]](repeating: [Way?](repeating: nil, count: then.count + 1), count: today.count + 1)
        ways[today.count][then.count] = Way(left: 0, rules: [])
        for first in stride(from: today.count, through: 0, by: -1) {
            for second in stride(from: then.count, through: 0, by: -1) {
                func offer(_ way: Way?, _ rules: Rules, _ left: Int) {
                    guard let way, let rules, way.left + left < ways[first][second]?.left ?? .max else { return }
                    ways[first][second] = Way(left: way.left + left, rules: rules + way.rules)
                }
                if first < today.count, second < then.count {
                    offer(ways[first + 1][second + 1], pair(first, second), 0)
                }
                if second < then.count { offer(ways[first][second + 1], then[second], 1) }
                guard first < today.count else { continue }
                for reason in today[first] where fits(reason, at: second) {
                    offer(ways[first + 1][second], reason.rules, 1)
                }
            }
        }
        return ways[0][0]?.rules
    }

    private func fits(_ reason: Reason, at position: Int) -> Bool {
        let isAfter = position == numbers.count || numbers[position] < reason.after
        return isAfter && (position == 0 || numbers[position - 1] >= reason.before)
    }
}
