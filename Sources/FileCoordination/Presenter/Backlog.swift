// A queue without a limit.

/// First in, first out, each operation in constant time.
struct Backlog<Element: Sendable>: Sendable {
    private var coming: [Element] = []
    /// The next elements, the first one at the end.
    private var going: [Element] = []

    var isEmpty: Bool { coming.isEmpty && going.isEmpty }

    mutating func append(_ element: Element) { coming.append(element) }

    mutating func popFirst() -> Element? {
        if going.isEmpty {
            swap(&coming, &going)
            going.reverse()
        }
        return going.popLast()
    }
}
