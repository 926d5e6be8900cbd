// What thinning is to leave, told once more.

/// The schedule by the words of DESIGN 7: all for an hour, the last of each hour for a day, of each day for a month, of
/// each week after.
enum ThinningSchedule {
    /// What the schedule leaves of saves.
    static func kept(of saves: [Int64], now: Int64) -> Set<Int64> {
        let (hour, day): (Int64, Int64) = (3_600_000_000_000, 86_400_000_000_000)
        var last: [String: Int64] = [:]
        var kept: Set<Int64> = []
        for save in saves.sorted() {
            let span = [("week", 7 * day, 30 * day), ("day", day, day), ("hour", hour, hour)].first { _, length, age in
                now - (save / length + 1) * length >= age
            }
            guard let (name, length, _) = span else {
                kept.insert(save)
                continue
            }
            last["\(name) \(save / length)"] = save
        }
        return kept.union(last.values)
    }
}
