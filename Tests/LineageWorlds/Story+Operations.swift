// What users ask of versions: conflicts that they settle, and versions that they choose.

extension Story {
    static let operations: [Story] = resolving + types

    /// Names that get something of another type (facts.md 6).
    private static let types: [Story] = [
        Story(
            "a document gives way to something without versions, and a kill comes: it is deleted",
            "turn f",
            "deleted: f a", "f: "),
        Story(
            "a document has what gave way to it in the deleted list after a kill",
            setup: "mkdir d",
            "turn d",
            "deleted: d ", "d: b"),
        Story(
            "a kill behind the exchange of a directory and a document deletes neither",
            setup: "mkdir d",
            "swap d f",
            "deleted: ", "d: a"),
    ]

    /// facts.md 1, `settled`.
    private static let resolving: [Story] = [
        Story(
            "a conflict that was resolved is none, and stays in the history",
            "1: read f; 2: save f; 1: save f; 3: resolve f",
            "f: c b a", "history f: c b a", "conflicts f: "),
        Story(
            "a conflict that nobody has looked at stays",
            "1: read f; 2: read f; 3: save f; 1: save f; 2: save f; 3: resolve f first",
            "f: d c b a", "conflicts f: c"),
        Story(
            "what was resolved is no conflict for its author either, who is a rival still",
            "1: read f; 2: save f; 1: save f; 3: resolve f; 2: save f",
            "f: d c b a", "conflicts f: c"),
        Story(
            "a conflict that lies beside the history",
            "1: read f; 2: save f; 1: h=replace f; 3: save n; mv n f; 1: write h; close h; 3: resolve f",
            "conflicts f: "),
        Story(
            "a loser that is chosen is settled, and is in the history twice",
            "1: read f; 2: save f; 1: save f; 3: choose f",
            "f: b c b a", "content f: b", "conflicts f: ", "parents f: c b"),
        Story(
            "other losers stay, unless they are settled, too",
            "1: read f; 2: read f; 3: save f; 1: save f; 2: save f; 3: choose f",
            "f: b d c b a", "conflicts f: c"),
        Story(
            "all losers are settled by a choice",
            "1: read f; 2: read f; 3: save f; 1: save f; 2: save f; 3: choose f all",
            "f: b d c b a", "conflicts f: "),
        Story(
            "a program that has chosen a loser goes on from it, and is a rival of no one",
            "1: read f; 2: save f; 1: save f; 2: choose f; save f",
            "f: d b c b a", "conflicts f: "),
        Story(
            "who restores a version replaces what is there, and is no rival of it",
            "1: read f; 2: save f; 1: restore f",
            "f: a b a", "conflicts f: ", "parents f: b a"),
        Story(
            "the author of what was replaced has not seen it",
            "2: save f; 1: restore f; 2: save f",
            "f: c a b a", "conflicts f: a"),
    ]
}
