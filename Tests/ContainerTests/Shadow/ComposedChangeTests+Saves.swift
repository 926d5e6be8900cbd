// Orders in which both sides save a content at different times, by several rules.

import LineageShadow

extension ComposedChangeTests {
    static let ofSaves = [
        Case(
            description: "the release of a handle that replaced its file takes no save", kind: .interleaved,
            steps: "0 openTruncating x; 0 openTruncating x; 0 write 1; 0 close 1; 0 createNew t; 0 openTruncating t; "
                + "0 close 1; 0 write 1; 0 release 1; 0 write 1",
            isPassing: true, changes: [], said: [.history("x", ["0.7;0.9;", "0.2;", "x before;"])],
            faults: [
                .history("x", ["0.2;", "x before;"]), .history("x", ["0.2;", "0.7;0.9;", "x before;"]),
                .history("x", ["0.7;0.9;", "x before;"]), .conflicts("x", ["0.2;"]), .conflicts("x", ["0.7;0.9;"]),
            ]),
        // Its writes are seen: it may not have written through a duplicate.
        Case(
            description: "the same, if the container serves it", kind: .interleaved,
            steps: "0 openTruncating x; 0 openTruncating x; 0 write 1; 0 close 1; 0 createNew t; 0 openTruncating t; "
                + "0 close 1; 0 write 1; 0 release 1; 0 write 1",
            isPassing: false, changes: [], said: [.history("x", ["0.7;0.9;", "0.2;", "x before;"])],
            faults: [.history("x", ["0.7;0.9;", "x before;"]), .history("x", ["0.2;", "x before;"])]),
        Case(
            description: "so does that of a handle that has made its file", kind: .interleaved,
            steps: "0 openTruncating t; 0 openTruncating x; 0 openTruncating t; 0 write 0; 0 close 0; 0 write 1; "
                + "0 rename y x; 0 release 0; 0 openInPlace t; 0 write 0",
            isPassing: true, changes: [], said: [.history("t", ["0.9;", "0.3;"])],
            faults: [.history("t", ["0.9;"]), .history("t", ["0.3;"]), .conflicts("t", ["0.9;"])]),
        Case(
            description: "a version of a rename that its handle goes on with, as a loser", kind: .interleaved,
            steps: "0 openTruncating t; 0 write 0; 0 openTruncating x; 0 openToAppend x; 1 rename x t; 0 write 0; "
                + "0 write 1",
            isPassing: false, changes: [.amendsArrival, .savedFirst],
            said: [.history("t", ["0.6;", "0.1;", ""]), .conflicts("t", [""])],
            faults: [
                .conflicts("t", ["", "0.6;"]), .conflicts("t", ["", "x before;"]), .history("t", ["0.6;", "0.1;"]),
                .history("t", ["0.1;", ""]), .history("t", ["", "0.6;", "0.1;"]), .nameless([]),
            ]),
        Case(
            description: "what was written together, and what is not saved yet", kind: .interleaved,
            steps: "0 openInPlace x; 1 openInPlace x; 0 writeAtStart 0; 0 close 0; 1 writeAtStart 0; 1 close 0; "
                + "0 openForBoth x; 0 write 0; 0 rename x y",
            changes: [.writtenTogether, .savedFirst], said: [.nameless([["1.4;fore;", "x before;"]])],
            faults: [.nameless([["1.4;fore;"]]), .nameless([["y before;", "x before;"]]), .nameless([])]),
        Case(
            description: "what is not saved yet, and is what a copy begins with",
            steps: "1 save x; 0 link x t; 3 closeAfterRename x 1", changes: [.savedFirst],
            said: [.history("t", ["3.2;", "1.0;"]), .history("x", ["1.2'", "1.0;"]), .conflicts("x", [])],
            faults: [
                .history("t", ["1.0;"]), .history("t", ["1.0;", "3.2;"]), .history("t", ["3.2;", "1.2'"]),
                .history("x", ["1.2'"]), .conflicts("x", ["1.2'"]), .conflicts("t", ["1.0;"]),
            ]),
        Case(
            description: "an exchange of what a program has emptied", kind: .interleaved,
            steps: "0 openForBoth x; 1 openTruncating x; 0 exchange y x", changes: [.notAtEachClose],
            said: [.history("x", ["y before;", "", "x before;"])],
            faults: [
                .history("x", ["", "x before;"]), .history("x", ["y before;", ""]), .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "the same, and a kill", kind: .killed, steps: "2 openTruncating y; 2 exchange y x",
            changes: [.notAtEachClose],
            said: [.history("y", ["x before;", "", "y before;"]), .history("x", ["", "x before;"])],
            faults: [
                .history("y", ["x before;", ""]), .history("y", ["", "y before;"]), .history("x", ["x before;"]),
                .history("x", ["", "x before;", ""]), .conflicts("y", ["y before;"]),
            ]),
        Case(
            description: "a file that was edited at a new name, and had lost that by the close", kind: .interleaved,
            steps: "0 rename x t; 0 openForBoth t; 0 write 0; 0 unlink t; 0 close 0; 0 openTruncating x",
            isPassing: false, changes: [.savedWithoutName],
            said: [.history("x", ["", "0.2;fore;", "x before;"]), .nothingDeleted],
            faults: [
                .history("x", ["", "x before;"]), .history("x", ["", "0.2;fore;"]), .history("x", [""]),
                .history("x", ["0.2;fore;", "", "x before;"]), .conflicts("x", ["0.2;fore;"]),
            ]),
        Case(
            description: "the close of a handle before its file came to another document", kind: .interleaved,
            steps: "0 openInPlace y; 0 openToAppend y; 0 write 1; 0 close 0; 0 write 0; 0 close 0; 1 rename y x",
            changes: [.notAtEachClose],
            said: [
                .history("x", ["0.2;0.4;;", "x before;"]), .nameless([["0.2;0.4;;", "0.2;fore;", "y before;"]]),
            ],
            faults: [
                .history("x", ["0.2;0.4;;", "0.2;fore;", "x before;"]), .history("x", ["0.2;0.4;;"]),
                .nameless([["0.2;0.4;;", "0.2;fore;"]]), .nameless([]),
            ]),
        Case(
            description: "a loser that is not saved yet, and what it has replaced",
            steps: "0 save t; 2 load t; 1 save t; 3 closeAfterRename t 2", changes: [.savedFirst],
            said: [.history("t", ["3.3;", "2.3'", "1.2;", "0.0;"]), .conflicts("t", ["1.2;"])],
            faults: [
                .conflicts("t", ["0.0;"]), .conflicts("t", ["0.0;", "1.2;"]), .conflicts("t", ["1.2;", "2.3'"]),
                .history("t", ["3.3;", "1.2;", "2.3'", "0.0;"]), .history("t", ["3.3;", "1.2;", "0.0;"]),
                // Its close has acknowledged it.
                .history("t", ["2.3'", "1.2;", "0.0;"]),
            ]),
        Case(
            description: "a save settles a loser that its program has seen under another name, and makes a rival one",
            steps: "0 save t; 2 load t; 1 saveByOrdinaryRename t; 0 move t y; 2 saveByRename t; 3 load y; 3 save t",
            changes: [.settledElsewhere, .seenElsewhere], said: [.conflicts("t", ["1.2;"])],
            faults: [
                .conflicts("t", ["0.0;", "1.2;"]), .conflicts("t", ["1.2;", "3.6;"]), .conflicts("y", ["1.2;"]),
            ]),
        Case(
            description: "a loser's program removes the name, and renames its next save to it",
            steps: "0 saveByRename y; 1 save y; 0 save y; 1 delete y; 1 saveByRename y",
            changes: [.removedAndReplaced], said: [.conflicts("y", ["1.1;"])],
            faults: [.conflicts("y", ["0.0;"]), .conflicts("y", ["1.4;"])]),
        Case(
            description: "a program has seen another version elsewhere, and settles none",
            kind: .ofTrees,
            steps: "7 saveByRename x; 14 save x; 7 move x y; 14 saveByOrdinaryRename x; 14 load y; 7 saveByRename x; "
                + "13 saveByOrdinaryRename x",
            changes: [.seenElsewhere], said: [.conflicts("x", ["7.5;"])],
            faults: [.conflicts("x", ["14.1;", "7.5;"]), .conflicts("x", ["13.6;", "7.5;"])]),
        Case(
            description: "a handle closes what another one has written, and goes on with what a rename has made",
            kind: .interleaved,
            steps: "0 openTruncating t; 0 openTruncating t; 0 openForBoth t; 0 rename t x; 0 write 0; 0 close 0; "
                + "0 openInPlace x; 0 write 2",
            changes: [.writtenTogether], said: [.history("x", ["0.7;", "x before;"])],
            faults: [
                .history("x", ["0.4;", "x before;"]), .history("x", ["0.7;"]), .history("x", ["x before;", "0.7;"]),
                .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "an exchange of what a program has emptied, and the former content once more",
            kind: .interleaved, steps: "2 rename x t; 0 openTruncating x; 1 rename t y; 0 exchange x y",
            changes: [.notAtEachClose], said: [.history("x", ["x before;", "", "x before;"])],
            faults: [
                .history("x", ["x before;", "y before;", "x before;"]), .history("x", ["x before;", "x before;"]),
                .history("x", [""]), .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "a program removes what it has not saved, of a name that had come back",
            kind: .interleaved,
            steps: "0 openTruncating y; 0 unlink x; 0 rename y t; 0 createNew y; 0 write 0; 0 unlink y; "
                + "0 openTruncating y; 0 write 1",
            changes: [.notAtEachClose],
            said: [.history("y", ["", "0.4;0.7;", "0.4;", "y before;"])],
            faults: [
                .history("y", ["", "0.4;0.7;", "y before;", "0.4;"]), .history("y", ["0.4;0.7;", "0.4;", "y before;"]),
                .conflicts("y", ["y before;"]),
            ]),
        Case(
            description: "a kill in the middle of a save, after another one was emptied",
            kind: .killed,
            steps: "0 openTruncating y; 1 rename y t; 2 rename t x; 2 openForBoth x; 0 rename x y; 2 write 0; "
                + "0 write 0; 1 openTruncating y",
            changes: [.notAtEachClose],
            said: [.history("y", ["", "0.6;", "", "y before;"])],
            faults: [.history("y", ["", "", "y before;"]), .history("y", ["", "0.6;", ""])]),
        Case(
            description: "a version that a rename has made, and its close after another one without a name",
            kind: .interleaved,
            steps: "0 openTruncating y; 0 openTruncating x; 0 rename x y; 0 write 0; 0 writeAtStart 0; 0 write 1",
            changes: [.savedWithoutName], said: [.history("y", ["0.4;", "0.5;", "y before;"])],
            faults: [
                .history("y", ["0.5;", "y before;"]), .history("y", ["0.4;", "y before;", "0.5;"]),
                .history("y", ["y before;", "0.4;", "0.5;"]), .conflicts("y", ["y before;"]),
            ]),
        Case(
            description: "a writer saves a document at its new name, and that stays away from its former one",
            kind: .interleaved,
            steps: "1 rename y t; 2 openForBoth t; 2 close 0; 1 openTruncating t; 1 write 0; 2 release 0; 0 rename x y",
            isPassing: true, changes: [], said: [.history("y", ["x before;", "y before;"])],
            faults: [
                .history("y", ["y before;", "x before;"]), .history("y", ["y before;"]), .history("t", ["y before;"]),
                .history("t", ["y before;", "1.4;"]), .conflicts("y", ["y before;"]),
            ]),
        Case(
            description: "a program follows its parent's bytes, which are not saved yet, and not what they replaced",
            kind: .ofTrees, steps: "0 saveByRename t; 4 saveByRename t; 2 closeAfterRename t 0",
            changes: [.savedFirst],
            said: [.history("t", ["2.2;", "0.2'", "4.1;", "0.0;"]), .conflicts("t", ["4.1;"])],
            faults: [
                .conflicts("t", ["0.0;"]), .conflicts("t", ["0.2'"]), .conflicts("t", ["0.0;", "4.1;"]),
                .history("t", ["0.2'", "4.1;", "0.0;"]),
            ]),
        Case(
            description: "a program settles its loser before its child saves, and not behind that",
            kind: .ofTrees,
            steps: "9 saveByRename t; 4 closeAfterLoad t 6; 2 load t; 3 save t; 0 saveByRename t; "
                + "3 closeAfterRename t 4",
            changes: [.savedFirst],
            said: [
                .history("t", ["3.5;", "4.5'", "0.4;", "3.3;", "4.1;", "9.0;"]), .conflicts("t", ["0.4;", "3.3;"]),
            ],
            faults: [
                .conflicts("t", ["0.4;", "4.1;"]), .conflicts("t", ["0.4;", "3.3;", "4.1;"]),
                .conflicts("t", ["0.4;", "4.5'"]),
                .history("t", ["4.5'", "0.4;", "3.3;", "4.1;", "9.0;"]),
            ]),
        Case(
            description: "a program closes another file last that it has written in with a stranger",
            kind: .interleaved,
            steps: "1 openToAppend y; 2 openTruncating y; 0 rename x y; 1 writeAtStart 0; 2 openTruncating y",
            changes: [.writtenTogether],
            said: [.conflicts("y", ["x before;"])],
            faults: [
                .conflicts("y", [""]), .history("y", ["", "1.3;", "y before;"]),
                .history("y", ["x before;", "1.3;", "y before;"]),
            ]),
        Case(
            description: "a kill behind a rival save that is not finished", kind: .killed,
            steps: "1 openTruncating y; 1 write 0; 0 openTruncating y; 0 write 0; 0 close 0; 1 write 0; "
                + "0 openTruncating y",
            changes: [.savedFirst],
            said: [.history("y", ["", "0.3;1.5;", "0.3;", "1.1;", "y before;"]), .conflicts("y", ["0.3;"])],
            faults: [
                .conflicts("y", ["y before;"]), .conflicts("y", ["0.3;1.5;"]), .conflicts("y", ["0.3;", "y before;"]),
                .history("y", ["", "0.3;", "0.3;1.5;", "1.1;", "y before;"]),
            ]),
        Case(
            description: "a name comes back while its file is written at another one", kind: .interleaved,
            steps: "0 openInPlace x; 0 writeAtStart 0; 0 rename x t; 0 write 0; 0 openTruncating x",
            changes: [.savedFirst],
            said: [.history("x", ["", "x before;"]), .history("t", ["0.1;0.3;;", "x before;"])],
            faults: [
                .history("x", [""]), .history("x", ["x before;"]), .history("t", ["x before;"]),
                .history("t", ["x before;", "0.1;0.3;;"]), .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "a program removes what another one has not saved yet", kind: .interleaved,
            steps: "2 openTruncating t; 2 write 0; 1 unlink t", changes: [.savedWithoutName],
            said: [.deleted("t", [])],
            faults: [.nothingDeleted, .deleted("t", ["x before;"]), .deleted("t", ["2.1;", "x before;"])]),
        Case(
            description: "a file in the middle of writing goes to another document, and back", kind: .interleaved,
            steps: "0 rename y x; 0 openTruncating x; 0 openTruncating t; 0 close 0; 1 rename x t; 0 rename t x; "
                + "0 write 0",
            isPassing: false, changes: [.savedFirst], said: [.history("x", ["0.6;", "y before;", "x before;"])],
            faults: [
                .history("x", ["0.6;", "x before;"]), .history("x", ["y before;", "0.6;", "x before;"]),
                .history("x", ["0.6;", "y before;"]), .conflicts("x", ["y before;"]),
            ]),
        Case(
            description: "a rival of a rename, by bytes that no close has saved", kind: .interleaved,
            steps: "1 openTruncating t; 2 rename t x; 1 openTruncating x; 2 rename y x; 1 openTruncating x",
            changes: [.savedFirst], said: [.conflicts("x", [])],
            faults: [
                .history("x", ["", "x before;"]), .history("x", ["", "y before;"]),
                .history("x", ["", "x before;", "y before;"]),
            ]),
        // It has read a version that both have.
        Case(
            description: "the same, by a program that has read the document", kind: .interleaved,
            steps: "1 load x; 1 openTruncating t; 2 rename t x; 1 openTruncating x; 2 rename y x; 1 openTruncating x",
            changes: [], said: [.conflicts("x", ["y before;"])],
            faults: [.conflicts("x", []), .history("x", ["", "x before;"])]),
        Case(
            description: "a file without a name is a version as its name comes back", kind: .interleaved,
            steps: "0 unlink y; 0 rename x t; 0 createNew x; 0 write 0; 0 unlink x; 0 createNew x; 0 close 0; "
                + "0 release 0",
            changes: [.savedWithoutName], said: [.history("x", ["", "0.3;", "x before;"])],
            faults: [
                .history("x", ["", "x before;", "0.3;"]), .history("x", ["0.3;", "x before;"]),
                .history("x", ["x before;"]), .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "a copy begins with what no close has saved, and a kill", kind: .killed,
            steps: "2 openTruncating y; 1 rename y x; 1 rename x y; 2 openTruncating x; 0 rename x t; "
                + "2 openTruncating x",
            changes: [.savedFirst], said: [.history("t", []), .history("x", ["", "x before;"])],
            faults: [
                .history("t", ["x before;"]), .history("t", ["y before;"]), .history("x", [""]),
                .conflicts("x", ["x before;"]),
            ]),
        Case(
            description: "an emptied file that a kill leaves, and what a rename has made empty", kind: .killed,
            steps: "0 rename y t; 0 openTruncating t; 0 close 0; 0 openTruncating x; 1 rename x t; 0 write 0; "
                + "1 rename t y",
            changes: [.amendsArrival, .settledEmpty], said: [.history("y", ["0.5;", "", "y before;"])],
            faults: [
                .history("y", ["y before;", "0.5;", ""]), .history("y", ["y before;", "", "0.5;"]),
                .history("y", ["0.5;", ""]), .conflicts("y", ["x before;"]),
            ]),
        Case(
            description: "programs append to a file whose name is removed and made anew", kind: .interleaved,
            steps: "0 openToAppend x; 1 openToAppend x; 0 write 0; 0 unlink x; 0 close 0; 2 rename y x",
            changes: [.writtenTogether],
            said: [.history("x", ["x before;0.2;", "y before;", "x before;"])],
            faults: [
                .history("x", ["x before;0.2;", "x before;"]), .history("x", ["x before;0.2;", "y before;"]),
                .history("x", ["x before;", "y before;", "x before;0.2;"]), .conflicts("x", ["y before;"]),
            ]),
        Case(
            description: "a version of a rename, and its close behind that of a file without a name",
            kind: .interleaved,
            steps: "1 rename y x; 0 openTruncating x; 1 unlink x; 0 openTruncating x; 0 write 1; 1 rename x y; "
                + "0 write 1",
            changes: [.savedFirst, .cameBack],
            said: [.history("y", ["", "0.4;0.6;", "y before;", "x before;"]), .nameless([])],
            faults: [
                .history("y", ["", "y before;", "0.4;0.6;", "x before;"]),
                .history("y", ["y before;", "", "0.4;0.6;", "x before;"]), .history("y", ["0.4;0.6;", "y before;"]),
                .conflicts("y", ["x before;"]),
            ]),
        Case(
            description: "programs write together what is a rival of the last one to close", kind: .interleaved,
            steps: "2 openTruncating t; 0 openForBoth y; 1 rename t x; 1 rename y x; 2 openTruncating x; 0 write 0; "
                + "2 write 1",
            changes: [.writtenTogether, .savedWithoutName],
            said: [.history("x", ["0.5;", "2.6;", "y before;", "", "x before;"]), .conflicts("x", ["y before;"])],
            faults: [
                .conflicts("x", ["x before;", "y before;"]), .conflicts("x", ["x before;"]),
                .history("x", ["2.6;", "y before;", "", "x before;"]),
                .history("x", ["0.5;", "2.6;", "x before;", "", "y before;"]),
            ]),
        Case(
            description: "a program closes a file that it has emptied, and another handle of it writes",
            kind: .interleaved,
            steps: "0 unlink x; 1 openTruncating t; 1 openForBoth t; 0 rename t x; 1 close 1; 1 writeAtStart 0",
            changes: [.writtenTogether], said: [.history("x", ["1.5;", "x before;"])],
            faults: [
                .history("x", ["1.5;"]), .history("x", ["x before;", "1.5;"]), .history("x", ["", "x before;"]),
                .conflicts("x", ["1.5;"]),
            ]),
        Case(
            description: "a rename over what a program has appended to its own version", kind: .interleaved,
            steps: "0 openToAppend x; 0 write 0; 0 close 0; 0 openToAppend x; 0 release 0; 0 write 0; 0 rename y x",
            changes: [.amendsArrival],
            said: [.history("x", ["x before;0.1;0.5;", "y before;", "x before;0.1;", "x before;"])],
            faults: [
                .history("x", ["y before;", "x before;0.1;", "x before;"]),
                .history("x", ["x before;0.1;0.5;", "x before;", "y before;", "x before;0.1;"]),
                .history("x", ["x before;0.1;0.5;", "x before;0.1;", "x before;"]), .conflicts("x", ["x before;"]),
            ]),
    ]
}
