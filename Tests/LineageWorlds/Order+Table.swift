extension Order {
    /// Orders in which `LiveContainer` once lost a save (`InterleavingTests`).
    public static let found = [
        "0 openForBoth x; 0 rename x y; 0 write",
        "0 openInPlace y; 0 openInPlace y; 0 write 1; 0 close 1; 0 rename y x; 0 write 0",
        "0 openForBoth y; 0 openInPlace y; 0 write; 0 close; 0 rename y x; 0 write",
        "0 openForBoth x; 0 write; 0 rename x y",
        "1 openToAppend y; 1 openInPlace y; 1 write 1; 1 rename y x; 1 write",
        "0 createNew t; 0 openTruncating x; 0 rename x y; 0 write; 1 rename y t; 0 rename t x",
        "0 createNew t; 0 openTruncating x; 0 rename x y; 1 rename y t; 0 rename t x",
        "0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 writeAtStart 1; 0 rename y t",
        "0 openTruncating x; 0 openTruncating x; 0 rename x y; 0 rename y t; 0 write 1; 0 createNew y",
        "1 openTruncating x; 1 openTruncating y; 1 rename x y; 0 rename y t; 1 write 1; 1 openTruncating y",
        "2 unlink x; 0 unlink y; 0 openTruncating x; 2 rename x y",
        "0 rename y t; 0 unlink t; 0 createNew t; 0 rename t y; 0 createNew t; 1 unlink x; 1 rename y t",
        "1 rename x t; 0 openTruncating x; 0 rename t y; 1 rename y t",
        "0 rename x t; 0 openToAppend t; 0 write; 1 openTruncating x; 1 openTruncating t",
        "0 openTruncating y; 0 openTruncating t; 0 writeAtStart; 0 close; 0 unlink t; 0 openTruncating x; "
            + "0 rename y t; 0 openToAppend t; 0 rename t y; 0 openToAppend y; 0 writeAtStart 1",
        "1 rename y t; 1 openTruncating y; 1 openTruncating x; 1 writeAtStart 1; 0 rename y t; 0 rename t x; "
            + "0 rename x t; 1 writeAtStart 1",
        "0 rename y t; 2 openForBoth x; 1 exchange x t; 2 openInPlace t; 2 writeAtStart 1",
        "0 openTruncating x; 0 openTruncating x; 0 writeAtStart 1; 0 truncate x; 0 write 1",
        "0 openTruncating x; 0 openTruncating x; 0 openTruncating t; 0 rename x t; 0 write 1; 0 close 1; "
            + "0 writeAtStart 1",
        "1 openTruncating t; 0 openTruncating t; 0 unlink t; 0 write; 0 openTruncating x; 1 openTruncating t; "
            + "0 close 1; 1 write 1",
        "0 createNew t; 0 openToAppend t; 0 close 0; 0 write 0; 0 close 0; 0 openInPlace t; 0 write 0; 0 rename t x; "
            + "0 writeAtStart 0; 0 openInPlace x",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 0 writeAtStart; 1 openInPlace x; 1 close",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openTruncating x; 1 write; 1 close; 0 writeAtStart",
        "0 openTruncating x; 0 write; 0 closeDuplicate; 1 openInPlace x; 1 write; 1 close; 1 release; 0 writeAtStart",
        "0 openTruncating t; 0 openTruncating t; 0 write 1; 0 rename t y; 0 close 1; 0 write 0",
        "1 openTruncating y; 1 rename x t; 1 openTruncating y; 1 write 0; 0 rename y t; 1 unlink t; 1 close 0; "
            + "1 writeAtStart 0",
        "0 rename y t; 0 rename x y; 0 openForBoth t; 0 write 0; 0 unlink t; 0 createNew t",
        "0 rename x y; 0 openTruncating x; 0 openTruncating x; 0 write 0; 0 rename x t; 0 unlink t; 0 close 1; "
            + "0 openTruncating t; 0 writeAtStart 1",
        "1 rename x y; 0 createNew t; 1 rename t x; 1 unlink x; 0 rename y t",
        "0 rename y t; 0 openTruncating y; 0 write 0; 0 rename t x; 0 unlink y; 0 rename x t; 0 close 0",
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 release 1; 0 release 1; 0 release 1; 0 write 0; 1 unlink t; 1 rename y t",
        "0 openTruncating x; 1 openTruncating x; 0 openTruncating t; 1 write 0; 1 rename x t; 0 close 0; "
            + "1 openInPlace y; 0 write 0; 1 unlink t; 1 close 1; 0 write 0",
    ]

    /// Orders in which one rule of `Lineage` alone keeps a save.
    public static let ours = [
        // A handle goes on with its own version, and another writes over both.
        "0 createNew t; 0 write; 1 openInPlace t; 0 rename t x; 0 writeAtStart; 1 writeAtStart",
        // The same, and its name is taken away, or it is closed by another.
        "0 createNew t; 0 write; 0 rename t x; 0 writeAtStart; 1 unlink x",
        "0 createNew t; 0 write; 1 openInPlace t; 0 rename t x; 0 writeAtStart; 1 write; 1 close; 0 close",
        "0 createNew t; 0 write; 1 openToAppend t; 0 rename t x; 0 writeAtStart; 1 close; 1 release; 0 writeAtStart",
        // What a rename has saved is whole, and its handle goes on.
        "0 createNew t; 1 openInPlace t; 0 write; 0 rename t x; 1 write; 1 close; 0 writeAtStart; 0 close",
        "0 createNew t; 0 write; 0 rename t x; 1 openToAppend x; 0 writeAtStart; 1 write; 1 close; 0 close",
        "0 openToAppend x; 0 write; 1 rename x y; 0 write; 1 rename y t; 0 write",
    ]
}
