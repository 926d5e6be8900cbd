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
            "three renames exchange a document of one version and one from before the mount",
            setup: "put g",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: b a", "g: a b"),
        Story(
            "three renames exchange a document of two versions and one from before the mount",
            setup: "save f; put g",
            "mv f n; mv g f; mv n g",
            "f is f", "g is g", "f: c b a", "g: b c"),
        Story(
            "a document with an older version that is renamed and begun anew keeps its history",
            "save f; mv f n; save f; mv f n; save f",
            "f is f", "f: d c b a"),
        Story(
            "so does one that its mover has made just now",
            setup: "save g",
            "mv g n; save g; mv g n; save g",
            "g is g", "g: d c b"),
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
            "a deleted file that is written in place comes back as it is now",
            "h=write f; rm f; write h; close h; undelete f",
            "f is f", "f: b a", "content f: b", "deleted: "),
        Story(
            "a deleted file that is appended to comes back as it is now",
            "2: h=append f; 1: rm f; 2: write h; close h; 1: undelete f",
            "f is f", "f: ab a", "content f: ab"),
        Story(
            "what one of two writers synchronizes is amended by its close",
            "1: h=write f; 2: i=write f; write i; flush i; write i; close i; 1: close h",
            "f is f", "f: bc a"),
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
            "what a close has saved stays when another had appended to it unseen",
            "1: i=APPEND f; flush i; 2: h=WRITE f; 1: rm f; 2: write h; flush h; 1: write i; release i; 2: release h",
            "deleted: f bc b a"),
        Story(
            "what a close has saved stays when a duplicate is closed after another's append",
            "1: i=append f; 2: h=WRITE f; write h; flush h; 1: write i; 2: close h; 1: close i",
            "f: bc b a"),
        Story(
            "what a close has saved stays when another's append is saved by an exchange",
            setup: "save g",
            "1: i=APPEND f; 2: h=write f; empty h; write h; flush h; 1: flush i; write i; release i; 2: swap f g",
            "g: cd b", "f: b cd c a"),
        Story(
            "each close of a duplicate is a save, also of what came unseen",
            "1: i=APPEND f; flush i; 2: h=WRITE f; 1: rm f; 2: write h; flush h; 1: write i; flush i; 2: write h",
            "deleted: f bc b a"),
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

    /// FurtherNamesTests, and SeveralNamesTests: names that were given while the container was not mounted.
    static let further: [Story] = [
        Story(
            "all names of a file are deleted with its directory",
            setup: "mkdir d; save d/a; save d/a; ln d/a d/b; age",
            "rm d/a; rm d/b; rmdir d",
            "links: d/a", "deleted: d/b c b, d "),
        Story(
            "all names of a file come back with its directory",
            setup: "mkdir d; save d/a; save d/a; ln d/a d/b; age",
            "rm d/a; rm d/b; rmdir d; undelete d; save d/b",
            "d/a is d/a", "d/b is d/a", "d/a: d c b", "links: ", "deleted: "),
        Story(
            "all names of a file come back with its directory, the first one removed last",
            setup: "mkdir d; save d/a; save d/a; ln d/a d/b; age",
            "rm d/b; rm d/a; rmdir d; undelete d; save d/b",
            "d/a is d/a", "d/b is d/a", "d/a: d c b", "links: ", "deleted: "),
        Story(
            "of a deleted file's names, the one that went first is given back first",
            "ln f n; age; rm f; rm n; undelete f; save n; save f",
            "f is f", "n is new", "f: c a", "n: b"),
        Story(
            "a document comes back to its name though its file is another's",
            setup: "save g; ln f n; mv n g; age",
            "rm g; save g", "f is f", "g is g", "f: a", "g: c a b", "deleted: "),
        Story(
            "a document is undeleted though its file is another's",
            setup: "save g; ln f n; mv n g; age",
            "rm g; save f; undelete g; save g", "f is f", "g is g", "f: c a", "g: d a b", "deleted: "),
        Story(
            "a document is undeleted later though its file is another's",
            setup: "save g; ln f n; mv n g; age",
            "rm g; age; save f; undelete g; save g", "f is f", "g is g", "f: c a", "g: d a b", "deleted: "),
        Story(
            "a name of a file of two documents is given back to its own",
            setup: "save g; ln f n; mv n g; age",
            "ln f n; age; rm n; age; undelete n", "f is f", "n is f", "g is g", "deleted: "),
        Story(
            "a name is given back to what parted with its file",
            setup: "ln f n; ln f g; age",
            "rm g; save t; mv t f; age; undelete g", "f is f", "n is new", "g is new", "content g: a", "deleted: "),
        Story(
            "a name of a file that stayed is an entry of the deleted list",
            "ln f n; age; rm f",
            "links: f", "deleted: ", "n is f"),
        Story(
            "a name of a file that stayed is given back",
            "ln f n; age; rm f; undelete f; save n",
            "f is f", "n is f", "f: b a", "links: "),
        Story(
            "a name of a file that stayed is given back under another one",
            "ln f n; age; rm n; undelete n g; save f",
            "f is f", "g is f", "g: b a", "links: "),
        Story(
            "a name of a file that stayed is given back though the name was taken anew",
            "ln f n; age; rm f; save f; undelete f g",
            "f is new", "g is f", "g: a", "links: "),
        Story(
            "a name whose file was replaced comes back with its content",
            "ln f n; age; rm f; save g; mv g n; undelete f",
            "f is new", "content f: a", "f: a", "n is f", "n: b a"),
        Story(
            "a file of two deleted names, which is being written, comes back by the first",
            "2: h=APPEND f; 1: ln f n; age; rm f; rm n; 2: write h; 1: undelete f; 2: close h",
            "f is f", "content f: ab", "f: ab a"),
        Story(
            "a document that is removed before its new file is saved comes back as that, which goes on",
            "mv f n; h=replace f; write h; rm f; undelete f; write h; close h",
            "f is f", "content f: bc", "f: bc a"),
        Story(
            "a name whose file has parted is a name of the copy",
            "ln f n; ln f g; age; rm g; save t; mv t f; undelete g; save n",
            "f is f", "f: b a", "g: c a", "n: c a"),
        Story(
            "purging one name leaves the file to the other",
            "ln f n; age; rm f; rm n; purge n; undelete f",
            "f is f", "f: a", "deleted: ", "links: "),
        Story(
            "purging all names of a file leaves nothing",
            "ln f n; age; rm f; rm n; purge n; undelete f; rm f; purge f",
            "deleted: ", "links: ", "superseded: ", "versions: "),
        Story(
            "purging a name of a file that stayed",
            "ln f n; age; rm f; purge f",
            "n is f", "n: a", "links: "),
        Story(
            "a document that was purged does not come back",
            "rm f; purge f; save f",
            "f is new", "f: b", "versions: b"),
        Story(
            "a copy keeps what it began with when its document is purged",
            "mv f f~; save f; mv f~ n; rm f; purge f",
            "n: a", "versions: a", "deleted: "),
        Story(
            "a purge takes along what was saved through two documents that are gone",
            "same f; ln f n; age; save g; mv g f; age; same g; save g; mv g n; rm f; purge f; rm n; purge n",
            "superseded: ", "versions: "),
        Story(
            "a temporary file of a purged document keeps no origin",
            "ln f n; age; save f~; mv f~ f; age; save g; mv n g; rm g; purge g; rm f; purge f",
            "superseded: ", "versions: "),
        Story(
            "a purge goes back through documents that were only temporary files",
            "ln f n; age; save g; mv g f; rm f; purge f; save f~; mv n f~; rm f~; purge f~",
            "superseded: ", "versions: "),
        Story(
            "that goes with the copy",
            "mv f f~; save f; mv f~ n; rm f; purge f; 2: rm n; purge n",
            "versions: ", "deleted: "),
        Story(
            "what a program saves into a purged file is an entry again",
            "h=write f; rm f; purge f; write h; close h",
            "deleted: f b", "versions: b"),
        Story(
            "so is what it goes back to, though that was purged",
            "h=write f; write h; restore f; rm f; write h; purge f; cut h; close h",
            "deleted: f b"),
        Story(
            "so is what it saves into one that another had replaced, though that is what was purged",
            "2: i=append f; repeat i; close i; h=write f; 1: save n; mv n f; rm f; 2: empty h; repeat h; 1: purge f; "
                + "2: close h",
            "deleted: f ?", "versions: ?"),
        Story(
            "what was purged does not come back with what is saved later",
            "2: i=append f; 1: save n; h=append n; mv n f; rm f; purge f; 2: empty i; write i; close i; "
                + "1: undelete f; close h",
            "content f: .", "f: c"),
        Story(
            "a further name from before the mount is its file's document",
            setup: "put n f",
            "save f",
            "n is f", "f: b a", "n: b a"),
        Story(
            "what is left of a file under its name from before the mount is renamed over the first",
            setup: "put n f",
            "save g; mv g f; mv n f",
            "f is f", "f: a b a", "n: -"),
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
            "two names of a document that others were renamed over go on as one",
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
            "nor where a command has read it in a terminal, and another command's child saves",
            "91111: read f; 2: save f; 92111: save f",
            "conflicts f: "),
        Story(
            "a command's own save, or one by a child of the command that has read it, does",
            setup: "911: read f; 2: save f; 921: save f",
            "5: save g; 91111: read g; 2: save g; 91121: save g",
            "conflicts f: b", "conflicts g: e"),
        Story(
            "a read for a backup makes the ancestors no readers",
            "111: read f; backup f; 2: save f; 121: save f",
            "conflicts f: "),
        Story(
            "nor does one of what its program has saved",
            "111: save f; read f; backup f; 2: save f; 121: save f",
            "conflicts f: "),
        Story(
            "nor do they know what it has read",
            "1: read f; 2: save f; 111: read f; backup f; 1: save f",
            "conflicts f: b"),
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
