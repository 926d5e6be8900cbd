// All worlds up to a small depth; LineageWorker, built for release, goes deeper.

import LineageWorlds
import Testing

@Suite("Every world that a few moves lead to")
struct EnumeratorTests {
    @Test("single system calls of two programs, with a kill after every step")
    func calls() async {
        let outcome = await Enumerator(rules: Rules(actors: 2), depth: 2).run()
        #expect(outcome.counterexample == nil, "\(outcome.counterexample?.description ?? "")")
        #expect(outcome.states >= 932)
    }

    @Test("whole saves and changes of names of one program, with a kill after every step")
    func wholeSaves() async {
        let outcome = await Enumerator(rules: Rules(actors: 1), depth: 3, isWhole: true).run()
        #expect(outcome.counterexample == nil, "\(outcome.counterexample?.description ?? "")")
        #expect(outcome.states >= 1133)
    }
}
