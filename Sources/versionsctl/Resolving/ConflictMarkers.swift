// The lines with which merges mark where edits overlap.

/// Finds markers in a text.
struct ConflictMarkers {
    /// Lines like markers that were in the contents before the merge: of a page about merging, say.
    private let known: Set<ArraySlice<UInt8>>

    /// - Parameter sources: the contents that were merged.
    init(besides sources: [[UInt8]]) {
        known = Set(sources.flatMap { Self.lines($0).filter { Self.kind($0) != nil } })
    }

    /// How many places are still marked; a part of a marker that was left counts.
    func count(in text: [UInt8]) -> Int {
        var counts: [UInt8: Int] = [:]
        for line in Self.lines(text) {
            guard let kind = Self.kind(line), !known.contains(line) else { continue }
            counts[kind, default: 0] += 1
        }
        return counts.values.max() ?? 0
    }

    private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        text.split(separator: 10).map { $0.last == 13 ? $0.dropLast() : $0 }
    }

    /// The sign of a marker; nil if the line is none.
    private static func kind(_ line: ArraySlice<UInt8>) -> UInt8? {
        guard let sign = line.first, "<=>|".utf8.contains(sign), line.prefix(while: { $0 == sign }).count == 7 else {
            return nil
        }
        let rest = line.dropFirst(7)
        guard let next = rest.first else { return sign }
        // The line between the sides has no label.
        return next == 32 && sign != 61 ? sign : nil
    }
}
