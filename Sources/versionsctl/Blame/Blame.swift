// Which version brought each line of a document.

/// Follows lines back through the versions that a version came from; pure, so that tests can look at it.
struct Blame<ID: Hashable> {
    /// A version that has lines.
    struct Step {
        var id: ID
        /// The versions that it came from and whose lines are known.
        var parents: [ID]
    }

    /// For each line of a version, the version that brought it: the oldest one from which the line was passed on
    /// unchanged.
    /// - Parameters:
    ///   - steps: versions before those that they came from, the one in question first.
    ///   - lines: the lines of a version, as numbers; asked for once or twice each.
    static func origins(_ steps: [Step], lines: (ID) throws -> [Int]) rethrows -> [ID] {
        guard let start = steps.first?.id else { return [] }
        var texts = [start: try lines(start)]
        let count = texts[start]?.count ?? 0
        var origins = [ID](repeating: start, count: count)
        // Which line of a version is which line in the end.
        var waiting = [start: (0..<count).map { (line: $0, end: $0) }]
        for step in steps {
            guard var rest = waiting.removeValue(forKey: step.id), !rest.isEmpty else { continue }
            let text = try texts.removeValue(forKey: step.id) ?? lines(step.id)
            for parent in step.parents where !rest.isEmpty {
                let older = try texts[parent] ?? lines(parent)
                texts[parent] = older
                let matches = LineMatching.matches(from: older, to: text)
                var own: [(line: Int, end: Int)] = []
                for place in rest {
                    guard let line = matches[place.line] else {
                        own.append(place)
                        continue
                    }
                    waiting[parent, default: []].append((line, place.end))
                }
                rest = own
            }
            for place in rest { origins[place.end] = step.id }
        }
        // Versions that stand behind those that came from them; only damage can make such.
        for (id, places) in waiting { for place in places { origins[place.end] = id } }
        return origins
    }
}
