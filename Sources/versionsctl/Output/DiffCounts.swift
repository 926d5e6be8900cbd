// `diff --stat`: lines added and removed, as git shows them.

import ControlProtocol

/// The counts of several comparisons.
struct DiffCounts {
    struct Line {
        var name: String
        /// nil if they are not text.
        var counts: LineCounts?
        /// What is said instead.
        var note: String?
    }

    private var lines: [Line]

    init(lines: [Line]) { self.lines = lines }

    init(_ pairs: [DiffPair]) throws {
        lines = try pairs.map { pair in
            var line = Line(name: Style.printable(pair.name), note: pair.note)
            if let old = pair.old, let new = pair.new { line.counts = try Difference.counts(old, new) }
            return line
        }
    }

    func text(_ style: Style) -> String {
        let compared = lines.filter { $0.note == nil }
        let nameWidth = compared.map(\.name.count).max() ?? 0
        let largest = compared.compactMap { $0.counts.map { $0.added + $0.removed } }.max() ?? 0
        let numberWidth = max(String(largest).count, compared.contains { $0.counts == nil } ? 3 : 1)
        let room = max(10, (style.width ?? 80) - nameWidth - numberWidth - 6)
        var text = ""
        for line in lines {
            if let note = line.note {
                text += " \(note)\n"
                continue
            }
            let name = line.name + String(repeating: " ", count: nameWidth - line.name.count)
            guard let counts = line.counts else {
                text += " \(name) | Bin\n"
                continue
            }
            let sum = String(counts.added + counts.removed)
            let number = String(repeating: " ", count: numberWidth - sum.count) + sum
            let bars = Self.bars(counts, largest: largest, room: room)
            let painted = style.paint(bars.plus, .green) + style.paint(bars.minus, .red)
            text += " \(name) | \(number)\(painted.isEmpty ? "" : " ")\(painted)\n"
        }
        return text + summary
    }

    private var summary: String {
        let counts = lines.compactMap(\.counts)
        let (added, removed) = (counts.map(\.added).reduce(0, +), counts.map(\.removed).reduce(0, +))
        return " \(Words.count(lines.count, "file")) changed, \(Words.count(added, "insertion"))(+), "
            + "\(Words.count(removed, "deletion"))(-)\n"
    }

    /// One sign for each line, or fewer where there is no room: at least one for what is not 0.
    private static func bars(_ counts: LineCounts, largest: Int, room: Int) -> (plus: String, minus: String) {
        func length(_ count: Int) -> Int {
            guard largest > room else { return count }
            return count == 0 ? 0 : max(1, count * room / largest)
        }
        return (
            String(repeating: "+", count: length(counts.added)), String(repeating: "-", count: length(counts.removed))
        )
    }
}
