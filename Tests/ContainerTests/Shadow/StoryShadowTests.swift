// The stories of DESIGN 6.1 as requests, beside `Lineage`: both have the conflicts that the story has.
//
// The suites of `Stories` play them over real programs and terminals. Stories that depend on settings are only there.

import Glibc
import LineageShadow
import Support
import Testing

@testable import Container

/// A story that ends after some steps, with these conflicts of `x`.
struct ToldStory: CustomStringConvertible {
    /// The test of `Stories` that has it.
    var description: String
    var steps: String
    var conflicts: [String]
    /// By what both differ on the way.
    var change: ListedChange?

    init(_ test: String, _ steps: String, conflicts: [String] = [], _ change: ListedChange? = nil) {
        (description, self.steps, self.conflicts, self.change) = (test, steps, conflicts, change)
    }
}

@Suite(.serialized) struct StoryShadowTests {
    /// By programs that are strangers to one another.
    static let ofStrangers = [
        ToldStory(
            "ConflictStories.twoEditors, auto or no",
            "0 save x; 1 load x; 2 load x; 1 renameAwayAndCreate x; 2 renameAwayAndCreate x", conflicts: ["1.3;"]),
        ToldStory(
            "ConflictStories.twoEditors, yes or nowritebackup",
            "0 save x; 1 load x; 2 load x; 1 save x; 2 save x", conflicts: ["1.3;"]),
        ToldStory(
            "ConflictStories.vimAgainstAgent",
            "0 save x; 1 load x; 3 load x; 3 saveByRename x; 1 renameAwayAndCreate x", conflicts: ["3.3;"]),
        ToldStory(
            "ConflictStories.twoPanes", "0 save x; 1 load x; 2 load x; 2 save x; 1 save x", conflicts: ["2.3;"]),
        ToldStory(
            "ConflictStories.stale", "0 save x; 1 load x; 3 load x; 1 save x; 3 saveByOrdinaryRename x",
            conflicts: ["1.3;"]),
        ToldStory(
            "ConflictStories.revert",
            "0 save x one; 0 save x TWO; 1 load x; 2 load x; 2 save x one; 1 save x line", conflicts: ["one"]),
        ToldStory(
            "ConflictStories.revert, by rename",
            "0 save x one; 0 save x TWO; 1 load x; 2 load x; 2 saveByRename x one; 1 saveByRename x line",
            conflicts: ["one"]),
        ToldStory(
            "ConflictStories.sameLoser",
            "3 save x; 0 load x; 1 load x; 0 save x A; 1 save x B; 2 load x; 2 save x A; 1 save x C",
            conflicts: ["A"]),
        ToldStory(
            "PeacefulStories.undoneEdit",
            "0 save x text; 2 load x; 1 load x; 1 save x edit; 1 save x text; 2 save x line"),
        ToldStory(
            "PeacefulStories.theOldContentAgain",
            "0 save x old; 0 save y; 2 load x; 1 move x y; 3 save x new; 1 save x old; 2 save x newer",
            .cameBack),
        ToldStory(
            "PeacefulStories.sameContent",
            "0 save x; 1 load x; 2 load x; 1 save x same; 2 saveByOrdinaryRename x same"),
        ToldStory(
            "GoingBackStories.withoutAnID",
            "0 save x; 1 load x; 1 save x; 1 save x; 0 restore x; 2 load x; 2 save x; 2 save x; 0 restore x"),
    ]

    /// By three programs that have a child each (1, 4, 7), which has one, too (2, 5, 8).
    static let ofTrees = [
        ToldStory(
            "ConflictStories.agentWithChildren", "6 save x; 1 load x; 3 load x; 3 save x; 2 save x",
            conflicts: ["3.3;"]),
        ToldStory(
            "PeacefulStories.oneShell",
            "6 save x; 1 load x; 1 saveByRename x; 0 save x; 1 load x; 0 append x; 1 saveByRename x; 0 save x"),
        ToldStory(
            "PeacefulStories.pullAndCheckout",
            "6 save x; 1 load x; 4 unlinkAndCreate x; 1 load x; 1 unlinkAndCreate x; 1 unlinkAndCreate x"),
        ToldStory(
            "PeacefulStories.preforkServer",
            "6 save x; 1 load x; 1 save x; 2 load x; 2 save x; 1 load x; 1 save x; 2 load x; 2 save x"),
        ToldStory(
            "PeacefulStories.formatter",
            "6 save x; 0 load x; 0 save x; 1 load x; 1 saveByRename x; 0 load x; 0 saveByRename x; 1 load x; "
                + "1 saveByRename x; 0 save x"),
        ToldStory(
            "PeacefulStories.vimWithFormatter",
            "6 save x; 0 load x; 0 renameAwayAndCreate x; 1 load x; 1 saveByRename x; 0 load x; "
                + "0 renameAwayAndCreate x"),
    ]

    /// By programs in terminals; each begins with its tree of processes.
    static let ofTerminals: [(tree: [TreeProcess], story: ToldStory)] = {
        // An agent in a shell; an IDE in another, with a terminal of its own in which rg runs; a third shell.
        let ide: [TreeProcess] = [
            .shell, .child(of: 0), .shell, .child(of: 2), TreeProcess(parent: 3, leadsTerminal: true), .child(of: 4),
            .shell,
        ]
        let makes = TwoMakes(rounds: 4)
        return [
            (
                ide,
                ToldStory(
                    "ConflictStories.ideWithTerminal",
                    "6 save x; 3 load x; 1 load x; 1 saveByRename x; 5 load x; 3 save x", conflicts: ["1.3;"])
            ),
            (
                [.shell, .child(of: 0), .child(of: 0), .shell],
                ToldStory(
                    "ConflictStories.siblings", "3 save x; 1 load x; 2 load x; 1 save x; 2 save x",
                    conflicts: ["1.3;"])
            ),
            (makes.processes, ToldStory("PeacefulStories.makeInTwoTerminals", makes.steps, .cameBack)),
        ]
    }()

    /// By jobs of cron, at which lineages end.
    static let cronJobs = ToldStory(
        "PeacefulStories.cronJobs",
        "6 save x; 1 load x; 1 saveByRename x; 2 load x; 2 save x; 3 save x; 2 load x; 2 save x; 4 save x.new; "
            + "5 move x.new x")

    /// One system call at a time: the file is open to several at once.
    static let ofSharedFiles = [
        ToldStory(
            "PeacefulStories.appending",
            "0 openToAppend x; 1 openToAppend x; 0 write; 1 write; 0 write; 0 close; 1 close"),
        ToldStory(
            "SharedFileStories.replacedMeanwhile",
            "0 openTruncating x; 0 write; 1 openTruncating x; 1 write; 1 close; 0 write; 0 close",
            conflicts: ["1.3;"]),
        ToldStory(
            "SharedFileStories.openInPlace",
            "0 openForBoth x; 1 openTruncating x; 1 write; 1 close; 1 release; 0 close"),
        ToldStory(
            "SharedFileStories.openInPlace, written",
            "0 openForBoth x; 1 openTruncating x; 1 write; 1 close; 1 release; 0 writeAtStart; 0 close"),
        ToldStory(
            "SharedFileStories.staleBeside",
            "0 openForBoth x; 1 load x; 2 load x; 1 openTruncating x; 1 write; 1 close; 2 openTruncating x; 2 write; "
                + "2 close; 0 close",
            conflicts: ["1.4;"]),
        ToldStory(
            "SharedFileStories.renamedAndRewritten",
            "0 createNew t; 0 write; 0 close; 1 openTruncating x; 0 rename t x; 1 write; 1 close"),
    ]

    @Test("of strangers", arguments: ofStrangers, [true, false])
    func strangers(_ story: ToldStory, isPassing: Bool) throws {
        try withPeople { try play(story, $0, isPassing) }
    }

    @Test("of programs with children", arguments: ofTrees, [true, false])
    func trees(_ story: ToldStory, isPassing: Bool) throws {
        try withTrees { try play(story, $0, isPassing) }
    }

    @Test("of programs in terminals", arguments: ofTerminals.indices, [true, false])
    func terminals(_ index: Int, isPassing: Bool) throws {
        let (tree, story) = Self.ofTerminals[index]
        try withProcesses(tree) { try play(story, $0, isPassing) }
    }

    @Test("of cron", arguments: [true, false])
    func cron(isPassing: Bool) throws {
        try withCron { try play(Self.cronJobs, $0, isPassing) }
    }

    private func play(_ story: ToldStory, _ people: [pid_t], _ isPassing: Bool) throws {
        let play = try ShadowPlay(people, isPassing: isPassing)
        var listed: Set<ListedChange> = []
        for step in ShadowStep.steps(story.steps) {
            switch try play.outcome(of: [step]) {
            case .same: continue
            case .listed(let changes): listed.formUnion(changes)
            case let outcome: Issue.record("\((outcome.texts ?? []).joined(separator: "\n"))")
            }
        }
        #expect(listed == Set(story.change.map { [$0] } ?? []))
        #expect(try play.tree.answer.names["x"]?.conflicts == story.conflicts)
        #expect(play.shadow.answer.names["x"]?.conflicts == story.conflicts)
        for (name, today) in try play.tree.answer.names where name != "x" {
            #expect(today.conflicts == [], "\(name) has conflicts")
            #expect(play.shadow.answer.names[name]?.conflicts == [], "\(name) has conflicts by Lineage")
        }
    }

    @Test("of files that several have open", arguments: ofSharedFiles, [true, false])
    func sharedFiles(_ story: ToldStory, isPassing: Bool) throws {
        try withPeople { people in
            let play = try InterleavedPlay(people, isPassing: isPassing, isShadowed: true)
            #expect(try play.problems(after: InterleavedStep.steps(story.steps)).isEmpty)
            let shadow = try #require(play.shadow)
            let differences = shadow.differences(from: try play.tree.answer)
            #expect(differences.isEmpty, "\(differences.map { "\($0)" }.joined(separator: "\n"))")
            #expect(shadow.answer.names["x"]?.conflicts == story.conflicts)
        }
    }
}
