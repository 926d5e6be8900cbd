// What waits for its turn, however much that is.

/// First come, first served, each in constant time.
struct Backlog<Element: Sendable>: Sendable {
    private var coming: [Element] = []
    /// Those that go first, the very first at the end.
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
