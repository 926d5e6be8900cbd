// 10,000 operations by five programs and their children, one after the other in random order, against a reference.

import Foundation
import Support
import Testing

@Suite(.serialized) struct RandomRules {
    private static let length = 50
    /// A merge that takes 2 s is given up, which a busy machine may bring about.
    private static let mergeTime = Duration.milliseconds(1900)

    /// An episode in which product and reference differ.
    private struct Fault {
        var operations: [RuleOperation]
        var problems: [String]
        var tookTooLong = false
    }

    @Test("keep: random operations of five process trees agree with a model of the rules")
    func keep() throws { try run(.keep, RuleModel.self, operations: Workplace.count(10_000)) }

    @Test("merge: the same, with edits that merge and edits that do not")
    func merge() throws { try run(.merge, RuleModel.self, operations: Workplace.count(3_000)) }

    @Test("refuse: the same, with saves that are refused")
    func refuse() throws { try run(.refuse, RuleModel.self, operations: Workplace.count(3_000)) }

    @Test("a mount of the engine agrees with the rules themselves", arguments: [RuleSetting.keep, .merge, .refuse])
    func engine(_ setting: RuleSetting) throws {
        let count = Workplace.count(setting == .keep ? 10_000 : 3_000)
        try run(setting, RuleWorld.self, operations: count, environment: ["VERSIONSFS_ENGINE": "1"])
    }

    /// One mount; every episode of fifty operations has a directory of its own, so that all of it happens within the
    /// shortest window of the rules, and a fault has a short prefix.
    private func run<Reference: RuleReference>(
        _ setting: RuleSetting, _ type: Reference.Type, operations: Int, environment: [String: String] = [:]
    ) throws {
        let given = ProcessInfo.processInfo.environment["VERSIONSFS_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0 ... .max)
        let episodes = max(1, operations / Self.length)
        print(
            "RandomRules: stale-writes \(setting.rawValue), seed \(seed), \(episodes) times \(Self.length) operations")
        var files: [String: String] = [:]
        // As many again for playing a failed episode a second time, step by step.
        for episode in 0...episodes {
            for name in RuleGenerator.adopted { files["e\(episode)/\(name)"] = RuleGenerator.firstText(name) }
        }
        let seconds = Workplace.isFull ? 900.0 : 180
        try withContainer(
            named: "rules", files: files, environment: environment, settings: ["stale-writes": setting.rawValue],
            seconds: seconds, level: .versioned
        ) { container in
            let problems = try playAll(setting, type, in: container, episodes: episodes, seed: seed)
            return problems.isEmpty ? try container.checkAtRest() : problems
        }
    }

    private func playAll<Reference: RuleReference>(
        _ setting: RuleSetting, _ type: Reference.Type, in container: TestContainer, episodes: Int, seed: UInt64
    ) throws -> [String] {
        let player = try RulePlayer(in: container.path)
        let socket = try ControlSocket(of: container)
        var givenUp = 0
        for episode in 0..<episodes {
            var generator = RuleGenerator(setting, seed: seed &+ UInt64(episode))
            let comparison = RuleComparison(container: container, socket: socket, directory: "e\(episode)")
            let fault = try play(setting, type, player, comparison, generator: &generator)
            guard let fault else { continue }
            if fault.tookTooLong {
                givenUp += 1
                continue
            }
            let again = RuleComparison(container: container, socket: socket, directory: "e\(episodes)")
            let prefix = try shortest(setting, type, player, again, fault.operations) ?? """
                \(Self.text(fault.operations[...]))
                \(fault.problems.joined(separator: "\n"))
                The second time all agreed, step by step: it depends on time.
                """
            return ["stale-writes \(setting.rawValue), seed \(seed), episode \(episode):\n" + prefix]
        }
        return givenUp > episodes / 3 ? ["merging took too long in \(givenUp) of \(episodes) episodes"] : []
    }

    private func fresh<Reference: RuleReference>(_ setting: RuleSetting) -> Reference {
        var reference = Reference(setting)
        for name in RuleGenerator.adopted { reference.adopt(name, RuleGenerator.firstText(name)) }
        return reference
    }

    /// Plays an episode and compares at its end.
    /// - Returns: its operations and what differs, if anything does.
    private func play<Reference: RuleReference>(
        _ setting: RuleSetting, _ type: Reference.Type, _ player: RulePlayer, _ comparison: RuleComparison,
        generator: inout RuleGenerator
    ) throws -> Fault? {
        var reference: Reference = fresh(setting)
        try player.begin(in: comparison.directory, &reference)
        var operations: [RuleOperation] = []
        var slowest = Duration.zero
        for _ in 0..<Self.length {
            let operation = generator.next(reference)
            operations.append(operation)
            let expected = reference.apply(operation)
            do {
                let began = ContinuousClock.now
                let outcome = try player.perform(operation)
                slowest = max(slowest, .now - began)
                if outcome != expected {
                    return Fault(operations: operations, problems: ["it came to \(outcome), not \(expected)"])
                }
            } catch {
                return Fault(operations: operations, problems: ["\(error)"])
            }
        }
        let problems = try comparison.problems(reference, player.pids)
        if problems.isEmpty { return nil }
        return Fault(
            operations: operations, problems: problems, tookTooLong: setting == .merge && slowest > Self.mergeTime)
    }

    /// The same operations once more, compared after each: what was done until the first difference.
    private func shortest<Reference: RuleReference>(
        _ setting: RuleSetting, _ type: Reference.Type, _ player: RulePlayer, _ comparison: RuleComparison,
        _ operations: [RuleOperation]
    ) throws -> String? {
        var reference: Reference = fresh(setting)
        try player.begin(in: comparison.directory, &reference)
        for (index, operation) in operations.enumerated() {
            let expected = reference.apply(operation)
            let outcome: [RuleOutcome]
            do {
                outcome = try player.perform(operation)
            } catch {
                return Self.text(operations[...index]) + "\n\(error)"
            }
            var problems = try comparison.problems(reference, player.pids)
            if outcome != expected { problems.insert("came to \(outcome), not \(expected)", at: 0) }
            if !problems.isEmpty {
                let pids = player.pids.sorted { $0.key < $1.key }.map { "\($0.key) is \($0.value)" }
                return Self.text(operations[...index]) + "\n" + problems.joined(separator: "\n")
                    + "\n(\(pids.joined(separator: ", ")))"
            }
        }
        return nil
    }

    private static func text(_ operations: ArraySlice<RuleOperation>) -> String {
        operations.map { "  " + $0.description }.joined(separator: "\n")
    }
}
