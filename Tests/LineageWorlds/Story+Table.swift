// The stories of decisions/0010 that facts.md 8 does not change, the rows of facts.md 8, and others of the blueprint.

extension Story {
    public static let all: [Story] = returning + changed + conflicting + nameless

    /// decisions/0010: what comes back with a name.
    static let returning: [Story] = [
        Story(
            "a document comes back once",
            "mv f n; mv n f; save n",
            "f is f", "n is new", "f: a", "n: b"),
        Story(
            "a document is at home where it was saved",
            setup: "save n; mv n g; save g",
            "save g; save n; mv n g",
            "g is g", "g: e d c b"),
        Story(
            "saves through the first name, four times",
            "save n; mv n g; save n; mv n g; save n; mv n g; save n; mv n g",
            "history g: e d c b"),
        Story(
            "a log that is rotated was only moved",
            "mv f n; save f",
            "f is f", "n is new", "f: b a", "n: a"),
        Story(
            "a file that was renamed over another leaves its name, too",
            setup: "save g",
            "mv f g; save f",
            "f is f", "g is g", "f: c a", "g: a b"),
        Story(
            "three renames exchange two documents of one version each",
            setup: "save g",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: b a", "g: a b"),
        Story(
            "three renames exchange two documents of several versions",
            setup: "save g; save g; save f",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: c d a", "g: d c b"),
        Story(
            "a backup's name does not make scaffolding of a document",
            "mv f f~; rm f~",
            "f: -", "deleted: f~ a"),
        Story(
            "a program that had it open before settles nothing",
            "1: h=append f; 2: mv f n; 1: write h; close h; 2: save f",
            "f is f", "f: c ab a", "n: ab"),
        Story(
            "an exchange settles",
            setup: "save g",
            "mv f n; swap g n; save f",
            "n is f", "f is new", "n: b a"),
        Story(
            "after 15 s it was a rename",
            "mv f n; age; save f",
            "n is f", "f is new", "f: b", "n: a"),
        Story(
            "link and unlink by one program are a rename (git)",
            "ln f n; rm f",
            "n is f", "n: a", "deleted: "),
        Story(
            "a temporary object of git",
            "save t; ln t n; rm t",
            "n: b", "deleted: "),
    ]

    /// facts.md 8: what users see change.
    static let changed: [Story] = [
        Story(
            "mv a b over b, where a had a history",
            setup: "save g; save f",
            "mv f g",
            "g is g", "g: c b", "f: -", "superseded: c a"),
        Story(
            "mv a b; create a",
            setup: "save n; age",
            "mv f n; save f",
            "f is f", "f: c a", "n: a b"),
        Story(
            "mv x z over z; mv z x",
            setup: "save g; age",
            "mv f g; mv g f",
            "f is f", "f: a", "g: -"),
        Story(
            "rm f; mv tmp f from stale content is a conflict",
            "1: read f; 2: read f; 2: save f; 1: save n; rm f; mv n f",
            "f: c b a", "conflicts f: b"),
        Story(
            "B saved f, a dance moved it to g, another saves g, then B saves g",
            "2: save f; 1: mv f g; save f; 3: read g; save g; 2: save g",
            "conflicts g: d"),
        Story(
            "ln -f a other: other shows what it held, then a's",
            setup: "save g; age",
            "ln f n; mv n g",
            "g is g", "g: a b", "f: a"),
    ]

    /// Conflicts across changes of names (facts.md 3).
    static let conflicting: [Story] = [
        Story(
            "two editors, in place",
            "1: read f; 2: read f; 1: save f; 2: save f",
            "f: c b a", "conflicts f: b"),
        Story(
            "a reader of former content meets the dance",
            "1: read f; 2: read f; 1: mv f f~; save f; 2: save f",
            "f: c b a", "conflicts f: b"),
        Story(
            "an observation outlives a change of documents",
            "3: save n; mv n g; 2: read g; 3: save g; save n; mv n g; 2: save g",
            "conflicts g: d"),
        Story(
            "what was read as f is the base at f~, too",
            "2: read f; mv f n; 1: save f; save n; 2: save n",
            "conflicts n: c"),
        Story(
            "a loser that went back to an older version is one like any other",
            setup: "same f; save f",
            "1: read f; 2: read f; 2: same f; 1: save f",
            "f: c ? b ? a", "conflicts f: ?"),
        Story(
            "a loser with the content of the base is none",
            setup: "same f",
            "1: read f; 2: save f; same f; 1: save f",
            "f: c ? b ? a", "conflicts f: "),
        Story(
            "a loser with the content of an unsettled loser is none",
            "1: read f; 2: read f; 3: read f; 2: same f; 3: save f; 4: same f; 1: save f",
            "f: c ? b ? a", "conflicts f: ?"),
        Story(
            "two editors that save in turns have one loser between them",
            "1: read f; 2: read f; 1: save f; 2: save f; 1: save f; 2: save f",
            "f: e d c b a", "conflicts f: d"),
    ]

    /// Saves into files that have lost their name (facts.md 3).
    static let nameless: [Story] = [
        Story(
            "a save closes on a displaced file",
            "2: h=replace f; write h; 1: save n; mv n f; 2: close h",
            "f is f", "f: c b a"),
        Story(
            "a save closes on a displaced file, by a program that has seen less",
            "2: read f; h=replace f; 1: save n; mv n f; save f; 2: write h; close h",
            "f is f", "f: d c b a", "conflicts f: d"),
        Story(
            "the same with an older version's content",
            setup: "same f; save f",
            "2: read f; h=replace f; 1: save n; mv n f; save f; 2: repeat h; close h",
            "f is f", "f: ? d c b ? a", "conflicts f: ?"),
        Story(
            "a save into an unlinked document is the deleted entry's",
            "2: h=append f; 1: rm f; 2: write h; close h",
            "deleted: f ab a"),
        Story(
            "a program's own save after its unlink is the deleted entry's, too",
            "h=replace f; rm f; write h; close h",
            "deleted: f b a"),
    ]
}
