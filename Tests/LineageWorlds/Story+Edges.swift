// What a reading of the rules beside facts.md has asked for.

extension Story {
    static let edges: [Story] = custody + identities + makers + rivals

    /// facts.md 2.
    private static let identities: [Story] = [
        Story(
            "a file that is open for writing keeps its name waiting, also behind the close of a duplicate",
            "h=append f; write h; flush h; mv f n; age; save f",
            "f is f", "n is new", "f: c ab a", "n: ab"),
        Story(
            "what two may have written unseen, opened under the first name, is at home there",
            setup: "save g; age",
            "h=REPLACE f; i=REPLACE f; mv f g; mv g n; write h; save g; close h; close i",
            "g is g", "n is new", "g: d . b", "n: c ."),
        Story(
            "a file travels with its document when it is exchanged for a directory",
            setup: "mkdir d",
            "swap d f",
            "d is f", "d: a"),
        Story(
            "a directory that another one is renamed over is deleted",
            setup: "mkdir d; mkdir n",
            "mv d n",
            "d: -", "deleted: n "),
        Story(
            "a document that was purged does not come back with its name, though a copy began with it",
            "ln f g; save t; mv t f; rm f; purge f; save f",
            "f is new", "f: c", "history f: c"),
        Story(
            "a name that its program links and removes at once is no entry (a lock file)",
            "ln f n; rm n",
            "links: "),
        Story(
            "it is one if another program removes it, or the same later",
            "ln f n; 2: rm n; 1: ln f g; age; rm g",
            "links: n, g"),
        Story(
            "a name that parts is no rename by link and unlink",
            setup: "ln f n; ln f g; age",
            "save t; mv t f; rm n",
            "links: n"),
    ]

    /// facts.md 5.
    private static let makers: [Story] = [
        Story(
            "a file whose made-up name is replaced belongs to another program that has it open, too",
            "1: save t; 2: i=write t; 1: save n; mv n t; 2: write i start; close i; 1: rm t",
            "deleted: t d c b"),
        Story(
            "so does one whose made-up name gets another file of its maker",
            setup: "mkdir d",
            "1: save t; 2: i=write t; 1: save d/t; mv d/t t; 2: write i start; close i; 1: rm t",
            "deleted: t d c b"),
        Story(
            "another program's file under a made-up name, which a program renames over its own, is not that one's",
            setup: "mkdir d",
            "1: save t; 2: save d/t; 1: mv d/t t; rm t",
            "deleted: t c b"),
        Story(
            "two made-up names that were exchanged, of which one is published",
            setup: "mkdir d",
            "save t; save d/t; swap t d/t; ln t n; rm d/t",
            "t: c b", "n: c b", "deleted: "),
        Story(
            "a made-up name that its program has moved to another one does not come back at a mount",
            setup: "mkdir d",
            "save t; mv t d/t; put t",
            "history d/t: b", "history t: c"),
        Story(
            "another process of the same program appends to a made-up name's file",
            "111: save t; append t; 112: append t; 111: rm t",
            "deleted: t bcd b"),
        Story(
            "what a maker appends through two handles goes with its name",
            "h=append t; write h; i=append t; close h; write i; close i; rm t",
            "t: -", "deleted: "),
        Story(
            "a document is published under its former names, too",
            "1: save t; save n; swap t n; 2: save t; 1: rm t",
            "deleted: t d c b"),
        Story(
            "a made-up name that a published file is renamed over is published: the file's document ends there",
            "save t; mv f t; rm t",
            "f: -", "deleted: t a b"),
        Story(
            "what a file was saved as under a made-up name goes when that becomes a real one",
            "save t; save t; mv t g; save t; save t; mv t f",
            "g: c", "f: e a", "versions: a c e"),
        Story(
            "the same where its content is the other's already, and its writer is not released yet",
            "h=REPLACE t; repeat h; flush h; same f; mv t f; release h",
            "f: ? a", "versions: a ?"),
        Story(
            "what a made-up name has got by an exchange is thrown away with it: the other name has had it",
            "save t; swap t f; rm t",
            "f: b a", "deleted: "),
        Story(
            "it is not if the file has another name",
            setup: "ln f n; age",
            "save t; swap t f; rm t",
            "f: b a", "n: a", "deleted: t a b"),
        Story(
            "a file whose version was purged goes back to no version of a made-up name",
            "h=replace t; write h; 2: restore f; 1: i=replace f; restore f; swap f t; rm f; purge f; write i; close i",
            "t: a b"),
        Story(
            "a made-up name that another program exchanges is published",
            "1: save t; 2: swap t f; 1: rm t",
            "f: b a", "deleted: t a b"),
        Story(
            "a made-up name that another program gives another content is published",
            "1: save t; 2: restore t f; 1: rm t",
            "deleted: t a b"),
    ]

    /// Conflicts (facts.md 3).
    private static let rivals: [Story] = [
        Story(
            "a file that was made to be appended to is one: it is no rival of what another appends",
            "1: h=append g; write h; flush h; 2: append g; 1: write h; close h",
            "g: bcd bc b", "conflicts g: "),
        Story(
            "what is written unseen behind the close of a duplicate is no save of an earlier handle (bash)",
            "h=REPLACE f; write h; flush h; i=REPLACE f; flush i; write i; release h; flush i; j=REPLACE f; release i;"
                + "write j; close j",
            "f: d c b a"),
        Story(
            "a handle that appends and has emptied the file replaces it",
            "1: read f; h=append f; 2: save f; 1: empty h; write h; close h",
            "f: c b a", "conflicts f: b"),
        Story(
            "a program that empties a file is a rival, also if an earlier writer is released later",
            "1: read f; 2: h=replace f; write h; flush h; 1: i=replace f; close i; 2: release h",
            "f: . b a", "conflicts f: b"),
        Story(
            "the same if another handle, which has written nothing, is closed before",
            "1: read f; 2: save f; 1: h=replace f; 2: i=WRITE f; close i; 1: close h",
            "f: . b a", "conflicts f: b"),
        Story(
            "the same if another handle writes behind that",
            "1: read f; 2: save f; i=write f; 1: h=replace f; close h; 2: write i; close i",
            "f: c . b a", "conflicts f: b"),
        Story(
            "a program that has saved a file of two documents knows both, the one",
            setup: "save g; ln f n; swap f g",
            "5: save g; 2: save t; mv t n; 5: save n",
            "conflicts n: d"),
        Story(
            "a program that has saved a file of two documents knows both, the other",
            setup: "save g; ln f n; swap f g",
            "5: save g; 2: save t; mv t g; 5: save g",
            "conflicts g: d"),
        Story(
            "a program that has read the file, and then an older copy of it, follows what the file has",
            "ln f g; 2: save t; mv t f; 1: read f; read g; save f",
            "f: c b a", "conflicts f: "),
        Story(
            "a program that empties a file of two documents, and makes one of them anew, knows what it has emptied",
            setup: "7: save g; age",
            "1: ln g n; mv n f; mv f n; mv g f; h=REPLACE f; rm n; rm f; flush h; i=append g; release h; write i;"
                + "close i",
            "g: c . b", "conflicts g: "),
        Story(
            "a program is no rival of the one that has started it",
            "123: read f; 1: save f; 123: save f",
            "f: c b a", "conflicts f: "),
        Story(
            "a loser of which a document began is settled there",
            setup: "3: read f; 2: save f; ln f n; age; save g; mv g f",
            "4: read n; 3: save n; 4: save n",
            "n: e d b", "conflicts n: d"),
    ]

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
            "a handle that appends cuts off what its process has appended before",
            "2: i=WRITE f; close i; 1: append f; h=append f; write h; flush h; cut h; close h",
            "f: a abc a"),
        Story(
            "what a handle writes unseen behind its close is its version, also while another one appends",
            "h=append n; write h; i=WRITE n; flush i; write i start; release i; write h; close h",
            "n: cd c"),
        Story(
            "what a handle may have written unseen is a version before another empties the file",
            "2: i=WRITE f; write i start; 1: h=write f; empty h; write h start; close h",
            "f: c b a"),
        Story(
            "a program goes on with its version, and another's rename over that is refused",
            setup: "2: save n",
            "1: h=write f; write h; flush h; write h start; 2: refuse mv n f; 1: write h; close h",
            "f: de d a", "n: b"),
        Story(
            "what a purge has left in a file is renamed while others may write to it unseen",
            setup: "save g; ln g n; h=replace f~; swap f~ n; age",
            "mv g n; rm n; 2: i=WRITE f~; 3: j=WRITE f~; purge n; 1: mv f~ f",
            "f: b a"),
        Story(
            "a save equals what a version was before its saver went on with it in a file without a name",
            "h=replace f; 2: rm f; 1: repeat h; flush h; write h start; 2: i=append f; repeat i; close i; 1: close h",
            "f: ? b a", "content f: ?"),
        Story(
            "the same before an exchange, by a handle whose writes come unseen",
            setup: "save g",
            "1: h=replace f; 2: rm f; 1: repeat h; flush h; write h start; 2: i=REPLACE f; repeat i; swap f g;"
                + "1: close h; 2: close i",
            "f: b ? c a", "g: ? b"),
        Story(
            "a file arrives that equals a version, and the version's saver goes on in a file without a name",
            "h=replace f; 2: rm f; 1: repeat h; flush h; 2: same n; mv n f; 1: write h start; close h",
            "f: b ? a", "content f: ?"),
        Story(
            "the same where the saver has gone on before that",
            "h=replace f; 2: rm f; 1: repeat h; flush h; write h start; 2: same n; mv n f; 1: close h",
            "f: ? b a", "content f: ?"),
        Story(
            "the same where what equals it is saved in another file without a name",
            "2: k=write f; 3: save n; mv n f; 1: h=write f; 3: rm f; 1: repeat h start; flush h; write h start;"
                + "2: repeat k start; close k; 1: close h",
            "deleted: f ? c b a", "versions: a b b c ?"),
        Story(
            "a write that is refused changes nothing, and the next append is a version of its own",
            "h=write f; write h start; flush h; refuse write h start; 2: append f; 1: close h",
            "f: bd b a"),
        Story(
            "what was purged is saved again by a program that has the file open, and the power goes",
            "h=replace n; rm n; repeat h; flush h; purge n; empty h; repeat h start; close h; lose 2",
            "versions: a ?"),
        Story(
            "what is kept first makes another version one of a document that has gone on",
            setup: "ln f n",
            "2: h=REPLACE g; rm g; write h start; flush h; 1: i=REPLACE g; flush i; 3: mv g f",
            "content f: .", "g: -"),
        Story(
            "a purge takes along what was closed in another file of a document that was renamed",
            setup: "save g",
            "restore f; h=append f; restore f; 2: mv f g; 1: write h; cut h; flush h; 2: rm g; purge g; 1: release h",
            "deleted: ", "versions: "),
        Story(
            "a loser that is purged is no conflict, and stands for no other content",
            setup: "read f; 2: same f; 1: save f; ln f n; 3: save t; mv t f; 4: h=write f; 5: rm f; purge f;"
                + "4: write h; flush h; 5: undelete f",
            "6: read f; k=replace f; 7: save t; mv t f; 6: repeat k; close k",
            "conflicts f: ?", "f: ? e d b"),
        Story(
            "a name of several that was purged is no entry again by a save",
            setup: "ln f n; age; rm n; purge n",
            "2: save f",
            "links: "),
        Story(
            "a made-up name of a file that held what was purged goes on with what it shows",
            setup: "rm f; save n; restore n; ln n g; age",
            "h=append t; repeat h; swap g t; swap g n; rm g; purge g; mv t f",
            "f: b ?", "content f: b"),
        Story(
            "a file without a name is saved: the removal of its older name was the last",
            setup: "ln f n; age",
            "h=write f; 2: rm n; rm f; 1: write h; close h; undelete f",
            "content f: b", "f: b a"),
        Story(
            "a log goes on in one file, and another one holds what it had when it was restored",
            "h=append n; 2: ln n g; 1: swap n g; restore n; 2: swap n g; 1: write h; close h",
            "n: b .", "g: ."),
        Story(
            "the same where the log has a line already",
            "h=append n; write h; 2: ln n g; 1: swap n g; restore n; 2: swap n g; 1: write h; close h",
            "n: bc b", "g: b"),
        Story(
            "the same before the log is renamed over another file",
            "h=append n; 2: ln n g; swap n g; restore n; swap n g; 1: write h; 2: mv g f; 1: close h",
            "f: . a", "n: b"),
        Story(
            "a version that is restored into another file is whole: its saver extends it as another",
            setup: "save n",
            "h=append f; write h; flush h; 2: restore n f; hour; 1: write h; close h",
            "f: acd ac a", "n: ac b"),
        Story(
            "a version is restored into another file while its saver goes on with it",
            setup: "save n",
            "h=write f; write h start; flush h; write h start; 2: restore n f; 1: close h",
            "f: d a", "n: d b"),
        Story(
            "a power cut while an older file arrives that equals a version, and its saver has gone on before that",
            setup: "save n; save t; mv t f; age",
            "2: k=write n; repeat k start; 1: h=replace f; 2: rm f; 1: repeat h; flush h; write h start; 2: mv n f;"
                + "1: close h; 2: close k",
            "content f: ?"),
        Story(
            "a kill while a version is amended to what an older one has",
            setup: "same f; age",
            "h=write f; write h start; flush h; repeat h start; close h",
            "f: ? ? a"),
    ]
}
