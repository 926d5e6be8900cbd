/// A way of saving `f`, as programs have it (saves.md).
public struct Way: Sendable, CustomStringConvertible {
    /// The programs.
    public var programs: String
    public var script: String
    /// What the deleted list shows after three saves, each followed by the removal of the backup if it is left.
    public var deleted: String
    /// The versions of `f` after three saves, newest first.
    public var listing: String

    public var description: String { programs }

    init(_ programs: String, _ script: String, listing: String = "d c b a", deleted: String = "") {
        self.programs = programs
        self.script = script
        self.listing = listing
        self.deleted = deleted
    }

    /// Saves three times, and looks.
    /// - Returns: what is not as it should be.
    public func problems() -> [String] {
        var play = Play()
        let document = play.document("f")
        for _ in 0..<3 {
            play.run("read f")
            play.run(script)
            if play.document("f~") != nil { play.run("rm f~; age") }
        }
        var problems = play.problems
        if play.document("f") != document { problems.append("f is another document") }
        if play.listing("f") != listing { problems.append("f has \(play.listing("f")), not \(listing)") }
        if play.conflicts("f") != "" { problems.append("f has the conflicts \(play.conflicts("f"))") }
        if play.deleted != deleted { problems.append("deleted is \(play.deleted), not \(deleted)") }
        return problems
    }

    /// Another program saves after this one has read, and before it saves: one conflict.
    public func conflictProblems() -> [String] {
        var play = Play()
        play.run("1: read f; 2: read f; 2: save f")
        play.run(script)
        let loser = play.conflicts("f")
        return play.problems + (loser == "b" ? [] : ["the conflicts are \(loser), not b"])
    }
}
