// What a reading of the rules beside facts.md has asked for.

extension Story {
    static let edges: [Story] = custody

    /// facts.md 3 and 4.
    private static let custody: [Story] = [
        Story(
            "a handle that appends cuts off what a version has",
            "h=append f; write h; flush h; 2: append f; 1: cut h; close h",
            "f: a abc ab a"),
        Story(
            "a handle that appends cuts off what it has saved itself, and a version before it needs",
            "h=append f; write h; write h; write h; flush h; cut h; write h; close h",
            "f: abe abcd a"),
        Story(
            "a program goes on with its version, and another's rename over that is refused",
            setup: "2: save n",
            "1: h=write f; write h; flush h; write h start; 2: refuse mv n f; 1: write h; close h",
            "f: de d a", "n: b"),
        Story(
            "a kill while a version is amended to what an older one has",
            setup: "same f; age",
            "h=write f; write h start; flush h; repeat h start; close h",
            "f: ? ? a"),
    ]
}
