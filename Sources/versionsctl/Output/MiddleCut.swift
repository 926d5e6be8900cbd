// Texts that are too long for their column lose their middle, and not what tells two of them apart.

import ControlProtocol

/// Cuts the texts of a column; pure, so that tests can look at it.
enum MiddleCut {
    /// Each text in so many columns at most, with a sign where something is missing.
    ///
    /// The beginning and the end stay. Where two of the long texts part, the characters that differ stay, too, those of
    /// the nearest neighbors first.
    static func cut(_ texts: [String], to limit: Int) -> [String] {
        var result = texts
        let limit = max(0, limit)
        var long = texts.indices.filter { WrappedText.width(texts[$0]) > limit }.map { LongText(texts[$0], at: $0) }
        part(&long)
        for text in long { result[text.index] = text.cut(to: limit) }
        return result
    }

    /// Finds for each text the characters at which others go on otherwise.
    private static func part(_ texts: inout [LongText]) {
        var waiting = [(members: Array(texts.indices), depth: 0)]
        while let (members, start) = waiting.popLast() {
            var depth = start
            guard members.count > 1, let first = members.first.map({ texts[$0].characters }) else { continue }
            while depth < first.count, members.allSatisfy({ texts[$0].character(depth) == first[depth] }) { depth += 1 }
            let groups = Dictionary(grouping: members) { texts[$0].character(depth) }
            guard groups.count > 1 else { continue }
            for member in members { texts[member].telling.append(depth) }
            waiting += groups.filter { $0.key != nil }.map { ($0.value, depth + 1) }
        }
    }
}

/// A text that is too long.
private struct LongText {
    let index: Int
    let characters: [Character]
    private let widths: [Int]
    /// Where it parts from others, the nearest neighbors last.
    var telling: [Int] = []

    init(_ text: String, at index: Int) {
        self.index = index
        characters = Array(text)
        widths = characters.map { WrappedText.width(String($0)) }
    }

    func character(_ place: Int) -> Character? { place < characters.count ? characters[place] : nil }

    func cut(to limit: Int) -> String {
        let last = characters.count - 1
        let ends = [Array(0...last), Array((0...last).reversed())]
        var shown = Shown(widths, limit)
        shown.add(ends)
        let places = telling.reversed().map { min($0, last) }
        if let nearest = places.first, places.contains(where: { !shown.isShown[$0] }) {
            shown = Shown(widths, limit)
            for place in places { _ = shown.add(place) }
            shown.add(ends + [Array(nearest...last), Array((0...nearest).reversed())])
        }
        var text = ""
        for place in 0...last {
            if shown.isShown[place] {
                text.append(characters[place])
            } else if place == 0 || shown.isShown[place - 1] {
                text += "\u{2026}"
            }
        }
        return text
    }
}

/// The characters of a text that are shown.
private struct Shown {
    private(set) var isShown: [Bool]
    private let widths: [Int]
    private let limit: Int
    /// One sign stands for all that is missing in one place.
    private var used = 1

    init(_ widths: [Int], _ limit: Int) {
        isShown = Array(repeating: false, count: widths.count)
        (self.widths, self.limit) = (widths, limit)
    }

    /// Shows a character, if there is room for it.
    mutating func add(_ place: Int) -> Bool {
        guard !isShown[place] else { return true }
        let isOpenBefore = place > 0 && !isShown[place - 1]
        let isOpenBehind = place < isShown.count - 1 && !isShown[place + 1]
        let signs = (isOpenBefore ? 1 : 0) + (isOpenBehind ? 1 : 0) - 1
        guard used + widths[place] + signs <= limit else { return false }
        used += widths[place] + signs
        isShown[place] = true
        return true
    }

    /// Shows characters of each list in turn, the last list first, as long as there is room.
    mutating func add(_ lists: [[Int]]) {
        var rest = lists.map { $0[...] }
        while !rest.isEmpty {
            for index in rest.indices.reversed() {
                while let place = rest[index].first, isShown[place] { rest[index].removeFirst() }
                guard let place = rest[index].first, add(place) else {
                    rest.remove(at: index)
                    continue
                }
            }
        }
    }
}
