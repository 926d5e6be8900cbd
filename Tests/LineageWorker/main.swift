// Visits the worlds of Lineage, built for release:
//
//     LineageWorker calls DEPTH ACTORS [STATES]   single system calls; fewer states than that are a failure
//     LineageWorker whole DEPTH ACTORS [STATES]   whole saves and changes of names
//     LineageWorker random ROUNDS LENGTH SEED     random moves of every kind, with power cuts
//     LineageWorker log ROUNDS LENGTH SEED        the same, each plan once more over a log of facts
//     LineageWorker seconds COUNT LENGTH SEED     the same for so long, on two threads
//     LineageWorker tables                        how programs save, and the stories
//
// The exit status is 1 where something does not hold.

import Glibc
import LineageWorlds

func enumerate(_ numbers: [UInt64], isWhole: Bool) async -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    let rules = Rules(actors: UInt32(clamping: numbers[1]), cuts: true)
    let enumerator = Enumerator(rules: rules, depth: Int(clamping: numbers[0]), isWhole: isWhole)
    let outcome = await enumerator.run { level, outcome in
        let (new, states, transitions) = (outcome.levels.last ?? 0, outcome.states, outcome.transitions)
        print("depth \(level): \(new) new, \(states) states, \(transitions) transitions, \(clock.now - start)")
        fflush(nil)
    }
    if let counterexample = outcome.counterexample {
        print(counterexample)
        return false
    }
    guard numbers.count < 3 || outcome.states >= numbers[2] else {
        print("\(outcome.states) states are fewer than \(numbers[2])")
        return false
    }
    return true
}

func walk(_ rounds: UInt64, _ length: UInt64, _ seed: UInt64, hasLog: Bool = false) -> (steps: Int, isRight: Bool) {
    let outcome = RandomWalk(rounds: rounds, length: Int(clamping: length), seed: seed, hasLog: hasLog).run()
    if let counterexample = outcome.counterexample { print("seed \(outcome.seed ?? 0)\n\(counterexample)") }
    return (outcome.steps, outcome.counterexample == nil)
}

/// Walks until the time is over. Each thread has every other thousand of rounds.
func walk(seconds: UInt64, _ length: UInt64, _ seed: UInt64) async -> Bool {
    let end = ContinuousClock.now + .seconds(Int(clamping: seconds))
    print("random moves: VERSIONSFS_SEED=\(seed)")
    fflush(nil)
    return await withTaskGroup(of: (steps: Int, isRight: Bool).self) { group in
        for thread in 0..<UInt64(2) {
            group.addTask {
                var (steps, round) = (0, seed &+ thread * 1000)
                while ContinuousClock.now < end {
                    let walked = walk(1000, length, round)
                    steps += walked.steps
                    guard walked.isRight else { return (steps, false) }
                    round &+= 2000
                }
                return (steps, true)
            }
        }
        var (steps, isRight) = (0, true)
        for await walked in group {
            steps += walked.steps
            isRight = isRight && walked.isRight
        }
        print("\(steps) steps")
        return isRight
    }
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
switch (arguments.first, arguments.dropFirst().compactMap { UInt64($0) }) {
case ("calls", let numbers) where numbers.count == 2 || numbers.count == 3:
    exit(await enumerate(Array(numbers), isWhole: false) ? 0 : 1)
case ("whole", let numbers) where numbers.count == 2 || numbers.count == 3:
    exit(await enumerate(Array(numbers), isWhole: true) ? 0 : 1)
case ("random", let numbers) where numbers.count == 3, ("log", let numbers) where numbers.count == 3:
    let walked = walk(numbers[0], numbers[1], numbers[2], hasLog: arguments.first == "log")
    print("\(walked.steps) steps")
    exit(walked.isRight ? 0 : 1)
case ("seconds", let numbers) where numbers.count == 3:
    exit(await walk(seconds: numbers[0], numbers[1], numbers[2]) ? 0 : 1)
case ("tables", _):
    exit(tables() ? 0 : 1)
default:
    print("usage: LineageWorker calls DEPTH ACTORS [STATES] | whole DEPTH ACTORS [STATES]")
    print("                   | random ROUNDS LENGTH SEED | log ROUNDS LENGTH SEED | seconds COUNT LENGTH SEED")
    print("                   | tables")
    exit(64)
}
