// Visits the worlds of Lineage, built for release:
//
//     LineageWorker calls DEPTH ACTORS    single system calls
//     LineageWorker whole DEPTH ACTORS    whole saves and changes of names
//     LineageWorker random ROUNDS LENGTH SEED   random moves of every kind, with power cuts
//     LineageWorker tables                how programs save, and the stories
//
// The exit status is 1 where something does not hold.

import Glibc
import LineageWorlds

func enumerate(_ depth: Int, _ actors: UInt32, isWhole: Bool) async -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let outcome = await Enumerator(rules: Rules(actors: actors), depth: depth, isWhole: isWhole).run { level, outcome in
        let (new, states, transitions) = (outcome.levels.last ?? 0, outcome.states, outcome.transitions)
        print("depth \(level): \(new) new, \(states) states, \(transitions) transitions, \(clock.now - start)")
    }
    if let counterexample = outcome.counterexample { print(counterexample) }
    return outcome.counterexample == nil
}

func tables() -> Bool {
    var failed = false
    func show(_ name: String, _ problems: [String]) {
        for problem in problems { print("\(name): \(problem)") }
        if !problems.isEmpty { failed = true }
    }
    for way in Way.all {
        show(way.programs, way.problems())
        if way.conflicts { show("conflict by \(way.programs)", way.conflictProblems()) }
    }
    for story in Story.all { show(story.name, story.problems()) }
    for order in Order.found + Order.ours {
        for isUnseen in [false, true] { show(order, Order.problems(order, isUnseen: isUnseen)) }
    }
    return !failed
}

let arguments = CommandLine.arguments.dropFirst()
switch (arguments.first, arguments.dropFirst().compactMap { UInt32($0) }) {
case ("calls", let numbers) where numbers.count == 2:
    exit(await enumerate(Int(numbers[0]), numbers[1], isWhole: false) ? 0 : 1)
case ("whole", let numbers) where numbers.count == 2:
    exit(await enumerate(Int(numbers[0]), numbers[1], isWhole: true) ? 0 : 1)
case ("random", let numbers) where numbers.count == 3:
    let walk = RandomWalk(rounds: UInt64(numbers[0]), length: Int(numbers[1]), seed: UInt64(numbers[2]))
    let outcome = walk.run()
    print("\(outcome.steps) steps")
    if let counterexample = outcome.counterexample { print("seed \(outcome.seed ?? 0)\n\(counterexample)") }
    exit(outcome.counterexample == nil ? 0 : 1)
case ("tables", _):
    exit(tables() ? 0 : 1)
default:
    print("usage: LineageWorker calls DEPTH ACTORS | whole DEPTH ACTORS | random ROUNDS LENGTH SEED | tables")
    exit(64)
}
