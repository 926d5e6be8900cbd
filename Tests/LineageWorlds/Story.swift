/// What a script leads to, as a line of a table.
public struct Story: Sendable, CustomStringConvertible {
    public var name: String
    /// What happens before documents are looked at for `same`.
    public var setup: String
    public var script: String
    /// | line | |
    /// |---|---|
    /// | `f: b a` | the contents of a name's versions, newest first; `-` for a free name |
    /// | `history f: b a` | the same with all that they go back to |
    /// | `conflicts f: b` | its conflict versions |
    /// | `parents f: b a` | what its current version goes back to |
    /// | `before b: a` | what the version with that content goes back to |
    /// | `content f: b` | what its file holds |
    /// | `deleted: f a`, `superseded: a`, `replaced: f a` | documents without a name |
    /// | `links: f`, `versions: b a` | names of several that were removed; all versions there are |
    /// | `n is f` | a name shows the document that the other one had after the setup |
    /// | `n is new` | it shows one that no name had |
    public var expected: [String]

    public var description: String { name }

    init(_ name: String, setup: String = "", _ script: String, _ expected: String...) {
        self.name = name
        self.setup = setup
        self.script = script
        self.expected = expected
    }

    /// - Returns: what is not as expected.
    public func problems() -> [String] {
        var play = Play()
        play.run(setup)
        let before = play
        play.run(script)
        return play.problems + expected.compactMap { holds($0, in: play, before: before) }
    }

    private func holds(_ line: String, in play: Play, before: Play) -> String? {
        let words = line.split(separator: " ")
        if words.count == 3, words[1] == "is" {
            let document = play.document(words[0])
            let isSo =
                words[2] == "new"
                ? document != nil && !Play.names.contains { before.document($0) == document }
                : document != nil && document == before.document(words[2])
            return isSo ? nil : "not so: \(line)"
        }
        guard let colon = line.firstIndex(of: ":") else { return "no such expectation: \(line)" }
        let (what, wanted) = (
            line[..<colon].split(separator: " "), line[line.index(after: colon)...].drop { $0 == " " }
        )
        let found: String
        switch (what.first, what.last) {
        case ("deleted", _): found = play.deleted
        case ("superseded", _): found = play.superseded
        case ("replaced", _): found = play.replaced
        case ("links", _): found = play.links
        case ("versions", _): found = play.versions
        case ("content", let name?): found = play.content(name)
        case ("history", let name?): found = play.history(name)
        case ("parents", let name?): found = play.parents(name)
        case ("before", let letters?): found = play.parents(of: letters)
        case ("conflicts", let name?): found = play.conflicts(name)
        case (_, let name?): found = play.listing(name)
        default: return "no such expectation: \(line)"
        }
        return found == wanted ? nil : "\(line[..<colon]): \(found), not \(wanted)"
    }
}
