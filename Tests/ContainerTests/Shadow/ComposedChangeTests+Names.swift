// Orders in which names have other documents on both sides, by several rules.

import LineageShadow

extension ComposedChangeTests {
    static let ofNames = [
        Case(
            description: "a name that was left before a kill, and that a file with a history is moved to",
            steps: "1 save t; 3 delete t; 1 saveByRename x; 0 kill; 2 save x; 2 move x t",
            changes: [.leftBeforeKill], said: [.history("t", ["2.4;", "1.2;"]), .deleted("t", ["1.0;"])],
            faults: [
                .history("t", ["2.4;"]), .history("t", ["1.2;", "2.4;"]), .history("t", ["1.2;"]), .nothingDeleted,
                .deleted("t", ["1.2;"]), .conflicts("t", ["1.2;"]), .conflicts("t", ["1.0;"]),
            ]),
        Case(
            description: "a name that comes back once more", kind: .interleaved,
            steps: "1 rename y t; 1 rename x y; 0 rename y t; 1 createNew y",
            changes: [.cameBack], said: [.history("y", [""]), .history("t", ["x before;", "y before;"])],
            faults: [
                .history("y", []), .history("t", ["x before;"]), .history("t", ["y before;"]),
                .conflicts("y", ["x before;"]),
            ]),
        Case(
            description: "a document has gone back along its way with a conflict that is settled at the name it left",
            steps: "3 saveByRename y; 3 save t; 0 move y t; 3 save t; 2 wait; 3 move t y; 0 saveByRename t",
            changes: [.hasReturned],
            said: [
                .history("t", ["0.6;", "3.3;", "3.0;", "3.1;"]), .history("y", ["3.3;"]), .conflicts("t", ["3.3;"]),
                .conflicts("y", []),
            ],
            faults: [
                .conflicts("t", ["3.1;"]), .conflicts("y", ["3.1;"]), .history("t", ["0.6;"]),
                .history("y", ["3.0;"]),
            ]),
        Case(
            description: "a copy that no program has saved is restored as what it began with",
            steps: "0 saveByRename y; 0 link y t; 0 saveByRename t; 0 restore y",
            changes: [.isBehindOrigin], said: [.history("y", ["0.0;", "0.0;"]), .history("t", ["0.2;", "0.0;"])],
            faults: [
                .history("y", ["0.0;", "0.0;", "0.0;"]), .history("y", []), .history("y", ["0.2;", "0.0;"]),
                .history("t", ["0.2;", "0.2;", "0.0;"]), .conflicts("y", ["0.0;"]),
            ]),
        // The container's document has two versions, too: it comes back.
        Case(
            description: "a name that comes back, of a document with two versions",
            steps: "0 save t; 0 save t; 0 save y; 0 move y x; 0 move t y; 0 save t",
            changes: [], said: [.history("t", ["0.5;", "0.1;", "0.0;"])],
            faults: [.history("t", ["0.5;"]), .history("t", ["0.5;", "0.1;"]), .history("t", ["0.5;", "0.0;", "0.1;"])]
        ),
        Case(
            description: "a name that comes back, and a late save of the document that left it", kind: .interleaved,
            steps: "0 truncate y; 0 openTruncating y; 0 rename x y; 0 rename y t; 0 rename t x", changes: [.cameBack],
            said: [.history("x", ["", "x before;", "y be", "y before;"])],
            faults: [
                .history("x", ["", "y be", "x before;", "y before;"]), .history("x", ["", "y be", "y before;"]),
                .conflicts("x", ["y be"]),
            ]),
        Case(
            description: "a file goes back from over one that its next writer has open", kind: .interleaved,
            steps: "0 openTruncating t; 1 rename x t; 0 openTruncating t; 1 rename t x", changes: [.backFromOver],
            said: [.history("x", ["", "", "x before;"]), .conflicts("x", ["x before;"])],
            faults: [
                .conflicts("x", [""]), .conflicts("x", ["", "x before;"]),
                .history("x", ["", "x before;", ""]), .conflicts("y", ["y before;"]),
            ]),
        Case(
            description: "the same, of a file that has come by a third name", kind: .interleaved,
            steps: "0 rename y x; 0 openTruncating t; 1 rename x t; 0 openTruncating t; 1 rename t y",
            changes: [.cameBack], said: [.history("y", ["", "", "y before;"]), .conflicts("y", ["y before;"])],
            faults: [
                .conflicts("y", [""]), .conflicts("y", ["", "y before;"]), .conflicts("y", ["x before;"]),
                .history("y", ["", "y before;", ""]), .nameless([]),
            ]),
        // A program is no rival of itself.
        Case(
            description: "the same, of one program", kind: .interleaved,
            steps: "0 openTruncating t; 0 rename x t; 0 openTruncating t; 0 rename t x", changes: [.backFromOver],
            said: [.history("x", ["", "", "x before;"])],
            faults: [.conflicts("x", ["x before;"]), .conflicts("x", [""])]),
        // The next writer has seen what it writes over.
        Case(
            description: "the same, of another program than has the other file open", kind: .interleaved,
            steps: "2 openTruncating t; 1 rename x t; 0 openTruncating t; 1 rename t x", changes: [],
            said: [.history("x", ["", "x before;"])],
            faults: [.conflicts("x", ["x before;"]), .conflicts("x", [""])]),
        Case(
            description: "a file goes back from a name over which it was renamed, with the conflicts of that",
            steps: "0 save t; 1 load t; 2 load t; 1 save t; 2 save t; 0 save x; 0 wait; 0 move x t; 0 move t x",
            changes: [.backFromOver],
            said: [.history("x", ["0.5;", "2.4;", "1.3;", "0.0;"]), .conflicts("x", ["1.3;", "2.4;"])],
            faults: [
                .conflicts("x", ["0.0;", "1.3;", "2.4;"]), .conflicts("x", ["0.5;", "1.3;", "2.4;"]),
                .history("x", ["2.4;", "1.3;", "0.0;"]), .history("x", ["2.4;", "0.5;", "1.3;", "0.0;"]),
            ]),
        // The document that had the name before comes back today, too.
        Case(
            description: "the same, of a document with two versions",
            steps: "0 save x; 0 save x; 0 save t; 0 wait; 0 move x t; 0 move t x",
            changes: [], said: [.history("x", ["0.1;", "0.0;"])],
            faults: [.history("x", ["0.1;", "0.2;", "0.0;"]), .history("x", ["0.1;", "0.0;", "0.2;"]),
                .history("x", ["0.1;", "0.2;"])]),
        Case(
            description: "a document comes with its conflicts to a name from which another one stays away",
            steps: "0 save y; 1 load y; 2 load y; 1 save y; 2 save y; 0 save x; 0 link x t; 0 move x z; 0 move y x",
            changes: [.hasOtherName],
            said: [.history("x", ["2.4;", "0.5;"]), .conflicts("x", []), .nameless([["2.4;", "1.3;", "0.0;"]])],
            faults: [
                .history("x", ["0.5;"]), .history("x", ["0.5;", "2.4;"]), .conflicts("x", ["0.0;"]),
                .conflicts("x", ["2.4;"]), .nameless([]), .nameless([["2.4;", "0.0;"]]),
            ]),
        Case(
            description: "one of several names is made anew, and the entry of another one",
            steps: "0 saveByRename x; 0 link x t; 0 save y; 3 delete x; 3 delete t; 2 move y x",
            changes: [.oneOfSeveral], said: [.history("x", ["0.2;"])],
            faults: [.history("x", []), .history("x", ["0.0;"]), .nothingDeleted, .deleted("t", ["0.0;", "0.0;"])]),
        Case(
            description: "a document with a conflict goes back to its name, and stays away from the other",
            steps: "0 save y; 1 load y; 2 load y; 1 save y; 2 save y; 3 move y x; 3 save x; 0 move x y; 0 save x",
            changes: [.hasReturned],
            said: [
                .history("x", ["0.8;", "3.6;", "2.4;", "1.3;", "0.0;"]), .conflicts("x", ["1.3;", "3.6;"]),
                .history("y", ["3.6;"]), .conflicts("y", []),
            ],
            faults: [
                .history("x", ["3.6;", "2.4;", "1.3;", "0.0;"]), .history("y", []), .conflicts("x", ["0.0;", "1.3;"]),
                .conflicts("x", ["0.8;"]), .conflicts("y", ["3.6;"]),
            ]),
        Case(
            description: "a document with a conflict comes to a name whose former document comes back",
            steps: "0 saveByOrdinaryRename t; 1 saveByRename x; 2 move x t; 3 renameAwayAndCreate t; 2 save t; "
                + "3 move t x",
            changes: [.cameBack],
            said: [.history("x", ["2.4;", "3.3;", "1.1;", "0.0;"]), .conflicts("x", ["3.3;"]), .nameless([])],
            faults: [
                .history("x", ["3.3;", "2.4;", "1.1;", "0.0;"]), .history("x", ["3.3;", "1.1;", "0.0;"]),
                .conflicts("x", ["0.0;"]), .conflicts("x", ["2.4;"]), .conflicts("x", ["1.1;", "3.3;"]),
            ]),
        Case(
            description: "a file goes back from over one that is written still", kind: .interleaved,
            steps: "0 openTruncating x; 0 write 0; 0 openTruncating x; 0 rename y x; 0 writeAtStart 0; 0 close 0; "
                + "0 rename x y",
            changes: [.backFromOver],
            said: [.history("y", ["0.4;", "y before;", "0.1;", "x before;"]), .nameless([])],
            faults: [
                .history("y", ["y before;", "0.4;", "0.1;", "x before;"]), .history("y", ["y before;", "0.1;"]),
                .history("y", ["0.4;", "0.1;", "x before;"]), .conflicts("y", ["0.4;"]),
            ]),
    ]
}
