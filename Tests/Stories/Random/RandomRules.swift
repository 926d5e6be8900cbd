// 10,000 operations by five programs and their children, one after the other in random order, against the model.

import Foundation
import Support
import Testing

@Suite(.serialized) struct RandomRules {
    private static let length = 50
    /// A merge that takes 2 s is given up, which a busy machine may bring about.
    private static let mergeTime = Duration.milliseconds(1900)

    /// An episode in which product and model differ.
    private struct Fault {
        var operations: [RuleOperation]
        var problems: [String]
        var tookTooLong = false
    }

    @Test("keep: random operations of five process trees agree with a model of the rules")
    func keep() throws { try run(.keep, operations: Workplace.count(10_000)) }

    @Test("merge: the same, with edits that merge and edits that do not")
    func merge() throws { try run(.merge, operations: Workplace.count(3_000)) }

    @Test("refuse: the same, with saves that are refused")
    func refuse() throws { try run(.refuse, operations: Workplace.count(3_000)) }

    /// One mount; every episode of fifty operations has a directory of its own, so that all of it happens within the
    /// shortest window of the rules, and a fault has a short prefix.
    private func run(_ setting: RuleModel.StaleWrites, operations: Int) throws {
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
            named: "rules", files: files, settings: ["stale-writes": setting.rawValue], seconds: seconds,
            level: .versioned
        ) { container in
            let problems = try playAll(setting, in: container, episodes: episodes, seed: seed)
            return try problems.isEmpty ? container.checkAtRest() : problems
        }
    }

    private func playAll(
        _ setting: RuleModel.StaleWrites, in container: TestContainer, episodes: Int, seed: UInt64
    ) throws -> [String] {
        let player = try RulePlayer(in: container.path)
        let socket = try ControlSocket(of: container)
        var givenUp = 0
        for episode in 0..<episodes {
            var generator = RuleGenerator(setting, seed: seed &+ UInt64(episode))
            let comparison = RuleComparison(container: container, socket: socket, directory: "e\(episode)")
            let fault = try play(setting, player, comparison, generator: &generator)
            guard let fault else { continue }
            if fault.tookTooLong {
                givenUp += 1
                continue
            }
            let again = RuleComparison(container: container, socket: socket, directory: "e\(episodes)")
            let prefix = try shortest(setting, player, again, fault.operations) ?? """
                \(Self.text(fault.operations[...]))
                \(fault.problems.joined(separator: "\n"))
                The second time all agreed, step by step: it depends on time.
                """
            return ["stale-writes \(setting.rawValue), seed \(seed), episode \(episode):\n" + prefix]
        }
        return givenUp > episodes / 3 ? ["merging took too long in \(givenUp) of \(episodes) episodes"] : []
    }

    private func fresh(_ setting: RuleModel.StaleWrites) -> RuleModel {
        var model = RuleModel(setting)
        for name in RuleGenerator.adopted { model.adopt(name, RuleGenerator.firstText(name)) }
        return model
    }

    /// Plays an episode and compares at its end.
    /// - Returns: its operations and what differs, if anything does.
    private func play(
        _ setting: RuleModel.StaleWrites, _ player: RulePlayer, _ comparison: RuleComparison,
        generator: inout RuleGenerator
    ) throws -> Fault? {
        var model = fresh(setting)
        try player.begin(in: comparison.directory, &model)
        var operations: [RuleOperation] = []
        var slowest = Duration.zero
        for _ in 0..<Self.length {
            let operation = generator.next(model)
            operations.append(operation)
            let expected = model.apply(operation)
            do {
                let began = ContinuousClock.now
                let outcome = try player.perform(operation)
                slowest = max(slowest, .now - began)
                if outcome != expected {
                    return Fault(operations: operations, problems: ["it came to \(outcome), the model has \(expected)"])
                }
            } catch {
                return Fault(operations: operations, problems: ["\(error)"])
            }
        }
        let problems = try comparison.problems(model, player.pids)
        if problems.isEmpty { return nil }
        return Fault(
            operations: operations, problems: problems, tookTooLong: setting == .merge && slowest > Self.mergeTime)
    }

    /// The same operations once more, compared after each: what was done until the first difference.
    private func shortest(
        _ setting: RuleModel.StaleWrites, _ player: RulePlayer, _ comparison: RuleComparison,
        _ operations: [RuleOperation]
    ) throws -> String? {
        var model = fresh(setting)
        try player.begin(in: comparison.directory, &model)
        for (index, operation) in operations.enumerated() {
            let expected = model.apply(operation)
            let outcome: [RuleModel.Outcome]
            do {
                outcome = try player.perform(operation)
            } catch {
                return Self.text(operations[...index]) + "\n\(error)"
            }
            var problems = try comparison.problems(model, player.pids)
            if outcome != expected { problems.insert("came to \(outcome), the model has \(expected)", at: 0) }
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
