// The stories of decisions/0010 that facts.md 8 does not change, the rows of facts.md 8, and others of the blueprint.

extension Story {
    public static let all: [Story] = 
        returning + homes + parting + publicity + changed + conflicting + nameless + names + orphans + further + cuts
        + kin + edges + operations

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
            "a save behind a read for a backup is a rival of what that has read",
            "read f; 2: save f; 1: read f; backup f; save f",
            "f: c b a", "conflicts f: b"),
        Story(
            "what was read before the backup is known",
            "2: save f; 1: read f; read f; backup f; save f",
            "f: c b a", "conflicts f: "),
        Story(
            "and is what its program works from",
            "read f; read f; backup f; 2: save f; 1: save f",
            "f: c b a", "conflicts f: b"),
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
    ]

    /// facts.md 2: when a document comes back, condition by condition.
    static let homes: [Story] = [
        Story(
            "a file that is open for writing keeps its name waiting",
            "2: h=append f; 1: mv f n; age; save f",
            "f is f", "n is new", "f: b a", "n: a"),
        Story(
            "an ephemeral name has no document to come back",
            "save t; mv t n; save t",
            "t: c", "n: b"),
        Story(
            "a name that was renamed by link and unlink has none either",
            "ln f n; rm f; rm n; save f",
            "f is new", "deleted: n a"),
        Story(
            "a document with an older name stays there",
            "ln f n; mv f g; save f",
            "f is new", "n is f", "g is f"),
        Story(
            "one name of several that is removed is just a name",
            "ln f n; age; rm f; ln n g; rm n; save f",
            "f is new", "g is f"),
        Story(
            "a parted copy without a save of its own does not come back",
            "mv f f~; save f; mv f~ n; save f~",
            "f~: c", "n: a"),
        Story(
            "a document that has come back elsewhere is at home there, also before it is saved",
            "mv f g; mv g n; h=replace g; save f",
            "g is f", "f is new"),
        Story(
            "saved in its new place",
            "mv f n; save n; save f",
            "n is f", "f is new", "n: b a", "f: c"),
        Story(
            "appended to in its new place, which amends what was appended before",
            "append f; mv f n; append n; save f",
            "n is f", "f is new", "n: abc a", "f: d"),
        Story(
            "saved in its new place by another's rename over it",
            setup: "save g",
            "mv f n; mv g n; save f",
            "n is f", "f is new", "n: b a", "f: c"),
        Story(
            "a removed name comes back",
            "rm f; save f",
            "f is f", "f: b a", "deleted: "),
        Story(
            "a removed name comes back too late",
            "rm f; age; save f",
            "f is new", "f: b", "deleted: f a"),
        Story(
            "a document that is renamed again and again, and begun anew, keeps its history",
            setup: "age",
            "mv f n; save f; mv f n; save f",
            "f is f", "f: c b a"),
    ]

    /// facts.md 2, "Parting".
    static let parting: [Story] = [
        Story(
            "a rename over one of two names parts the other",
            "ln f n; save g; mv g f",
            "f is f", "n is new", "f: b a", "n: a"),
        Story(
            "the names that part have one document in common",
            "ln f n; ln f g; save t; mv t f; save n",
            "f is f", "n is new", "g is new", "f: b a", "n: c a", "g: c a"),
        Story(
            "a save into a file of two documents is a version of both, which neither amends",
            setup: "save g; ln f n; swap f g",
            "1: h=write g; write h; 2: save t; mv t g; 1: write h; close h",
            "g is g", "g: d c a b", "n: ce c a"),
        Story(
            "a program that goes on with an old file saves what that is now",
            "h=append f; mv f n; save f; mv n g; write h; close h",
            "f is f", "f: b a", "g: ac a"),
    ]

    /// facts.md 5.
    static let publicity: [Story] = [
        Story(
            "a temporary file that its maker removes leaves no trace",
            "save t; rm t",
            "deleted: ", "superseded: "),
        Story(
            "a temporary file that another program removes is deleted",
            "1: save t; 2: rm t",
            "deleted: t b"),
        Story(
            "a temporary file that another program saves is a document",
            "1: save t; 2: save t; 1: rm t",
            "deleted: t c b"),
        Story(
            "a temporary file that its maker has moved to another made-up name is published with both",
            "1: mkdir d; save t; mv t d/t; 2: save d/t",
            "d/t: c b", "t: -"),
        Story(
            "a conflict that was settled under a made-up name is none once that is published",
            "1: save t; 113: read t; 123: save t; 113: save t; 123: save t; 1: ln t n",
            "conflicts n: d"),
        Story(
            "a temporary file that is linked is a document",
            "save t; ln t n; age; rm n; rm t",
            "deleted: t b"),
        Story(
            "link and unlink by one program are a rename (git)",
            "ln f n; rm f",
            "n is f", "n: a", "deleted: "),
        Story(
            "a temporary object of git",
            "save t; ln t n; rm t",
            "n: b", "deleted: "),
        Story(
            "a parted copy that its mover removes is hidden",
            "mv f f~; save f; rm f~",
            "deleted: "),
        Story(
            "a parted copy that another program removes is deleted",
            "1: mv f f~; save f; 2: rm f~",
            "deleted: f~ a"),
        Story(
            "what a program wrote before it renamed that over a document is no document to bring back",
            "save n; mv n f; rm f",
            "deleted: f b a", "superseded: ", "replaced: "),
        Story(
            "nor is it where it came back once to make another name's content",
            setup: "save n; mv n g",
            "2: save n; mv n g",
            "g: c b", "superseded: ", "replaced: "),
        Story(
            "two documents that hold the same and were renamed over stand for one",
            setup: "save g; age",
            "save n; mv n f; mv f g",
            "g: c b", "superseded: c a"),
        Story(
            "a parted copy that was saved is deleted",
            "mv f f~; save f; save f~; rm f~",
            "deleted: f~ c a"),
    ]

    /// facts.md 8: what users see change.
    static let changed: [Story] = [
        Story(
            "mv a b over b, where a had a history",
            setup: "save g; save f",
            "mv f g",
            "g is g", "g: c b", "f: -", "superseded: c a", "replaced: f c a"),
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
            "appends of several programs within a minute are one version for each",
            "1: append f; append f; 2: append f; append f; 1: append f",
            "f: abcdef abcde abc a"),
        Story(
            "appends of one program, a minute apart",
            "1: append f; age; age; age; age; append f",
            "f: abc ab a"),
        Story(
            "ln -f a other: other shows what it held, then a's",
            setup: "save g; age",
            "ln f n; mv n g",
            "g is g", "g: a b", "f: a"),
    ]

    /// Conflicts across changes of names (facts.md 3).
    static let conflicting: [Story] = [
        Story(
            "a program that unlinks the name itself works without a base (git)",
            "1: read f; 2: read f; 2: save f; 1: rm f; save f",
            "f: c b a", "conflicts f: "),
        Story(
            "a program that has seen both follows",
            "1: read f; 2: save f; 1: read f; save f",
            "f: c b a", "conflicts f: "),
        Story(
            "a program that has seen the current version follows, whatever it has saved beside it since",
            "2: h=append f; 1: save n; mv n f; 2: read f; write h; close h; save f",
            "f: d ac b a", "conflicts f: "),
        Story(
            "a program whose save beside the name goes back to the current version follows",
            setup: "same f",
            "2: h=append f; 1: same n; mv n f; 2: write h; close h; save f",
            "f: c ?b ? a", "conflicts f: "),
        Story(
            "appending is never a rival",
            "1: read f; 2: read f; 2: save f; 1: append f",
            "f: bc b a", "conflicts f: "),
        Story(
            "a program that appends within a minute after another has saved that",
            "2: read f; 1: append f; 2: append f; save f",
            "conflicts f: "),
        Story(
            "the other one, which has not seen what was appended last",
            "1: append f; 2: append f; 1: save f",
            "f: d abc ab a", "conflicts f: abc"),
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
            "what is written from an old version, and replaced before its close, is a rival as well",
            "1: read f; 2: save f; 1: h=replace f; write h; 3: save n; mv n f; 1: close h",
            "f: d c b a", "conflicts f: b"),
        Story(
            "a close ends what a rename has saved, also for another handle that was open then",
            "h=replace n; i=replace n; write h; mv n f; close h; write i; close i",
            "f: c b a"),
        Story(
            "what a program leaves beside a document that it knows is nothing that it works from",
            "123: h=append f; save n; mv n f; write h; close h; 143: save f",
            "f: d ac b a", "conflicts f:"),
        Story(
            "a program that renames its file and goes on writing saves once",
            "h=replace t; write h; mv t f; write h; close h",
            "f: bc a"),
        Story(
            "a program that empties what its rename has saved, and leaves it empty",
            "h=replace t; write h; mv t f; empty h; close h",
            "f: . b a"),
        Story(
            "a file that is emptied and left empty",
            "probe f",
            "f: . a"),
        Story(
            "a file that is written after its name came back",
            "h=append f; rm f; write h; save f; write h; close h",
            "f is f", "f: abd c a"),
        Story(
            "a deleted file that was open and never written leaves nothing more",
            "h=write f; rm f; close h",
            "deleted: f a"),
        Story(
            "a name that came back after its writer closed",
            "h=append f; rm f; write h; close h; save f",
            "f is f", "f: c ab a"),
        Story(
            "what is written beside an append to the name",
            "1: h=write f; save n; mv n f; 2: i=append f; write i; 1: write h; 2: close i; 1: close h",
            "f is f", "f: d bc b a"),
        Story(
            "a content that another document shares outlives a save with the same content",
            "same n; mv n g; same n; mv n g; save n; mv n g; same n; mv n g",
            "history g: ? b ?"),
        Story(
            "a save into an unlinked document is the deleted entry's",
            "2: h=append f; 1: rm f; 2: write h; close h",
            "deleted: f ab a"),
        Story(
            "an undeleted document whose open file was saved as another one since has a file of its own",
            setup: "save g; ln g n; age",
            "h=append g; mv g f; rm f; truncate n; rm n; undelete f; close h",
            "f is f", "f: b a"),
        Story(
            "a program that goes on with what another's exchange has saved is no rival of itself",
            setup: "save g",
            "2: read f; 1: h=append f; i=replace g; write h; 2: swap f g; 1: write i; close i; close h",
            "f: d ac a", "conflicts f: ac"),
        Story(
            "a program's own save after its unlink is the deleted entry's, too",
            "h=replace f; rm f; write h; close h",
            "deleted: f b a"),
    ]
}
