// What users ask of versions: conflicts that they settle, and versions that they choose.

extension Story {
    static let operations: [Story] = resolving + types + dropping + sealing + again + given + quiet + pinned

    /// Versions that are made while their writer stays open.
    private static let sealing: [Story] = [
        Story(
            "what is written behind a look is another version",
            "h=replace f; write h; seal h; write h; close h",
            "f: bc b a"),
        Story(
            "a program that synchronizes what it has written goes on with its version",
            "h=replace f; write h; sync h; write h; close h",
            "f: bc a"),
        Story(
            "a look at a file that is written unseen",
            "h=WRITE f; write h start; seal h; write h start; close h",
            "f: c b a"),
        Story(
            "a look at what has not changed ends the version",
            "h=replace f; write h; flush h; seal h; write h start; close h",
            "f: c b a"),
        Story(
            "a log goes on behind a look",
            "h=append f; write h; seal h; write h; close h",
            "f: abc a"),
        Story(
            "a rival is one at a look, and once",
            "1: read f; 2: save f; 1: h=replace f; write h; seal h; write h; close h",
            "f: cd c b a", "conflicts f: b"),
        Story(
            "an emptied file is no version at a look",
            "h=replace f; seal h; write h; close h",
            "f: b a"),
        Story(
            "a program that empties a file is a rival at its release, also if it was looked at before",
            "1: read f; 2: h=replace f; write h; flush h; 1: i=replace f; seal i; close i; 2: release h",
            "f: . b a", "conflicts f: b"),
        Story(
            "a release that comes late takes no save of another program",
            "1: h=REPLACE f; write h; flush h; 2: i=REPLACE f; write i; 1: release h; 2: close i; 1: save f",
            "f: d c b a", "conflicts f: c"),
        Story(
            "it is one at its release",
            "h=replace f; seal h; close h",
            "f: . a"),
        Story(
            "a look at a file without a name",
            "h=replace f; write h; rm f; seal h; write h; close h",
            "deleted: f bc b a"),
    ]

    /// Writers that open a file without a name, and handles that append no more.
    private static let again: [Story] = [
        Story(
            "a deleted file is opened again",
            "h=write f; rm f; i=again h; write i start; close i; close h",
            "deleted: f b a"),
        Story(
            "a file that another one was renamed over is opened again",
            "1: h=write f; save n; mv n f; 2: i=again h; write i start; close i; 1: close h",
            "f: c b a", "content f: b", "conflicts f: "),
        Story(
            "by a program that has not seen what is there now",
            "2: read f; 1: h=write f; save n; mv n f; 2: i=AGAIN h; write i start; close i; 1: close h",
            "f: c b a", "content f: b", "conflicts f: c"),
        Story(
            "a deleted file that was opened again has not left its name",
            "h=write f; rm f; i=again h; write i start; close i; close h; save f",
            "f is f", "f: c b a"),
        Story(
            "a handle that was opened to append writes inside the file",
            "h=append f; write h start; close h",
            "f: b a"),
        Story(
            "what it has appended before is a version then",
            "h=append f; write h; flush h; write h start; close h",
            "f: cb ab a"),
    ]

    /// Contents that operations bring along.
    private static let given: [Story] = [
        Story(
            "a merge goes back to both, and settles the conflict",
            "1: read f; 2: save f; 1: save f; 3: merge f",
            "f: d c b a", "content f: d", "parents f: c b", "conflicts f: "),
        Story(
            "a program whose save was merged works from its own, and is merged again",
            "1: read f; 2: save f; 1: save f; merge f; save f",
            "f: e d c b a", "parents f: c", "conflicts f: d"),
        Story(
            "nothing is merged over what is being written",
            "1: read f; 2: save f; 1: save f; h=write f; write h start; 3: merge f; 1: close h",
            "f: d c b a", "conflicts f: b"),
        Story(
            "a copy of a version begins with it",
            "save f; copy n f; save f; save n",
            "n is new", "n: d b", "history n: d b a", "f: c b a", "parents n: b"),
        Story(
            "a document does not come back to a name that gets a copy",
            setup: "save n; age",
            "rm n; copy n f; save n",
            "n is new", "n: c a", "deleted: n b"),
        Story(
            "a version that is added lies beside the history",
            "save f; add f; save f",
            "f: d c b a", "parents f: b", "content f: d", "conflicts f: "),
        Story(
            "a conflict that is simulated is one until it is resolved",
            "save f; 2: simulate f",
            "f: c b a", "content f: b", "conflicts f: c"),
        Story(
            "what it goes back to stays",
            "save f; save f; 2: simulate f; drop f",
            "f: d c b", "conflicts f: d"),
        Story(
            "it is resolved like any other",
            "save f; 2: simulate f; 1: choose f; save f",
            "f: d c c b a", "conflicts f: "),
        Story(
            "what nobody wants leaves nothing",
            "save f; scrap f",
            "deleted: ", "versions: "),
        Story(
            "its name is free for another document",
            "save f; scrap f; save f",
            "f is new", "f: c"),
        Story(
            "what another document began with stays",
            setup: "ln f g; age; save t; mv t f; age",
            "scrap f",
            "g: a", "history g: a"),
        Story(
            "one of several names that nobody wants",
            setup: "ln f g; age",
            "scrap g",
            "links: ", "f: a"),
        Story(
            "a program that saves into a file that nobody wanted makes an entry",
            "h=write f; 2: scrap f; 1: write h start; close h",
            "deleted: f b"),
        Story(
            "what was made and is removed before its release leaves nothing",
            "h=replace n; flush h; scrap n; close h",
            "deleted: ", "f: a"),
    ]

    /// Versions that stay as they are.
    private static let pinned: [Story] = [
        Story(
            "a writer does not go on with a pinned version",
            "h=replace f; write h; flush h; pin f; write h; close h",
            "f: bc b a"),
        Story(
            "nor one whose writes come unseen",
            "h=REPLACE f; write h; flush h; pin f; write h start; close h",
            "f: c b a"),
        Story(
            "nor a log",
            "append f; pin f; append f",
            "f: abc ab a"),
        Story(
            "a deleted file that is open comes back as another one",
            "h=write f; write h start; rm f; renew f; write h; close h",
            "f: bc b a", "content f: b", "deleted: "),
        Story(
            "the same where nothing was written before",
            "h=write f; rm f; renew f; write h start; close h",
            "f: b a", "content f: a", "deleted: "),
    ]

    /// Quiet documents (DESIGN 6.1).
    private static let quiet: [Story] = [
        Story(
            "a save of a quiet document is no rival",
            "quiet f; 1: read f; 2: save f; 1: save f",
            "f: c b a", "conflicts f: ", "parents f: b"),
        Story(
            "nor is one beside it",
            "quiet f; 2: read f; 1: h=write f; save n; mv n f; 2: i=again h; write i start; close i; 1: close h",
            "f: c b a", "conflicts f: "),
        Story(
            "what several append to a quiet document is one version",
            "quiet f; 1: append f; 2: append f; 3: append f",
            "f: abcd a"),
        Story(
            "within the time of a log",
            "quiet f; 1: append f; hour; 2: append f",
            "f: abc ab a"),
        Story(
            "a document is quiet by any of its names",
            setup: "ln f n; age",
            "quiet n; 1: read f; 2: save f; 1: save f",
            "f: c b a", "conflicts f: "),
    ]

    /// Single versions that go for good.
    private static let dropping: [Story] = [
        Story(
            "what followed a version that is gone goes back to what was before it",
            "save f; save f; drop f b",
            "f: c a", "history f: c a", "parents f: a"),
        Story(
            "the same over several, and where all before it are gone",
            "save f; save f; save f; drop f c; drop f b",
            "f: d a", "parents f: a"),
        Story(
            "where all before it are gone, it goes back to none",
            "save f; save f; drop f",
            "f: c", "parents f: "),
        Story(
            "the current version stays",
            "save f; drop f b",
            "f: b a"),
        Story(
            "conflicts and their bases stay",
            setup: "save f",
            "1: read f; 2: save f; 1: save f; drop f",
            "f: d c b", "conflicts f: c", "parents f: b"),
        Story(
            "they go once all is settled",
            setup: "save f",
            "1: read f; 2: save f; 1: save f; resolve f; drop f",
            "f: d", "conflicts f: ", "parents f: "),
        Story(
            "a version that another document began with is not thinned until that goes",
            setup: "7: ln f g; age; save t; mv t f; age",
            "thin f; save g; thin f",
            "f: b a", "g: c a"),
        Story(
            "and goes then",
            setup: "ln f g; age; save t; mv t f; save g; age",
            "rm g; purge g; drop f",
            "f: b", "versions: b"),
        Story(
            "if a user gives it up, it is that document's own",
            setup: "ln f g; age; save t; mv t f; age",
            "drop f",
            "f: b", "g: a", "content g: a", "history g: a", "versions: b a"),
        Story(
            "what its program saves next follows it",
            setup: "ln f g; age; save t; mv t f; age",
            "2: read g; 3: drop f; 2: save g; 1: rm f; purge f",
            "g: c a", "parents g: a", "conflicts g: "),
        Story(
            "beside what that was saved as since",
            setup: "ln f g; age; save t; mv t f; save g; age",
            "drop f; 2: save g",
            "f: b", "g: d a c", "parents g: c", "conflicts g: "),
        Story(
            "of each that began with it, also of one that is deleted",
            setup: "save f; age; copy n f; copy g f; rm n; save f; age",
            "drop f b; undelete n",
            "f: c a", "g: b", "n: b", "content n: b"),
        Story(
            "a copy that its mover has thrown away keeps nothing of what it began with",
            setup: "mv f n; save f; rm n; age",
            "drop f",
            "f: b", "deleted: ", "versions: b"),
        Story(
            "the same for what is thinned",
            setup: "7: mv f n; save f; rm n; age",
            "thin f",
            "f: b", "deleted: ", "versions: b"),
        Story(
            "a program that has seen a version which is gone works from what was before it",
            "save f; 3: read f; 2: save f; drop f b; 3: save f",
            "f: d c a", "conflicts f: c"),
        Story(
            "where nothing was before it, its save is a rival without a base",
            "3: read f; 2: save f; drop f a; 3: save f",
            "f: c b", "conflicts f: b", "parents f: "),
        Story(
            "so is what it writes to a file without a name",
            "3: read f; h=write f; 2: save n; mv n f; drop f; 3: write h; close h",
            "f: c b", "content f: b", "conflicts f: c"),
        Story(
            "a loser whose author has gone on from it is no part of its winner",
            "1: read f; 2: read f; 1: save f; 2: save f; 1: save f",
            "f: d c b a", "parents f: b", "before c: a", "conflicts f: c"),
        Story(
            "a loser that a user gives up is",
            "1: read f; 2: read f; 1: save f; 2: save f; resolve f",
            "f: c b a", "parents f: a b", "before c: a b"),
        Story(
            "a version that a program works from is not thinned",
            "3: read f; 2: save f; save f; thin f; 3: save f",
            "f: d c a", "conflicts f: c"),
        Story(
            "a file without a name holds a version that is gone",
            "h=write f; save n; mv n f; drop f a; write h start; close h",
            "content f: b", "f: c b"),
        Story(
            "the same where it is written to what that was",
            setup: "same f; age",
            "h=write f; save n; mv n f; drop f ?; write h start; repeat h start; close h",
            "content f: b", "f: ? b a"),
        Story(
            "what is restored goes back to what was current, and what is gone is not chosen",
            "save f; save f; restore f; drop f c",
            "f: a b a", "parents f: b a"),
    ]

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
