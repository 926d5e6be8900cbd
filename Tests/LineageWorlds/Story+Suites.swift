// The cases of ReturningNameTests, OrphanTests and FurtherNamesTests that no other table has, and what is related.

extension Story {
    /// ReturningNameTests.
    static let names: [Story] = [
        Story(
            "a name for what is to be renamed may be used again and again",
            "save n; mv n g; save g; save g; save n; mv n g",
            "g: e d c b", "n: -"),
        Story(
            "a document that is saved twice between two renames keeps its history",
            setup: "age",
            "mv f n; save f; save f; mv f n; save f",
            "f is f", "f: d c b a"),
        Story(
            "one that goes elsewhere then keeps it, too",
            setup: "save g; age",
            "mv f n; save f; mv f g; save f",
            "f is f", "g is g", "f: d c a"),
        Story(
            "a backup that is made again and again",
            setup: "age",
            "mv f f~; save f; mv f f~; save f",
            "f is f", "f: c b a"),
        Story(
            "three renames exchange a document of one version and one of two",
            setup: "save g; save g",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: c a", "g: a c b"),
        Story(
            "three renames exchange a document of two versions and one of one",
            setup: "save g; save f",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: b c a", "g: c b"),
        Story(
            "a file that is home again keeps the names that it got meanwhile",
            "mv f n; ln n g; mv n f",
            "f is f", "g is f"),
        Story(
            "the trash, where it is on the same file system (gio)",
            "mv f g; age",
            "g is f", "f: -", "deleted: "),
    ]

    /// OrphanTests.
    static let orphans: [Story] = [
        Story(
            "a file that is written in place after its name came back",
            "h=write f; rm f; write h; save f; write h; close h",
            "f is f", "f: bd c a"),
        Story(
            "a deleted file that is written in place",
            "h=write f; rm f; write h; close h",
            "deleted: f b a"),
        Story(
            "a deleted file that is emptied after the close of a duplicate",
            "h=replace f; rm f; write h; flush h; empty h; close h",
            "deleted: f . b a"),
        Story(
            "a deleted file that is emptied",
            "h=write f; rm f; empty h; close h",
            "deleted: f . a"),
        Story(
            "of two writers of a deleted file each counts",
            "1: h=write f; 2: i=write f; 1: rm f; write h; close h; 2: write i; close i",
            "deleted: f c b a"),
        Story(
            "a file that came back, was moved, and loses its name before it is saved",
            "mv f n; h=replace f; write h; rm f; close h; save f",
            "f is f", "f: c b a"),
        Story(
            "the same, closed after the name came back",
            "mv f n; h=replace f; write h; rm f; save f; close h",
            "f is f", "f: b c a"),
        Story(
            "a file that came back, was removed, and loses its name before it is saved",
            "rm f; h=replace f; write h; rm f; close h; save f",
            "f is f", "f: c b a"),
        Story(
            "the same, closed after the name came back",
            "rm f; h=replace f; write h; rm f; save f; close h",
            "f is f", "f: b c a"),
        Story(
            "what replaced a deleted file stays when another goes on writing to it unseen",
            "2: h=WRITE f; 3: i=REPLACE f; write i; 1: rm f; 3: close i; 2: write h; close h",
            "deleted: f c b a"),
        Story(
            "the same where the name has come back",
            "2: h=WRITE f; 3: i=REPLACE f; write i; 1: rm f; 3: close i; 2: write h; 1: save f; 2: close h",
            "f is f", "f: c d b a"),
        Story(
            "what was written by a descriptor from before stays when its document is renamed over another",
            setup: "same n; same g",
            "h=replace n; write h; same t; mv t n; close h; mv n g; save n",
            "n is n", "n: c ? b ?"),
    ]

    /// FurtherNamesTests.
    static let further: [Story] = [
        Story(
            "a file of two names that both go, and comes back under the last",
            "save f; ln f n; age; rm f; rm n; undelete n; save n",
            "n is f", "n: c b a", "deleted: "),
        Story(
            "a file of two names of which one goes keeps the other",
            "ln f n; age; rm f; save n",
            "n is f", "n: b a", "f: -"),
        Story(
            "a document comes back under its own name after that was taken anew and left",
            "rm f; age; save f; mv f n; undelete f",
            "f is f", "f: a", "n: b"),
    ]

    /// What a power cut leaves, where the catalog has lost its end.
    static let cuts: [Story] = [
        Story(
            "two names of a document that others were renamed over have one heir",
            setup: "save n; save g; ln f f~; age",
            "mv n f; mv g f~; lose 2",
            "f is f", "f~ is new"),
        Story(
            "a name that others were renamed over, and its document moved",
            setup: "save g; age",
            "mv f n; mv g f; lose 2",
            "f is f", "n is new"),
    ]

    /// How programs are related: 111, 112 and 121 are children of 1; 111 and 112 are of one program.
    static let kin: [Story] = [
        Story(
            "a program with the same parent appends as one (date in a loop)",
            "111: append f; 112: append f",
            "f: abc a"),
        Story(
            "another program with the same parent does not",
            "111: append f; 121: append f",
            "f: abc ab a"),
        Story(
            "what a child has read its parent has seen",
            "111: read f; 2: save f; 1: save f",
            "conflicts f: b"),
        Story(
            "what a sibling has read counts for 15 minutes",
            "111: read f; 2: save f; 121: save f",
            "conflicts f: b"),
        Story(
            "no longer than that",
            "111: read f; hour; 2: save f; 121: save f",
            "conflicts f: "),
        Story(
            "a child's save is no rival of its parent's",
            "1: read f; 111: save f; 1: save f",
            "conflicts f: "),
        Story(
            "a sibling's is",
            "111: read f; 121: read f; 111: save f; 121: save f",
            "conflicts f: b"),
        Story(
            "a shell removes what its child has made up",
            "111: save t; 1: rm t",
            "deleted: "),
        Story(
            "no program throws away what it made up an hour ago",
            "save t; hour; rm t",
            "deleted: t b"),
        Story(
            "no program throws away what a stranger is writing",
            "1: h=replace t; write h; close h; 2: i=append t; 1: rm t; 2: write i; close i",
            "deleted: t bc b"),
    ]
}
